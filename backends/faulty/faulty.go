// Package faulty is a decorator that makes a store slow and sick on purpose: latency by distribution, errors, hangs,
// torn appends, lost answers, flipped bits. It is how what stands above the stores is tested, and benchmarked against
// stores that are not here.
//
//	plan := faulty.NewPlan(seed)
//	zone := faulty.Wrap(mem.New(mem.Options{}), plan)
//	plan.Set(faulty.Faults{Latency: faulty.LogNormal(5*time.Millisecond, 20*time.Millisecond)})
//	plan.Set(faulty.Faults{Torn: 0.01, Err: backends.ErrThrottled}, faulty.Append)
//	plan.Outage(faulty.Faults{Hang: 1}) // the zone dies,
//	plan.Recover()                      // and comes back
//
// It starts no goroutine and waits only for timers and ctx, so it works in a testing/synctest bubble.
package faulty

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"

	"github.com/walbridge/walbridge/backends"
)

// Wrap returns b as plan has it behave. A zone has a Plan of its own.
func Wrap(b backends.Bucket, plan *Plan) backends.Bucket { return &bucket{b, plan} }

// bucket implements backends.Bucket.
type bucket struct {
	inner backends.Bucket
	plan  *Plan
}

func (b *bucket) Create(ctx context.Context, name string) (backends.Writer, error) {
	c := b.plan.draw(Create, name)
	var w backends.Writer
	err := c.run(ctx, func(ctx context.Context) (err error) {
		w, err = b.inner.Create(ctx, name)
		return err
	}, nil, nil)
	if err != nil {
		if w != nil { // created, but the answer is lost
			err = errors.Join(err, w.Close(context.WithoutCancel(ctx)))
		}
		return nil, err
	}
	return &writer{inner: w, plan: b.plan, name: name}, nil
}

func (b *bucket) ReadAt(ctx context.Context, name string, p []byte, off int64) error {
	c := b.plan.draw(Read, name)
	read := func(ctx context.Context) error { return b.inner.ReadAt(ctx, name, p, off) }
	return c.run(ctx, read, nil, func(ctx context.Context) error {
		err := read(ctx)
		if err == nil {
			c.flip(p)
		}
		return err
	})
}

// errStopped ends a listing that its caller has left.
var errStopped = errors.New("listing stopped")

func (b *bucket) List(ctx context.Context, dir string) iter.Seq2[backends.Object, error] {
	return func(yield func(backends.Object, error) bool) {
		c := b.plan.draw(List, dir)
		first := func(n uint64) step {
			return func(ctx context.Context) error {
				for o, err := range b.inner.List(ctx, dir) {
					switch {
					case err != nil:
						return err
					case n == 0:
						return nil
					case !yield(o, nil):
						return errStopped
					}
					n--
				}
				return nil
			}
		}
		if err := c.run(ctx, first(math.MaxUint64), first(c.at%8), nil); err != nil && err != errStopped {
			yield(backends.Object{}, err)
		}
	}
}

func (b *bucket) Delete(ctx context.Context, names []string) ([]string, error) {
	c := b.plan.draw(Delete, fmt.Sprintf("%d objects", len(names)))
	var deleted []string
	first := func(n int) step {
		return func(ctx context.Context) (err error) {
			deleted, err = b.inner.Delete(ctx, names[:n])
			return err
		}
	}
	err := c.run(ctx, first(len(names)), first(int(c.at%uint64(len(names)+1))), nil)
	if err != nil && (c.fate == lostAck || c.fate == mute) {
		deleted = nil
	}
	return deleted, err
}

func (b *bucket) Caps() backends.Caps { return b.inner.Caps() }

func (b *bucket) Close() error { return b.inner.Close() }
