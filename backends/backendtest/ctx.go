package backendtest

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/walbridge/walbridge/backends"
)

// A ctx that has ended fails everything, with its own error in the chain.
func ctxEnded(t testing.TB, b backends.Bucket) {
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	expired, cancel := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer cancel()
	p := pattern("p", 100)
	put(t, b, "ctx/old", p)
	for _, ctx := range []context.Context{canceled, expired} {
		wrong := func(op string, err error) {
			t.Helper()
			if !errors.Is(err, ctx.Err()) {
				t.Errorf("%s with an ended ctx: error %v, want %v", op, err, ctx.Err())
			}
		}
		w, err := b.Create(ctx, "ctx/new")
		wrong("Create", err)
		if err == nil {
			closeWriter(t, w, "ctx/new")
		}
		wrong("ReadAt", b.ReadAt(ctx, "ctx/old", make([]byte, 10), 0))

		n, last := 0, error(nil)
		for _, err := range b.List(ctx, "ctx") {
			n, last = n+1, err
		}
		wrong("List", last)
		if n != 1 {
			t.Errorf("List with an ended ctx yields %d times, want its error alone", n)
		}

		deleted, err := b.Delete(ctx, []string{"ctx/old"})
		wrong("Delete", err)
		if slices.Contains(deleted, "ctx/old") && exists(t, b, "ctx/old") {
			t.Errorf("Delete with an ended ctx confirms an object that is there")
		}

		const name = "ctx/append"
		wantDeleted(t, b, name)
		w = create(t, b, name)
		wrong("Append", appendTo(ctx, w, p))
		wantDead(t, w, name)
		closeWriter(t, w, name)
	}
}
