package quorum

import (
	"context"
	"fmt"
	"iter"
	"sync"
	"time"

	"github.com/walbridge/walbridge/backends"
)

// maxListed bounds the objects that one List holds, of some 200 bytes each.
const maxListed = 1 << 22

// List implements backends.Bucket: what any zone lists, each object once, with the largest size that a zone tells. It
// holds all names below dir in memory before it yields the first, for 4 million at most: list a directory of the hour,
// not a year.
//
// Every acknowledged object is listed if N-W+1 zones have been listed to their end; with fewer the listing ends with an
// error. Once there are so many, the others get ZoneTimeout to finish, and one that fails is passed over.
func (b *Bucket) List(ctx context.Context, dir string) iter.Seq2[backends.Object, error] {
	return func(yield func(backends.Object, error) bool) {
		if err := backends.CheckDir(dir); err != nil {
			yield(backends.Object{}, fmt.Errorf("quorum: list %s: %w", dir, err))
			return
		}
		if err := b.checkOpen(ctx); err != nil {
			yield(backends.Object{}, fmt.Errorf("quorum: list %s: %w", dir, err))
			return
		}
		sizes, err := b.union(ctx, dir)
		for name, size := range sizes {
			if !yield(backends.Object{Name: name, Size: size}, nil) {
				return
			}
		}
		if err != nil {
			yield(backends.Object{}, err)
		}
	}
}

// union lists dir in all zones.
func (b *Bucket) union(ctx context.Context, dir string) (map[string]int64, error) {
	sweep, cancel := context.WithCancel(ctx)
	defer cancel()
	u := &union{sizes: make(map[string]int64)}
	answers := make(chan error, len(b.zones))
	for _, z := range b.zones {
		go func() {
			answers <- z.call(sweep, opSweep, "list "+dir, b.opts.SweepTimeout, func(ctx context.Context) error {
				return u.add(z.bucket.List(ctx, dir))
			})
		}()
	}
	f := &failure{what: "list " + dir}
	needed := len(b.zones) - b.opts.Quorum + 1
	listed := 0
	for range b.zones {
		if err := <-answers; err != nil {
			f.zones = append(f.zones, err)
		} else if listed++; listed == needed {
			defer time.AfterFunc(b.opts.ZoneTimeout, cancel).Stop()
		}
	}
	sizes, whole := u.take()
	switch {
	case !whole:
		return sizes, fmt.Errorf("quorum: list %s: more than %d objects", dir, maxListed)
	case listed < needed:
		f.is = sweepSentinels(ctx, f.zones)
		return sizes, f
	}
	return sizes, nil
}

// union collects what the zones list.
type union struct {
	mu    sync.Mutex
	sizes map[string]int64 // nil once it was taken
	full  bool
}

// add adds what a zone lists until that ends, or until no more is wanted.
func (u *union) add(objects iter.Seq2[backends.Object, error]) error {
	for o, err := range objects {
		if err != nil {
			return err
		}
		if !u.put(o) {
			break
		}
	}
	return nil
}

func (u *union) put(o backends.Object) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.sizes == nil || u.full {
		return false
	}
	size, listed := u.sizes[o.Name]
	if !listed && len(u.sizes) == maxListed {
		u.full = true
		return false
	}
	u.sizes[o.Name] = max(size, o.Size)
	return true
}

// take returns what was collected, and whether that is all. A zone that goes on listing, since it does not look at its
// ctx, adds nothing any more.
func (u *union) take() (map[string]int64, bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	sizes := u.sizes
	u.sizes = nil
	return sizes, !u.full
}

// sweepSentinels returns what holds for a List or Delete that zones failed with errs: the end of ctx, or what all of
// them say.
func sweepSentinels(ctx context.Context, errs []error) []error {
	if err := ctx.Err(); err != nil {
		return []error{err}
	}
	var is []error
	for _, sentinel := range []error{backends.ErrDenied, backends.ErrThrottled} {
		if all(errs, sentinel) {
			is = append(is, sentinel)
		}
	}
	return is
}
