package faulty

import (
	"context"
	"fmt"
	"time"
)

// fate is what befalls one operation.
type fate int

const (
	none fate = iota
	fail
	torn
	lostAck
	hang
	mute
	stuck
	corrupt
)

// call is one operation and what was drawn for it.
type call struct {
	op       Op
	name     string
	fate     fate
	latency  time.Duration
	at       uint64 // where a Torn ends, which bit Corrupt flips
	err      error
	stuckFor time.Duration
}

// step is an operation, or a part or a corruption of it.
type step func(context.Context) error

// run carries the operation out as it was drawn. part and corrupted may be nil where the operation knows no such thing.
func (c *call) run(ctx context.Context, whole, part, corrupted step) error {
	if err := sleep(ctx, c.latency); err != nil {
		return c.wrap(err)
	}
	switch c.fate {
	case fail:
		return c.wrap(c.err)
	case torn:
		if part != nil {
			if err := part(ctx); err != nil {
				return err
			}
		}
		return c.wrap(c.err)
	case lostAck:
		if err := whole(ctx); err != nil {
			return err
		}
		return c.wrap(c.err)
	case hang:
		<-ctx.Done()
		return c.wrap(ctx.Err())
	case mute:
		if err := whole(ctx); err != nil {
			return err
		}
		<-ctx.Done()
		return c.wrap(ctx.Err())
	case stuck:
		time.Sleep(c.stuckFor)
		return whole(context.WithoutCancel(ctx))
	case corrupt:
		if corrupted != nil {
			return corrupted(ctx)
		}
	}
	return whole(ctx)
}

func (c *call) wrap(err error) error { return fmt.Errorf("faulty: %s %s: %w", c.op, c.name, err) }

// flip flips the bit of p that was drawn.
func (c *call) flip(p []byte) {
	if len(p) > 0 {
		bit := c.at % uint64(8*len(p))
		p[bit/8] ^= 1 << (bit % 8)
	}
}

// sleep waits for d or until ctx ends.
func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
