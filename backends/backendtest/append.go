package backendtest

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/walbridge/walbridge/backends"
)

// What costs more than this to provoke is not: a store that takes 10,000 Appends is trusted to count them.
const (
	countedAppends = 1000
	largeAppend    = 16 << 20
)

// Every byte is readable when its Append returns, while the Writer is open, and after its Close.
func appendReadable(t testing.TB, b backends.Bucket) {
	const name = "append/a"
	p := pattern(name, 70_001)
	w := create(t, b, name)
	mustAppend(t, w, name, p)
	wantContent(t, b, name, p)
	closeWriter(t, w, name)
	wantContent(t, b, name, p)
	wantList(t, b, "append", name)
}

func appendMany(t testing.TB, b backends.Bucket) {
	const name = "append/a"
	w := create(t, b, name)
	var want []byte
	for i := range min(b.Caps().Appends, 12) {
		p := pattern(fmt.Sprint(i), 1+i*i*97)
		mustAppend(t, w, name, p)
		want = append(want, p...)
		wantContent(t, b, name, want)
	}
	closeWriter(t, w, name)
	wantContent(t, b, name, want)
}

func appendLarge(t testing.TB, b backends.Bucket) {
	const name = "append/a"
	p := pattern(name, int(min(b.Caps().MaxAppend, 5<<20+1)))
	put(t, b, name, p)
	wantContent(t, b, name, p)
}

// Bytes that do not match their checksum are not stored, and the error is final.
func appendChecksum(t testing.TB, b backends.Bucket) {
	for _, good := range []int{0, 1} {
		if good >= b.Caps().Appends {
			continue
		}
		name := fmt.Sprintf("append/after%d", good)
		w := create(t, b, name)
		var want []byte
		for range good {
			want = pattern("good", 100)
			mustAppend(t, w, name, want)
		}
		bad := pattern("bad", 100)
		if err := w.Append(deadline(t), bad, backends.Checksum(bad)^1); !errors.Is(err, backends.ErrChecksum) {
			t.Errorf("Append to %s with a wrong checksum: error %v, want ErrChecksum", name, err)
		}
		wantDead(t, w, name)
		closeWriter(t, w, name)
		if good == 0 && !exists(t, b, name) {
			wantMissing(t, b, name)
		} else {
			wantContent(t, b, name, want)
		}
	}
}

// wantDead checks that w takes no Append any more.
func wantDead(t testing.TB, w backends.Writer, name string) {
	t.Helper()
	for range 2 {
		if err := appendTo(deadline(t), w, pattern("late", 100)); !errors.Is(err, backends.ErrClosed) {
			t.Errorf("Append to %s after a failed Append or a Close: error %v, want ErrClosed", name, err)
		}
	}
}

func appendUntouched(t testing.TB, b backends.Bucket) {
	const name = "append/a"
	p := pattern(name, 5000)
	before := bytes.Clone(p)
	put(t, b, name, p[:4000])
	if !bytes.Equal(p, before) {
		t.Errorf("Append to %s modified the bytes it was given, or those behind them", name)
	}
}

func appendAfterClose(t testing.TB, b backends.Bucket) {
	const name = "append/a"
	w := create(t, b, name)
	closeWriter(t, w, name)
	wantDead(t, w, name)
	if exists(t, b, name) {
		wantEnd(t, b, name, 0)
	}
}

// Deleting an object does not reach its Writer, which may fail or make the object anew. What it may not do is to report
// bytes as stored that nobody can read.
func appendAfterDelete(t testing.TB, b backends.Bucket) {
	const name = "append/a"
	w := create(t, b, name)
	wantDeleted(t, b, name)
	p := pattern(name, 100)
	if err := appendTo(deadline(t), w, p); err == nil {
		wantContent(t, b, name, p)
	}
	closeWriter(t, w, name)
}

func appendTooMany(t testing.TB, b backends.Bucket) {
	const name = "append/a"
	appends := b.Caps().Appends
	if appends > countedAppends {
		t.Skipf("the store takes %d Appends", appends)
	}
	w := create(t, b, name)
	want := pattern(name, appends)
	for p := range slices.Chunk(want, 1) {
		mustAppend(t, w, name, p)
	}
	if err := appendTo(deadline(t), w, pattern("more", 100)); !errors.Is(err, backends.ErrTooMany) {
		t.Errorf("Append %d of %d to %s: error %v, want ErrTooMany", appends+1, appends, name, err)
	}
	wantDead(t, w, name)
	closeWriter(t, w, name)
	wantContent(t, b, name, want)
}

func appendTooLarge(t testing.TB, b backends.Bucket) {
	const name = "append/a"
	largest := b.Caps().MaxAppend
	if largest > largeAppend {
		t.Skipf("the store takes Appends of %d bytes", largest)
	}
	w := create(t, b, name)
	if err := appendTo(deadline(t), w, make([]byte, largest+1)); !errors.Is(err, backends.ErrTooLarge) {
		t.Errorf("Append of %d bytes to %s: error %v, want ErrTooLarge", largest+1, name, err)
	}
	wantDead(t, w, name)
	closeWriter(t, w, name)
	if exists(t, b, name) {
		wantEnd(t, b, name, 0)
	}
	fits := pattern(name, int(largest))
	put(t, b, "append/b", fits)
	wantContent(t, b, "append/b", fits)
}
