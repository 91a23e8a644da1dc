package fetch_test

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/walbridge/walbridge/backends"
	"github.com/walbridge/walbridge/server/fetch"
)

func TestRange(t *testing.T) {
	for _, tc := range []struct {
		length, start, end int64
		off, n             int64
		err                error
	}{
		{100, 0, 99, 0, 100, nil},
		{100, 0, 0, 0, 1, nil},
		{100, 99, 99, 99, 1, nil},
		{100, 10, 19, 10, 10, nil},
		{100, 10, 100, 10, 90, nil}, // Clamped.
		{100, 0, math.MaxInt64, 0, 100, nil},
		{math.MaxUint32, 1, math.MaxInt64, 1, math.MaxUint32 - 1, nil},
		{100, 100, 100, 0, 0, backends.ErrRange},
		{100, math.MaxInt64, math.MaxInt64, 0, 0, backends.ErrRange},
		{100, 10, 9, 0, 0, fetch.ErrInvalid},
		{100, 200, 150, 0, 0, fetch.ErrInvalid},
		{100, -1, 10, 0, 0, fetch.ErrInvalid},
		{100, 0, -1, 0, 0, fetch.ErrInvalid},
		{100, math.MinInt64, math.MaxInt64, 0, 0, fetch.ErrInvalid},
	} {
		off, n, err := fetch.Range(tc.length, tc.start, tc.end)
		if off != tc.off || n != tc.n || !errors.Is(err, tc.err) || (err == nil) != (tc.err == nil) {
			t.Errorf("Range(%d, %d, %d) = %d, %d, %v; want %d, %d, %v",
				tc.length, tc.start, tc.end, off, n, err, tc.off, tc.n, tc.err)
		}
	}
}

// A range may lie anywhere: what Range lets through is within the entry.
func FuzzRange(f *testing.F) {
	f.Add(uint32(100), int64(0), int64(99))
	f.Add(uint32(1), int64(math.MaxInt64), int64(math.MinInt64))
	f.Fuzz(func(t *testing.T, length uint32, start, end int64) {
		off, n, err := fetch.Range(int64(length), start, end)
		if err != nil {
			return
		}
		if off != start || n < 1 || off < 0 || off+n > int64(length) || off+n-1 > end {
			t.Errorf("Range(%d, %d, %d) = %d, %d", length, start, end, off, n)
		}
	})
}

func TestSlice(t *testing.T) {
	_, f := newStore().add(t, 10, 300)
	entry := func(i int) fetch.EntryRange {
		e := f.Index.Entries[i]
		return fetch.EntryRange{Position: e.Position, Length: e.Length, End: math.MaxInt64}
	}
	for i := range 10 {
		r := entry(i)
		r.Start, r.End = 290, 298
		if got, err := fetch.Slice(f, r); err != nil || string(got) != fmt.Sprintf("%09d", i/10) {
			t.Errorf("entry %d: %q, %v", i, got, err)
		}
		r.Start, r.End = 299, 1000
		got, err := fetch.Slice(f, r)
		if err != nil || string(got) != fmt.Sprint(i) {
			t.Errorf("entry %d: %q, %v", i, got, err)
		}
		if cap(got) != len(got) {
			t.Errorf("entry %d: an append would write into the entry behind it", i)
		}
	}
	for what, change := range map[string]func(*fetch.EntryRange){
		"position of none":     func(r *fetch.EntryRange) { r.Position++ },
		"position 0":           func(r *fetch.EntryRange) { r.Position = 0 },
		"position behind all":  func(r *fetch.EntryRange) { r.Position = math.MaxUint32 },
		"another length":       func(r *fetch.EntryRange) { r.Length++ },
		"another topic":        func(r *fetch.EntryRange) { r.TopicID, r.Partition = []byte("x"), 3 },
		"another partition":    func(r *fetch.EntryRange) { r.TopicID = f.Index.Entries[3].TopicId },
		"end before the start": func(r *fetch.EntryRange) { r.Start, r.End = 2, 1 },
	} {
		r := entry(3)
		change(&r)
		if got, err := fetch.Slice(f, r); !errors.Is(err, fetch.ErrInvalid) {
			t.Errorf("%s: %q, %v; want ErrInvalid", what, got, err)
		}
	}
	r := entry(3)
	r.Start = 300
	if _, err := fetch.Slice(f, r); !errors.Is(err, backends.ErrRange) {
		t.Errorf("start behind the end: %v, want ErrRange", err)
	}
}
