package backendtest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/walbridge/walbridge/backends"
)

// wantExists checks that name cannot be created, be it that Create or the first Append says so.
func wantExists(t testing.TB, b backends.Bucket, name string) {
	t.Helper()
	w, err := b.Create(deadline(t), name)
	if err == nil {
		err = appendTo(deadline(t), w, pattern("intruder", 100))
		closeWriter(t, w, name)
	}
	if !errors.Is(err, backends.ErrExists) {
		t.Errorf("second Create(%s) and its first Append: error %v, want ErrExists", name, err)
	}
}

func createExists(t testing.TB, b backends.Bucket) {
	const name = "create/a"
	p := pattern(name, 300)
	w := create(t, b, name)
	mustAppend(t, w, name, p)
	wantExists(t, b, name) // while its writer is open
	closeWriter(t, w, name)
	wantExists(t, b, name)
	wantContent(t, b, name, p)
}

// A name is taken from the Create on, or from the first Append on; in both cases the one who appends first keeps it.
func createExistsEmpty(t testing.TB, b backends.Bucket) {
	const name = "create/a"
	p := pattern(name, 300)
	first := create(t, b, name)
	second, err := b.Create(deadline(t), name)
	if err != nil && !errors.Is(err, backends.ErrExists) {
		t.Fatalf("second Create(%s): error %v, want nil or ErrExists", name, err)
	}
	mustAppend(t, first, name, p)
	if second != nil {
		if err := appendTo(deadline(t), second, pattern("second", 300)); !errors.Is(err, backends.ErrExists) {
			t.Errorf("first Append of the second creator of %s: error %v, want ErrExists", name, err)
		}
		closeWriter(t, second, name)
	}
	closeWriter(t, first, name)
	wantContent(t, b, name, p)
}

func createConcurrent(t testing.TB, b backends.Bucket) {
	const rounds, creators = 10, 4
	for round := range rounds {
		name := fmt.Sprintf("create/%d/%d", round%2, round)
		start := make(chan struct{})
		errs := make([]error, creators)
		var group sync.WaitGroup
		for i := range creators {
			group.Go(func() {
				<-start
				errs[i] = createAndAppend(deadline(t), b, name, pattern(fmt.Sprint(i), 200))
			})
		}
		close(start)
		group.Wait()
		winners := 0
		for i, err := range errs {
			switch {
			case err == nil:
				winners++
				wantContent(t, b, name, pattern(fmt.Sprint(i), 200))
			case !errors.Is(err, backends.ErrExists):
				t.Errorf("creator %d of %s: error %v, want nil or ErrExists", i, name, err)
			}
		}
		if winners != 1 {
			t.Fatalf("%d of %d concurrent creators of %s won, want 1", winners, creators, name)
		}
	}
}

func createAndAppend(ctx context.Context, b backends.Bucket, name string, p []byte) error {
	w, err := b.Create(ctx, name)
	if err != nil {
		return err
	}
	return errors.Join(appendTo(ctx, w, p), w.Close(ctx))
}

// Where an object exists before its first Append it has length 0 and is listed; where not it is neither. Both are the
// same after the Close of a Writer that appended nothing, and can be deleted.
func createEmpty(t testing.TB, b backends.Bucket) {
	const name = "create/a"
	w := create(t, b, name)
	open := exists(t, b, name)
	closeWriter(t, w, name)
	if closed := exists(t, b, name); closed != open {
		t.Errorf("%s: exists %v before the Close of its unused Writer, %v after it", name, open, closed)
	}
	if open {
		wantEnd(t, b, name, 0)
		wantList(t, b, "create", name)
		wantExists(t, b, name)
	} else {
		wantMissing(t, b, name)
		wantList(t, b, "create")
	}
	wantDeleted(t, b, name)
	wantMissing(t, b, name)
}

func createOutlivesCtx(t testing.TB, b backends.Bucket) {
	const name = "create/a"
	ctx, cancel := context.WithCancel(deadline(t))
	w, err := b.Create(ctx, name)
	cancel()
	if err != nil {
		t.Fatalf("Create(%s): %v", name, err)
	}
	p := pattern(name, 100)
	mustAppend(t, w, name, p)
	closeWriter(t, w, name)
	wantContent(t, b, name, p)
}
