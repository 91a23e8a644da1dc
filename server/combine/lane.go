package combine

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/walbridge/walbridge/server/frame"
)

// lane writes one frame at a time.
type lane struct {
	*Combiner
	// object is the one that frames are appended to, nil where the next frame takes a fresh one. Only run touches it.
	object *openObject

	mu    sync.Mutex
	state State
	since time.Time
}

// openObject is an object and what the lane has done with it.
type openObject struct {
	Object
	taken   time.Time
	appends int
	length  int64
}

func (l *lane) run(ctx context.Context) {
	defer l.leaveObject()
	for {
		l.enter(Idle)
		batch, err := l.next(ctx)
		if err != nil {
			return
		}
		l.enter(Encoding)
		l.write(ctx, batch)
	}
}

// next returns the copies of the next frame. While it waits for them it leaves an object that has become too old.
func (l *lane) next(ctx context.Context) ([]*request, error) {
	if l.object != nil {
		young, cancel := context.WithDeadline(ctx, l.object.taken.Add(l.opts.Rotation.Age))
		batch, err := l.queue.next(young)
		cancel()
		if err == nil {
			return batch, nil
		}
		l.leaveObject()
	}
	return l.queue.next(ctx)
}

// write makes batch one frame, makes that durable, and answers everyone.
func (l *lane) write(ctx context.Context, batch []*request) {
	var sections []frame.Section
	for _, r := range batch {
		sections = append(sections, r.sections...)
		r.sections = nil // The frame has a copy of the bytes.
	}
	f, err := frame.Encode(l.opts.Identity, sections)
	if err != nil {
		l.fail(batch, err)
		return
	}
	ctx, span := traceFrame(ctx, batch)
	defer span.End()
	wanted, cancel := whileWanted(ctx, batch, l.opts.FrameTimeout)
	defer cancel()
	extent, err := l.store(ctx, wanted, f, batch)
	if err != nil {
		if ctx.Err() != nil {
			err = fmt.Errorf("%w: %w", ErrClosed, err)
		}
		span.failed(err)
		l.fail(batch, err)
		return
	}
	span.stored(l.opts.Identity.ClusterID, extent)
	l.metrics.frame(f, len(batch))
	l.totals.written(f, len(batch))
	entries := f.Index.Entries
	for _, r := range batch {
		locations := make([]Location, r.entries)
		for i, e := range entries[:r.entries] {
			locations[i] = Location{Position: e.Position, Length: e.Length}
		}
		entries = entries[r.entries:]
		l.answer(r, Result{Extent: extent, Entries: locations}, nil)
	}
}

func (l *lane) fail(batch []*request, err error) {
	l.metrics.failures.WithLabelValues(reason(err)).Inc()
	l.totals.failed()
	for _, r := range batch {
		l.answer(r, Result{}, err)
	}
}

// whileWanted returns a context that ends when the last caller of batch has left, or after limit.
func whileWanted(parent context.Context, batch []*request, limit time.Duration) (context.Context, context.CancelFunc) {
	latest := time.Now().Add(limit)
	var deadline time.Time
	for _, r := range batch {
		d, ok := r.ctx.Deadline()
		if !ok || d.After(latest) {
			d = latest
		}
		if d.After(deadline) {
			deadline = d
		}
	}
	ctx, cancel := context.WithDeadline(parent, deadline)
	var left atomic.Int64
	stops := make([]func() bool, len(batch))
	for i, r := range batch {
		stops[i] = context.AfterFunc(r.ctx, func() {
			if left.Add(1) == int64(len(batch)) {
				cancel()
			}
		})
	}
	return ctx, func() {
		for _, stop := range stops {
			stop()
		}
		cancel()
	}
}

// store appends f, each time to another object, until one append succeeds, nobody wants the frame any more, or a
// further attempt would fail as well.
func (l *lane) store(ctx, wanted context.Context, f *frame.Frame, batch []*request) (frame.Extent, error) {
	for attempt := 1; ; attempt++ {
		extent, err := l.attempt(ctx, wanted, f)
		if err == nil || wanted.Err() != nil || !retryable(err, f) {
			return extent, err
		}
		for _, r := range batch {
			r.setback.Store(&err)
		}
		l.metrics.retries.WithLabelValues(reason(err)).Inc()
		l.totals.retried()
		l.enter(BackingOff)
		select {
		case <-time.After(backoff(attempt, err, rand.Float64())):
		case <-wanted.Done():
			return frame.Extent{}, fmt.Errorf("%w; last attempt: %w", wanted.Err(), err)
		}
	}
}

// attempt appends f to the lane's object, or to a fresh one where it has none. An append that was begun is not
// cancelled because the callers left, only after its time or with ctx: the object would be lost with it.
func (l *lane) attempt(ctx, wanted context.Context, f *frame.Frame) (frame.Extent, error) {
	if err := l.takeObject(wanted); err != nil {
		return frame.Extent{}, err
	}
	l.enter(Appending)
	now := time.Now()
	deadline, _ := wanted.Deadline()
	ctx, cancel := context.WithTimeout(ctx, attemptTime(deadline.Sub(now), l.opts.AttemptTimeout))
	defer cancel()
	o := l.object
	err := o.Writer.Append(ctx, f.Bytes, f.CRC32C)
	l.metrics.append(time.Since(now), err)
	if err != nil {
		// It may have been appended all the same, so that nobody knows where a further frame would lie.
		l.leaveObject()
		return frame.Extent{}, fmt.Errorf("append %d bytes to object %s: %w", f.Size(), o.ID.ULID, err)
	}
	extent := f.Extent(o.ID, o.length)
	o.appends++
	o.length += f.Size()
	if l.opts.Rotation.due(o, time.Now()) {
		l.leaveObject()
	}
	return extent, nil
}

func (l *lane) takeObject(ctx context.Context) error {
	if l.object != nil && l.opts.Rotation.due(l.object, time.Now()) {
		l.leaveObject()
	}
	if l.object != nil {
		return nil
	}
	l.enter(Opening)
	o, err := l.opts.Objects.Get(ctx)
	if err != nil {
		return fmt.Errorf("take an open object: %w", err)
	}
	l.object = &openObject{Object: o, taken: time.Now()}
	return nil
}

func (l *lane) leaveObject() {
	if l.object != nil {
		l.release(l.object.Object)
		l.object = nil
	}
}

func (r Rotation) due(o *openObject, now time.Time) bool {
	return o.appends >= r.Appends || o.length >= r.Bytes || now.Sub(o.taken) >= r.Age
}

func (l *lane) enter(s State) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.state, l.since = s, time.Now()
}

func (l *lane) heartbeat() Heartbeat {
	l.mu.Lock()
	defer l.mu.Unlock()
	return Heartbeat{State: l.state, Since: l.since}
}
