package backendtest

import (
	"bytes"
	"errors"
	"math"
	"testing"

	"github.com/walbridge/walbridge/backends"
)

func readRange(t testing.TB, b backends.Bucket) {
	const name, size = "read/a", 1000
	want := pattern(name, size)
	put(t, b, name, want)
	for _, r := range []struct {
		off int64
		n   int
		err error
	}{
		{0, size, nil},
		{0, 1, nil},
		{1, size - 1, nil},
		{499, 2, nil},
		{size - 1, 1, nil},
		{0, 0, nil},
		{500, 0, nil},
		{size, 0, nil}, // an empty range may lie at the end
		{size, 1, backends.ErrRange},
		{size - 1, 2, backends.ErrRange},
		{0, size + 1, backends.ErrRange},
		{size + 1, 0, backends.ErrRange},
		{size + 1, 1, backends.ErrRange},
		{1 << 40, 1, backends.ErrRange},
		{math.MaxInt64, 1, backends.ErrRange},
		{math.MaxInt64 - 5, 10, backends.ErrRange},
		{math.MaxInt64, 0, backends.ErrRange},
		{-1, 1, backends.ErrRange},
		{-1, 0, backends.ErrRange},
		{-1, size, backends.ErrRange},
		{math.MinInt64, 1, backends.ErrRange},
	} {
		p := make([]byte, r.n)
		err := b.ReadAt(deadline(t), name, p, r.off)
		if !errors.Is(err, r.err) {
			t.Errorf("ReadAt(%s of %d bytes, %d bytes, %d): error %v, want %v", name, size, r.n, r.off, err, r.err)
		}
		if err == nil && r.err == nil && !bytes.Equal(p, want[r.off:r.off+int64(r.n)]) {
			t.Errorf("ReadAt(%s, %d bytes, %d) read other bytes", name, r.n, r.off)
		}
	}
}

func readNotFound(t testing.TB, b backends.Bucket) {
	wantMissing(t, b, "read/a") // in a bucket with nothing in it
	put(t, b, "read/a/b", pattern("b", 10))
	wantMissing(t, b, "read/a") // a directory
	wantMissing(t, b, "read/a/c")
	wantMissing(t, b, "read/a/b/c") // below an object
	wantMissing(t, b, "rea")
}

// A ReadAt leaves alone what lies around p.
func readConfined(t testing.TB, b backends.Bucket) {
	const name, before, n, after = "read/a", 10, 100, 300
	put(t, b, name, pattern(name, 1000))
	frame := pattern("frame", before+n+after)
	want := bytes.Clone(frame)
	copy(want[before:], pattern(name, 1000)[50:50+n])
	if err := b.ReadAt(deadline(t), name, frame[before:before+n], 50); err != nil {
		t.Fatalf("ReadAt(%s): %v", name, err)
	}
	if !bytes.Equal(frame, want) {
		t.Errorf("ReadAt(%s) into the middle of a buffer: the buffer is not what it should be", name)
	}
}
