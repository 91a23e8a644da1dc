package quorum

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/walbridge/walbridge/backends"
)

// writer writes one object in every zone that keeps up. What a zone does for it happens in one goroutine, see
// zoneWriter; what the zones' outcomes mean is decided here and in round.
type writer struct {
	bucket *Bucket
	name   string

	mu      sync.Mutex
	zones   []zoneWriter
	opened  bool // Create succeeded
	closed  bool // no Append any more
	appends int
	back    time.Time     // when the last Create or Append returned
	running int           // zones with a goroutine
	changed chan struct{} // closed when a zone's state changes; nil where nobody waits
}

// create opens name in the zones and returns a writer once a quorum of them has opened it.
func (b *Bucket) create(ctx context.Context, name string) (*writer, error) {
	w := &writer{bucket: b, name: name, zones: make([]zoneWriter, len(b.zones))}
	if !b.writers.add(w) {
		return nil, fmt.Errorf("quorum: create %s: %w: it has a writer", name, backends.ErrExists)
	}
	r := newRound(ctx, opOpen, "create "+name, len(b.zones), b.opts.Quorum)
	w.mu.Lock()
	for i := range w.zones {
		w.zones[i].w, w.zones[i].zone = w, b.zones[i]
		w.ask(r, i)
	}
	w.recruit(r)
	w.mu.Unlock()
	if err := w.await(ctx, r); err != nil {
		w.finish()
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.opened = true
	for i := range w.zones {
		w.zones[i].count()
	}
	return w, nil
}

// Append implements backends.Writer.
func (w *writer) Append(ctx context.Context, p []byte, crc uint32) error {
	r := newRound(ctx, opWrite, "append "+w.name, len(w.zones), w.bucket.opts.Quorum)
	r.p, r.crc = p, crc
	w.awaitLate(ctx)
	err := w.start(ctx, r)
	if err != nil {
		err = fmt.Errorf("quorum: %s: %w", r.what, err)
	} else {
		err = w.await(ctx, r)
	}
	if err != nil {
		w.finish()
	}
	w.bucket.metrics.appended(ctx, err)
	return err
}

// awaitLate waits for zones that are not done with what came before, until they have been late for MaxLag. Without it
// the slowest of healthy zones would leave most objects that get one frame right after the other.
func (w *writer) awaitLate(ctx context.Context) {
	w.mu.Lock()
	deadline := w.back.Add(w.bucket.opts.MaxLag)
	w.mu.Unlock()
	ctx, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	_ = w.wait(ctx, func() bool { return !w.busy() }) // Late zones leave, see start.
}

// busy tells if a zone that takes part is not done with what it was given. The caller holds mu.
func (w *writer) busy() bool {
	for i := range w.zones {
		if w.zones[i].busy() {
			return true
		}
	}
	return false
}

// start hands the frame of r to the zones. One that is not done with what came before leaves the object.
func (w *writer) start(ctx context.Context, r *round) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	caps := w.bucket.caps
	switch {
	case w.closed:
		return backends.ErrClosed
	case w.appends >= caps.Appends:
		return backends.ErrTooMany
	case int64(len(r.p)) > caps.MaxAppend:
		return backends.ErrTooLarge
	case ctx.Err() != nil:
		return ctx.Err()
	}
	w.appends++
	for i := range w.zones {
		zw := &w.zones[i]
		if zw.busy() {
			zw.leave(reasonLag, fmt.Errorf("zone %s: left %s: not done with what came before", zw.zone.name, w.name))
		}
		if zw.state == ready {
			w.ask(r, i)
		} else {
			w.vote(r, i, zw.left)
		}
	}
	w.recruit(r)
	return nil
}

// ask asks zone i, or keeps it in reserve where it is unfit. The caller holds mu.
func (w *writer) ask(r *round, i int) {
	if r.spare[i] = w.zones[i].zone.unfit(int64(len(r.p))); r.spare[i] == "" {
		w.put(r, i)
	}
}

// recruit asks the zones in reserve, all at once, where there can be no quorum without them. The caller holds mu.
func (w *writer) recruit(r *round) {
	if r.over || !r.short() {
		return
	}
	for i := range w.zones {
		if r.spare[i] != "" {
			r.spare[i] = ""
			w.put(r, i)
		}
	}
}

// put gives zone i its part of r. The caller holds mu.
func (w *writer) put(r *round, i int) {
	zw := &w.zones[i]
	o, err := zw.zone.begin(r.ctx, r.kind, r.what, int64(len(r.p)), w.bucket.opts.ZoneTimeout, func(err error) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.vote(r, i, err)
		w.recruit(r)
	})
	if err != nil {
		w.vote(r, i, err)
		return
	}
	r.ops[i] = o
	zw.do(task{op: o, p: r.p, crc: r.crc})
}

// vote counts the vote of zone i, which leaves the object unless err is nil. The caller holds mu.
func (w *writer) vote(r *round, i int, err error) {
	if err != nil {
		w.zones[i].leave(reasonOf(err), err)
	} else {
		w.zones[i].done()
	}
	r.vote(i, err)
	w.settle(r)
}

// settle counts a frame as under-replicated, where it is, once all zones have voted. The caller holds mu.
func (w *writer) settle(r *round) {
	if r.kind == opWrite && r.acked && r.tally.Complete() && r.tally.Copies() < len(w.zones) {
		w.bucket.underReplicated.Add(1)
	}
}

// await waits for the verdict on r, or for the end of ctx. What zones still do for r goes on without it.
func (w *writer) await(ctx context.Context, r *round) error {
	select {
	case <-r.decided:
	case <-ctx.Done():
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	verdict := r.tally.Verdict()
	r.over = true
	w.back = time.Now()
	for i := range w.zones {
		zw := &w.zones[i]
		if reason := r.spare[i]; reason != "" && verdict == Committed {
			err := fmt.Errorf("zone %s: left out of %s: %s", zw.zone.name, r.what, reason)
			zw.leave(reason, err)
			r.vote(i, err)
		}
		if o := r.ops[i]; o != nil && !o.leave() {
			zw.leave(reasonLateBytes, fmt.Errorf("zone %s: left %s: too far behind", zw.zone.name, w.name))
		}
	}
	switch verdict {
	case Committed:
		r.acked = true
		w.settle(r)
		return nil
	case Lost:
		return r.lost()
	}
	return r.unfinished(ctx.Err())
}

// Close implements backends.Writer. The zones' writers are closed in the background, each within ZoneTimeout once its
// zone is done with the last append.
func (w *writer) Close(context.Context) error {
	w.finish()
	return nil
}

// finish ends the object: no zone gets any more of it.
func (w *writer) finish() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	for i := range w.zones {
		w.zones[i].release()
	}
	if w.running == 0 {
		w.bucket.writers.remove(w)
	}
}

// wait waits until done, which is called with mu held after every change of a zone's state, or until ctx ends.
func (w *writer) wait(ctx context.Context, done func() bool) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for !done() {
		if w.changed == nil {
			w.changed = make(chan struct{})
		}
		changed := w.changed
		w.mu.Unlock()
		select {
		case <-changed:
			w.mu.Lock()
		case <-ctx.Done():
			w.mu.Lock()
			return ctx.Err()
		}
	}
	return nil
}

// wake wakes those who wait for a change of a zone's state. The caller holds mu.
func (w *writer) wake() {
	if w.changed != nil {
		close(w.changed)
		w.changed = nil
	}
}
