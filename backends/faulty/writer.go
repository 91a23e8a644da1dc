package faulty

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/walbridge/walbridge/backends"
)

// writer implements backends.Writer.
type writer struct {
	inner backends.Writer
	plan  *Plan
	name  string
	dead  bool // an injected error is final too, and the inner Writer knows nothing of it
}

func (w *writer) Append(ctx context.Context, p []byte, crc uint32) error {
	if w.dead {
		return fmt.Errorf("faulty: append %s: %w", w.name, backends.ErrClosed)
	}
	c := w.plan.draw(Append, w.name)
	whole := func(ctx context.Context) error { return w.inner.Append(ctx, p, crc) }
	damaged := func(damage func() []byte) step {
		return func(ctx context.Context) error {
			if backends.Checksum(p) != crc {
				return whole(ctx) // a store refuses these bytes before it can damage them
			}
			q := damage()
			return w.inner.Append(ctx, q, backends.Checksum(q))
		}
	}
	err := c.run(ctx, whole,
		damaged(func() []byte { return p[:c.at%uint64(max(len(p), 1))] }),
		damaged(func() []byte {
			q := bytes.Clone(p)
			c.flip(q)
			return q
		}))
	w.dead = err != nil
	return err
}

func (w *writer) Close(ctx context.Context) error {
	c := w.plan.draw(CloseWriter, w.name)
	nothing := func(context.Context) error { return nil }
	// It is not called again, so whatever befalls the answer, what the inner Writer holds is released.
	return errors.Join(c.run(ctx, nothing, nil, nil), w.inner.Close(ctx))
}
