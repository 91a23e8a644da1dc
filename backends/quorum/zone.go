package quorum

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/walbridge/walbridge/backends"
)

// zone is one store and what is known of it. Every call into the store is an op.
type zone struct {
	name    string
	bucket  backends.Bucket
	opts    *Options
	metrics *zoneMetrics
	// broke wakes the prober where the zone breaks.
	broke chan struct{}
	// running counts the goroutines that work for the zone, stuck ones too.
	running group

	mu          sync.Mutex
	breaker     breaker
	load        load
	lastErr     error // the last failure since the zone was last broken, if any
	lastErrTime time.Time
}

func newZone(z Zone, opts *Options, m *metrics) *zone {
	zone := &zone{name: z.Name, bucket: z.Bucket, opts: opts, broke: make(chan struct{}, 1)}
	zone.metrics = m.ofZone(zone)
	return zone
}

// Why a zone has no copy of an object, or not all of it.
const (
	reasonError     = "error"      // an operation failed
	reasonTimeout   = "timeout"    // an operation took too long
	reasonLag       = "lag"        // it was not done with the last frame when the next one came
	reasonDisagree  = "disagree"   // it holds something else than this writer left there
	reasonLateBytes = "late_bytes" // it is behind by MaxLateBytes
	reasonBusy      = "busy"       // it has MaxOps operations under way
	reasonBreaker   = "breaker"    // it is broken
)

var reasons = []string{
	reasonError, reasonTimeout, reasonLag, reasonDisagree, reasonLateBytes, reasonBusy, reasonBreaker,
}

var (
	errTimeout = errors.New("timeout")
	// errBusy is the error of an operation that is refused because MaxOps are under way.
	errBusy = errors.New("too many operations under way")
)

// reasonOf tells why a zone leaves an object after err.
func reasonOf(err error) string {
	switch {
	case errors.Is(err, errTimeout):
		return reasonTimeout
	case errors.Is(err, errBusy):
		return reasonBusy
	case isAnswer(err):
		return reasonDisagree
	}
	return reasonError
}

// answers are the errors that a zone which is well may return: they tell of an object, not of the zone.
var answers = []error{
	backends.ErrExists, backends.ErrNotFound, backends.ErrRange, backends.ErrChecksum, backends.ErrFenced,
	backends.ErrName, backends.ErrClosed, backends.ErrTooLarge, backends.ErrTooMany,
}

// isAnswer tells if err is one of the answers. Such an error does not count against the zone.
func isAnswer(err error) bool {
	return slices.ContainsFunc(answers, func(answer error) bool { return errors.Is(err, answer) })
}

// unfit returns why the zone should not be given n bytes to write, or "". A zone that is unfit is asked only where
// there is no quorum without it.
func (z *zone) unfit(n int64) string {
	z.mu.Lock()
	defer z.mu.Unlock()
	switch {
	case z.breaker.state(time.Now(), z.opts.breakerRule()) == open:
		return reasonBreaker
	case !z.load.holds(n, z.opts.loadLimit()):
		return reasonLateBytes
	case !z.load.admits(z.opts.loadLimit()):
		return reasonBusy
	}
	return ""
}

// broken tells if the zone failed too often and has not been seen well since.
func (z *zone) broken() bool {
	z.mu.Lock()
	defer z.mu.Unlock()
	return z.breaker.state(time.Now(), z.opts.breakerRule()) != closed
}

// failed counts a failure. The caller holds mu.
func (z *zone) failed(err error) {
	now, rule := time.Now(), z.opts.breakerRule()
	before := z.breaker.state(now, rule)
	z.breaker = z.breaker.failed(now, rule)
	z.lastErr, z.lastErrTime = err, now
	if before == closed && z.breaker.state(now, rule) != closed {
		z.opts.Logger.Warn("zone is down: it takes no part in writes until it answers", "zone", z.name, "err", err,
			"failures", z.breaker.failures)
		select {
		case z.broke <- struct{}{}:
		default:
		}
	}
}

// succeeded counts a write that succeeded. The caller holds mu.
func (z *zone) succeeded() {
	if z.breaker.state(time.Now(), z.opts.breakerRule()) != closed {
		z.opts.Logger.Info("zone is back", "zone", z.name)
		z.lastErr, z.lastErrTime = nil, time.Time{}
	}
	z.breaker = z.breaker.succeeded()
}

// status returns what Status tells of the zone.
func (z *zone) status() ZoneStatus {
	z.mu.Lock()
	defer z.mu.Unlock()
	return ZoneStatus{
		Name:          z.name,
		Down:          z.breaker.state(time.Now(), z.opts.breakerRule()) != closed,
		LastError:     z.lastErr,
		LastErrorTime: z.lastErrTime,
		LateOps:       z.load.late,
		LateBytes:     z.load.lateBytes,
		StuckOps:      z.load.stuck,
	}
}

// call does one thing in the zone and waits for its answer, for timeout, or for the end of ctx, which cancels it. f
// runs in a goroutine of its own and may outlive the call.
func (z *zone) call(ctx context.Context, kind opKind, what string, timeout time.Duration,
	f func(ctx context.Context) error,
) error {
	answer := make(chan error, 1)
	o, err := z.begin(ctx, kind, what, 0, timeout, func(err error) { answer <- err })
	if err != nil {
		return err
	}
	z.running.run(func() { o.end(f(o.ctx)) })
	select {
	case err := <-answer:
		return err
	case <-ctx.Done():
		o.abort()
		return fmt.Errorf("zone %s: %s: %w", z.name, what, ctx.Err())
	}
}
