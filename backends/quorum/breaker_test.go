package quorum

import (
	"math/rand/v2"
	"testing"
	"time"
)

var rule = breakerRule{failures: 3, interval: time.Second}

func TestBreakerStates(t *testing.T) {
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	at := func(d time.Duration) time.Time { return start.Add(d) }
	var b breaker
	want := func(d time.Duration, state breakerState) {
		t.Helper()
		if got := b.state(at(d), rule); got != state {
			t.Fatalf("%v after the start: state %d, want %d", d, got, state)
		}
	}
	want(0, closed)
	b = b.failed(at(0), rule).failed(at(0), rule)
	want(0, closed)
	b = b.succeeded().failed(at(0), rule).failed(at(0), rule)
	want(0, closed) // the success in between counts
	b = b.failed(at(0), rule)
	want(0, open)
	want(999*time.Millisecond, open)
	b = b.failed(at(900*time.Millisecond), rule) // was under way
	want(time.Second, halfOpen)
	if due := b.due(at(900*time.Millisecond), rule); due != 100*time.Millisecond {
		t.Fatalf("due in %v, want 100 ms", due)
	}
	b = b.leaveAloneFrom(at(2 * time.Second))
	want(2*time.Second, open)
	want(3*time.Second, halfOpen)
	b = b.failed(at(3*time.Second), rule) // the try itself
	want(3*time.Second, open)
	want(4*time.Second, halfOpen)
	b = b.succeeded()
	want(4*time.Second, closed)
	want(time.Hour, closed)
}

// Whatever happens in whatever order: a breaker is closed exactly where fewer failures than the rule's were counted
// since the last success, open for no longer than the interval, and no failure while it is open prolongs that.
func TestBreakerRandom(t *testing.T) {
	seed := testSeed(t)
	r := rand.New(rand.NewPCG(seed, 0))
	now, since := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), 0
	var b breaker
	for range 100_000 {
		now = now.Add(time.Duration(r.Int64N(int64(rule.interval))))
		before := b.state(now, rule)
		switch r.IntN(8) {
		case 0:
			b, since = b.succeeded(), 0
		case 1:
			if before == halfOpen {
				b = b.leaveAloneFrom(now)
			}
		default:
			due := b.due(now, rule)
			b = b.failed(now, rule)
			since++
			if before == open && b.due(now, rule) != due {
				t.Fatal("a failure while the zone is open puts off the next try")
			}
		}
		state := b.state(now, rule)
		if (state == closed) != (since < rule.failures) {
			t.Fatalf("state %d after %d failures", state, since)
		}
		if state == open && b.due(now, rule) > rule.interval {
			t.Fatalf("open for another %v", b.due(now, rule))
		}
		if (state == halfOpen) != (since >= rule.failures && b.due(now, rule) <= 0) {
			t.Fatalf("state %d, due in %v", state, b.due(now, rule))
		}
	}
}
