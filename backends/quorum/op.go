package quorum

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/walbridge/walbridge/backends"
)

// opKind tells what the outcome of an op says of its zone.
type opKind int

const (
	// opSweep is a listing or a deletion: stores throttle these apart, so they count for nothing.
	opSweep opKind = iota
	// opRead counts against the zone where it fails, unless the zone asks for less.
	opRead
	// opOpen is an opening or a close. It counts against the zone where it fails; its success proves nothing, since some
	// stores open and close without asking anybody.
	opOpen
	// opWrite is an append or a probe. It counts against the zone where it fails, and proves it well where it succeeds.
	opWrite
)

// blames tells if the zone has failed that returns err, which is not nil.
func (k opKind) blames(err error) bool {
	switch k {
	case opSweep:
		return false
	case opRead:
		return !isAnswer(err) && !errors.Is(err, backends.ErrThrottled)
	}
	return !isAnswer(err)
}

// op is one call into a zone's store. Whoever makes the call does so between begin and end; the caller it is made for
// gets exactly one report, from end or, where the store does not answer in time, before it. So nobody waits for ever on
// a store that ignores its ctx: only the goroutine that called it does, and it is counted.
type op struct {
	zone    *zone
	kind    opKind
	what    string // "append x"
	bytes   int64  // what the store can see for as long as the op lasts
	timeout time.Duration
	report  func(error)

	// ctx ends with the timeout. It has the caller's values, such as its trace, and not its end: an op that its caller
	// left goes on.
	ctx      context.Context
	cancel   context.CancelFunc
	watchdog *time.Timer

	// Guarded by zone.mu.
	reported, ended, late, aborted bool
}

// begin starts an op, or refuses: a zone that has MaxOps operations under way gets no more.
func (z *zone) begin(ctx context.Context, kind opKind, what string, bytes int64, timeout time.Duration,
	report func(error),
) (*op, error) {
	z.mu.Lock()
	defer z.mu.Unlock()
	if !z.load.admits(z.opts.loadLimit()) {
		return nil, fmt.Errorf("zone %s: %s: %w (%d)", z.name, what, errBusy, z.load.ops)
	}
	z.load = z.load.begin()
	o := &op{zone: z, kind: kind, what: what, bytes: bytes, timeout: timeout, report: report}
	o.ctx, o.cancel = context.WithTimeout(context.WithoutCancel(ctx), timeout)
	o.watchdog = time.AfterFunc(timeout+z.opts.Grace, o.abandon)
	return o, nil
}

// abandon reports an op that the store has not answered in time, nor after its ctx ended.
func (o *op) abandon() {
	err := o.wrap(fmt.Errorf("%w after %v, unanswered", errTimeout, o.timeout))
	o.zone.mu.Lock()
	if o.ended {
		o.zone.mu.Unlock()
		return
	}
	o.reported = true
	o.zone.load = o.zone.load.stick()
	if o.kind.blames(err) {
		o.zone.failed(err)
	}
	o.zone.mu.Unlock()
	o.report(err)
}

// end takes the store's answer and reports it, with the zone's name, unless the op was abandoned before.
func (o *op) end(err error) {
	if err != nil && !isAnswer(err) && o.ctx.Err() == context.DeadlineExceeded {
		err = fmt.Errorf("%w after %v", errTimeout, o.timeout)
	}
	err = o.wrap(err)
	o.watchdog.Stop()
	o.cancel()
	o.zone.mu.Lock()
	o.ended = true
	reported := o.reported
	o.zone.load = o.zone.load.end(o.bytes, o.late, reported)
	switch {
	case reported: // It has failed already.
	case err != nil:
		if !o.aborted && o.kind.blames(err) {
			o.zone.failed(err)
		}
	case o.kind == opWrite:
		o.zone.succeeded()
	}
	o.zone.mu.Unlock()
	if !reported {
		o.report(err)
	}
}

// leave tells that the caller does not wait for the op any more, and lets it go on. Where the zone then holds more than
// MaxLateBytes the op is cancelled, and leave returns false. It does nothing where the op has ended.
func (o *op) leave() bool {
	o.zone.mu.Lock()
	defer o.zone.mu.Unlock()
	if o.ended || o.late {
		return true
	}
	fits := o.zone.load.holds(o.bytes, o.zone.opts.loadLimit())
	o.late = true
	o.zone.load = o.zone.load.leave(o.bytes)
	if !fits {
		o.aborted = true
		o.cancel()
	}
	return fits
}

// abort is leave for an op whose outcome is of no use: it is cancelled, which is no failure of the zone.
func (o *op) abort() {
	o.leave()
	o.zone.mu.Lock()
	defer o.zone.mu.Unlock()
	o.aborted = true
	o.cancel()
}

func (o *op) wrap(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("zone %s: %s: %w", o.zone.name, o.what, err)
}
