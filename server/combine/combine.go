// Package combine makes copies durable: it packs those that come at the same time into one frame, writes the frame with
// one append, and tells each copy where its entries lie.
//
// The work is done by lanes. Copies wait in one queue for all lanes, until the first one has lingered or there is a
// full frame of them (queue.go); so free lanes do not spread over many frames what fits into one, and every frame costs
// a request in each zone. A lane takes what makes the next frame, encodes it, appends it to the object it holds or to a
// fresh one, and answers (lane.go).
package combine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/walbridge/walbridge/backends"
	"github.com/walbridge/walbridge/server/frame"
)

var (
	// ErrClosed is returned for a copy after Drain was called or Run has ended, and for one that the end of Run cut off.
	ErrClosed = errors.New("combiner closed")
	// ErrFull is returned for a copy that finds MaxQueued others waiting. It is not stored.
	ErrFull = errors.New("too many copies queued")
)

// maxClosing is the most objects that are being closed at once. A lane that wants to close one more waits, for
// CloseTimeout at most.
const maxClosing = 256

// Combiner packs copies into frames and writes them. All methods are safe for concurrent use.
type Combiner struct {
	opts       Options
	emptyFrame int64
	queue      *queue
	lanes      []*lane
	closing    chan struct{}
	background sync.WaitGroup
	metrics    *metrics
	totals     totals
}

// Location is where in an extent an entry lies, in bytes from the extent's first.
type Location struct {
	Position, Length uint32
}

// Result tells where a copy was stored.
type Result struct {
	// Extent is the frame that holds the copy, and maybe others.
	Extent frame.Extent
	// Entries are the copy's own: one for each section, in their order.
	Entries []Location
}

// New returns a Combiner that writes when Run is called.
func New(opts Options) (*Combiner, error) {
	opts = opts.withDefaults()
	if opts.Caps.Appends < 1 || opts.Caps.MaxAppend < 1 {
		return nil, fmt.Errorf("combine: no object takes a frame: %+v", opts.Caps)
	}
	if err := opts.Identity.Validate(); err != nil {
		return nil, fmt.Errorf("combine: %w", err)
	}
	empty, err := frame.Size(opts.Identity, nil)
	if err != nil {
		return nil, fmt.Errorf("combine: %w", err)
	}
	c := &Combiner{
		opts:       opts,
		emptyFrame: empty,
		queue:      newQueue(opts.MaxFrameBytes-empty, opts.MaxQueued),
		closing:    make(chan struct{}, maxClosing),
	}
	for range opts.Lanes {
		c.lanes = append(c.lanes, &lane{Combiner: c, since: time.Now()})
	}
	c.metrics = newMetrics(opts.Registerer, c.Stats)
	return c, nil
}

// Run writes what is copied until ctx ends. Then it fails copies that no lane has taken yet with ErrClosed, cancels the
// others, and returns when nothing of it runs any more. It is called once.
func (c *Combiner) Run(ctx context.Context) {
	var lanes sync.WaitGroup
	for _, l := range c.lanes {
		lanes.Go(func() { l.run(ctx) })
	}
	lanes.Wait()
	for _, r := range c.queue.abandon() {
		c.answer(r, Result{}, ErrClosed)
	}
	c.background.Wait()
}

// Drain refuses new copies with ErrClosed from now on and waits until all that were accepted are answered. It fails
// when ctx ends before that.
func (c *Combiner) Drain(ctx context.Context) error {
	c.queue.close()
	select {
	case <-c.queue.drained:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("drain: %d copies not answered: %w", c.queue.unanswered(), ctx.Err())
	}
}

// Copy stores sections in one frame, in their order, and returns when the frame is durable. It fails at once where a
// section is not valid, the sections are too large (backends.ErrTooLarge), or too many copies wait (ErrFull). Any other
// error, that of ctx's end included, leaves it unknown whether the sections are stored; then they may be copied again,
// since duplicates are legal.
//
// The copy has waited already before it came here; that counts towards the linger.
//
// The sections' bytes must not be changed any more, not even when Copy has failed.
func (c *Combiner) Copy(ctx context.Context, sections []frame.Section, waited time.Duration) (Result, error) {
	size, err := c.check(sections)
	if err != nil {
		return Result{}, fmt.Errorf("copy: %w", err)
	}
	r := &request{
		ctx: ctx, sections: sections, entries: len(sections), size: size, done: make(chan struct{}),
		due: time.Now().Add(c.opts.Linger - waited),
	}
	if err := c.queue.put(r); err != nil {
		return Result{}, fmt.Errorf("copy: %w", err)
	}
	select {
	case <-r.done:
	case <-ctx.Done():
		c.queue.remove(r)
		if err := r.setback.Load(); err != nil {
			return Result{}, fmt.Errorf("copy: %w; last attempt: %w", ctx.Err(), *err)
		}
		return Result{}, fmt.Errorf("copy: %w", ctx.Err())
	}
	if r.err != nil {
		return Result{}, fmt.Errorf("copy: %w", r.err)
	}
	return r.result, nil
}

// check returns how much sections add to a frame. What it lets through can be encoded, so that no copy makes the frame
// fail that it shares with others.
func (c *Combiner) check(sections []frame.Section) (size int64, err error) {
	if len(sections) == 0 {
		return 0, errors.New("no sections")
	}
	var total int64
	for i, s := range sections {
		if err := frame.Validate(s.Entry); err != nil {
			return 0, fmt.Errorf("section %d: %w", i, err)
		}
		var n int64
		for _, chunk := range s.Chunks {
			n += int64(len(chunk))
		}
		if n != int64(s.Entry.Length) {
			return 0, fmt.Errorf("section %d: %d bytes given, the entry says %d", i, n, s.Entry.Length)
		}
		total += n
	}
	if total > c.opts.MaxCopyBytes {
		return 0, fmt.Errorf("%d bytes, at most %d: %w", total, c.opts.MaxCopyBytes, backends.ErrTooLarge)
	}
	size, err = frame.Size(c.opts.Identity, sections)
	if err != nil {
		return 0, fmt.Errorf("%w: %w", backends.ErrTooLarge, err)
	}
	if size > c.opts.Caps.MaxAppend {
		return 0, fmt.Errorf("frame of %d bytes, at most %d: %w", size, c.opts.Caps.MaxAppend, backends.ErrTooLarge)
	}
	return size - c.emptyFrame, nil
}

func (c *Combiner) answer(r *request, result Result, err error) {
	r.result, r.err = result, err
	close(r.done)
	c.queue.finish()
}

// release closes o in the background.
func (c *Combiner) release(o Object) {
	c.closing <- struct{}{}
	c.background.Go(func() {
		defer func() { <-c.closing }()
		ctx, cancel := context.WithTimeout(context.Background(), c.opts.CloseTimeout)
		defer cancel()
		if err := o.Writer.Close(ctx); err != nil {
			// Nothing depends on it: what was appended is durable.
			c.opts.Logger.Debug("close failed", "op", "close", "object", o.ID.Name(c.opts.Identity.ClusterID), "err", err)
		}
	})
}
