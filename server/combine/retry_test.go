package combine

import (
	"errors"
	"testing"
	"time"

	"github.com/walbridge/walbridge/backends"
)

func TestAttemptTime(t *testing.T) {
	const limit = 3 * time.Second
	for left, want := range map[time.Duration]time.Duration{
		time.Minute:            limit,
		6 * time.Second:        limit,
		2 * time.Second:        time.Second,
		150 * time.Millisecond: shortestAttempt, // All but 50 ms: no second attempt would succeed in those.
		50 * time.Millisecond:  50 * time.Millisecond,
	} {
		if got := attemptTime(left, limit); got != want {
			t.Errorf("with %v left an attempt gets %v, want %v", left, got, want)
		}
	}
}

func TestBackoffIsBounded(t *testing.T) {
	other := errors.New("boom")
	for n := 1; n < 2000; n++ {
		low, high := backoff(n, other, 0), backoff(n, backends.ErrThrottled, 0.999)
		if low < 2*time.Millisecond || high > 500*time.Millisecond || low > high {
			t.Fatalf("after %d attempts %v to %v", n, low, high)
		}
	}
	if first, throttled := backoff(1, other, 0.999), backoff(1, backends.ErrThrottled, 0); throttled < 10*first {
		t.Errorf("a throttled first attempt waits %v, another one %v", throttled, first)
	}
}
