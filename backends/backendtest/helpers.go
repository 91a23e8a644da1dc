package backendtest

import (
	"bytes"
	"context"
	"errors"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/walbridge/walbridge/backends"
)

// pattern returns n bytes that differ from those of another seed and from themselves at another offset.
func pattern(seed string, n int) []byte {
	h := fnv.New64a()
	h.Write([]byte(seed))
	var key [32]byte
	h.Sum(key[:0])
	p := make([]byte, n)
	rand.NewChaCha8(key).Read(p)
	return p
}

// appendTo appends p with its right checksum.
func appendTo(ctx context.Context, w backends.Writer, p []byte) error {
	return w.Append(ctx, p, backends.Checksum(p))
}

// create opens a new object or ends the check.
func create(t testing.TB, b backends.Bucket, name string) backends.Writer {
	t.Helper()
	w, err := b.Create(deadline(t), name)
	if err != nil {
		t.Fatalf("Create(%s): %v", name, err)
	}
	return w
}

// mustAppend appends p or ends the check.
func mustAppend(t testing.TB, w backends.Writer, name string, p []byte) {
	t.Helper()
	if err := appendTo(deadline(t), w, p); err != nil {
		t.Fatalf("Append of %d bytes to %s: %v", len(p), name, err)
	}
}

// closeWriter closes w; a Writer may always be closed, also after an error.
func closeWriter(t testing.TB, w backends.Writer, name string) {
	t.Helper()
	if err := w.Close(deadline(t)); err != nil {
		t.Errorf("Close of the Writer of %s: %v", name, err)
	}
}

// put stores an object of one Append.
func put(t testing.TB, b backends.Bucket, name string, p []byte) {
	t.Helper()
	w := create(t, b, name)
	mustAppend(t, w, name, p)
	closeWriter(t, w, name)
}

// wantContent checks that the object is want: no byte is wrong, and none follows.
func wantContent(t testing.TB, b backends.Bucket, name string, want []byte) {
	t.Helper()
	got := make([]byte, len(want))
	if err := b.ReadAt(deadline(t), name, got, 0); err != nil {
		t.Errorf("ReadAt(%s, %d bytes, 0): %v", name, len(want), err)
		return
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s: the %d bytes read are not those appended", name, len(want))
	}
	wantEnd(t, b, name, int64(len(want)))
}

// wantEnd checks that the object has no byte at off.
func wantEnd(t testing.TB, b backends.Bucket, name string, off int64) {
	t.Helper()
	if err := b.ReadAt(deadline(t), name, make([]byte, 1), off); !errors.Is(err, backends.ErrRange) {
		t.Errorf("ReadAt(%s, 1 byte, %d), where the object should end: error %v, want ErrRange", name, off, err)
	}
}

// wantMissing checks that there is no object name.
func wantMissing(t testing.TB, b backends.Bucket, name string) {
	t.Helper()
	for _, n := range []int{0, 1} {
		if err := b.ReadAt(deadline(t), name, make([]byte, n), 0); !errors.Is(err, backends.ErrNotFound) {
			t.Errorf("ReadAt(%s, %d bytes, 0) of a missing object: error %v, want ErrNotFound", name, n, err)
		}
	}
}

// exists tells whether the object is there, if only as an empty one.
func exists(t testing.TB, b backends.Bucket, name string) bool {
	t.Helper()
	err := b.ReadAt(deadline(t), name, nil, 0)
	if err != nil && !errors.Is(err, backends.ErrNotFound) {
		t.Fatalf("ReadAt(%s, 0 bytes, 0): error %v, want nil or ErrNotFound", name, err)
	}
	return err == nil
}

// list returns the names below dir, sorted; a name may be listed more than once.
func list(t testing.TB, b backends.Bucket, dir string) []string {
	t.Helper()
	names := []string{}
	for o, err := range b.List(deadline(t), dir) {
		if err != nil {
			t.Fatalf("List(%q): %v", dir, err)
		}
		if o.Size < 0 {
			t.Errorf("List(%q): %s has size %d", dir, o.Name, o.Size)
		}
		names = append(names, o.Name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// wantList checks what is listed below dir.
func wantList(t testing.TB, b backends.Bucket, dir string, want ...string) {
	t.Helper()
	want = slices.Sorted(slices.Values(want))
	if got := list(t, b, dir); !slices.Equal(got, want) {
		t.Errorf("List(%q) = %q, want %q", dir, got, want)
	}
}

// wantDeleted deletes names and checks that all are confirmed.
func wantDeleted(t testing.TB, b backends.Bucket, names ...string) {
	t.Helper()
	got, err := b.Delete(deadline(t), names)
	if err != nil {
		t.Errorf("Delete(%q): %v", names, err)
	}
	got, want := slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(names))
	if !slices.Equal(slices.Compact(got), slices.Compact(want)) {
		t.Errorf("Delete(%q) confirms %q", names, got)
	}
}
