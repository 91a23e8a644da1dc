package mem_test

import (
	"testing"

	"github.com/walbridge/walbridge/backends"
	"github.com/walbridge/walbridge/backends/backendtest"
	"github.com/walbridge/walbridge/backends/mem"
)

func TestConformance(t *testing.T) {
	for name, o := range map[string]mem.Options{
		"default": {},
		"like S3": {Appends: 1, MaxAppend: 1 << 20, CreateOnAppend: true},
		"rapid":   {Appends: 100, MaxAppend: 4 << 20},
		"one":     {Appends: 1},
	} {
		t.Run(name, func(t *testing.T) {
			backendtest.Run(t, func(*testing.T) backends.Bucket { return mem.New(o) })
		})
	}
}

// What was appended outlives Close, so that a restart can be tested.
func TestReopen(t *testing.T) {
	ctx, b, p := t.Context(), mem.New(mem.Options{}), []byte("kept")
	w, err := b.Create(ctx, "a/b")
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Append(ctx, p, backends.Checksum(p)); err != nil {
		t.Fatal(err)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, len(p))
	if err := b.ReadAt(ctx, "a/b", got, 0); err != nil || string(got) != string(p) {
		t.Fatalf("ReadAt after Close = %q, %v", got, err)
	}
}
