package quorum

import "time"

// breakerState tells if a zone takes part in writes.
type breakerState int

const (
	closed   breakerState = iota // the zone takes part
	open                         // it failed too often: it is left out
	halfOpen                     // it is time to try it again
)

// breaker is what is known of a zone's failures. It is a value and knows no clock: state decides from the time it is
// given.
type breaker struct {
	failures int       // since the last write that succeeded
	from     time.Time // when the interval began: the zone broke or, if later, was tried again
}

// breakerRule is when a zone is broken, and for how long it is left alone then.
type breakerRule struct {
	failures int
	interval time.Duration
}

func (b breaker) state(now time.Time, rule breakerRule) breakerState {
	switch {
	case b.failures < rule.failures:
		return closed
	case now.Sub(b.from) < rule.interval:
		return open
	}
	return halfOpen
}

// failed returns b after a failure. One that comes while the zone is open was under way when it broke: it tells nothing
// new and does not put off the next try.
func (b breaker) failed(now time.Time, rule breakerRule) breaker {
	if b.state(now, rule) != open {
		b.failures++
		b.from = now
	}
	return b
}

// leaveAloneFrom returns b with the interval, where the zone is broken, beginning at t.
func (b breaker) leaveAloneFrom(t time.Time) breaker {
	b.from = t
	return b
}

// succeeded returns b after a write that succeeded: one is proof enough.
func (b breaker) succeeded() breaker { return breaker{} }

// due is how long after now the broken zone may be tried.
func (b breaker) due(now time.Time, rule breakerRule) time.Duration {
	return b.from.Add(rule.interval).Sub(now)
}
