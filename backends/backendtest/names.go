package backendtest

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/walbridge/walbridge/backends"
)

var invalidNames = []string{
	"/", "/a", "/etc/passwd", "a/", "a//b", ".", "..", "../a", "a/..", "a/../b", "a/./b", "./a", "names/../../a",
	".hidden", "names/.hidden", "names/a b", "names/a\x00", "names/a\n", "names\\a", `..\a`, "c:a", "names/é",
	"names/%2e%2e", "names/*", "names/a?b", "~/a", strings.Repeat("n", backends.MaxName+1),
}

func namesInvalid(t testing.TB, b backends.Bucket) {
	ctx := deadline(t)
	put(t, b, "names/good", pattern("good", 10))
	for _, name := range append([]string{""}, invalidNames...) {
		if w, err := b.Create(ctx, name); !errors.Is(err, backends.ErrName) {
			t.Errorf("Create(%q): error %v, want ErrName", name, err)
			if err == nil {
				closeWriter(t, w, name)
			}
		}
		if err := b.ReadAt(ctx, name, make([]byte, 1), 0); !errors.Is(err, backends.ErrName) {
			t.Errorf("ReadAt(%q): error %v, want ErrName", name, err)
		}
		deleted, err := b.Delete(ctx, []string{name})
		if !errors.Is(err, backends.ErrName) || slices.Contains(deleted, name) {
			t.Errorf("Delete(%q) = %q, %v, want ErrName", name, deleted, err)
		}
	}
	for _, dir := range invalidNames {
		n, last := 0, error(nil)
		for _, err := range b.List(ctx, dir) {
			n, last = n+1, err
		}
		if n != 1 || !errors.Is(last, backends.ErrName) {
			t.Errorf("List(%q) yields %d times, at last error %v, want ErrName once", dir, n, last)
		}
	}
	// A Delete with a bad name among good ones may have deleted those it confirms, and no others.
	deleted, err := b.Delete(ctx, []string{"names/good", "names/../b"})
	if !errors.Is(err, backends.ErrName) {
		t.Errorf("Delete of a good and a bad name: error %v, want ErrName", err)
	}
	if confirmed := slices.Contains(deleted, "names/good"); confirmed == exists(t, b, "names/good") {
		t.Errorf("Delete confirms %q, and names/good exists: %v", deleted, !confirmed)
	}
}

func namesValid(t testing.TB, b backends.Bucket) {
	names := []string{
		"a", "Z", "-", "_", "0", "names/A", "names/B", "names/b", "names/x.y", "names/x..", "names/-rf",
		"names/5L6g3nShT-eMCtK--X86sw/1/0000000001/20260102T0304/01ARZ3NDEKTSV4RRFFQ69G5FAV",
		strings.Repeat("0123456/", backends.MaxName/8-1) + "longest.",
	}
	for _, name := range names {
		put(t, b, name, pattern(name, 20))
	}
	for _, name := range names {
		wantContent(t, b, name, pattern(name, 20))
	}
	wantList(t, b, "", names...)
	wantDeleted(t, b, names...)
	wantList(t, b, "")
}
