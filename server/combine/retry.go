package combine

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/walbridge/walbridge/backends"
	"github.com/walbridge/walbridge/pool"
	"github.com/walbridge/walbridge/server/frame"
)

// shortestAttempt is the least time that an append gets where it has it: an attempt that cannot succeed is worse than
// none that follows.
const shortestAttempt = 100 * time.Millisecond

// attemptTime returns how long an append may take where the frame's callers have left so much time: half of it, so that
// another one is possible, at most limit.
func attemptTime(left, limit time.Duration) time.Duration {
	return min(limit, max(left/2, min(left, shortestAttempt)))
}

// final are the errors that no further attempt passes: they depend on who we are or on the frame, not on the moment or
// the object. A quorum has them only where they hold for it.
var final = []error{
	backends.ErrFenced, backends.ErrDenied, backends.ErrTooLarge, backends.ErrName, pool.ErrClosed,
}

// retryable tells whether another attempt to append f makes sense after err.
func retryable(err error, f *frame.Frame) bool {
	if errors.Is(err, backends.ErrChecksum) && backends.Checksum(f.Bytes) != f.CRC32C {
		return false // The bytes were damaged here, not on their way.
	}
	return !slices.ContainsFunc(final, func(is error) bool { return errors.Is(err, is) })
}

// backoff returns how long to wait after so many failed attempts, where jitter is in [0, 1). A store that asks for less
// gets it.
func backoff(attempts int, err error, jitter float64) time.Duration {
	first, longest := 5*time.Millisecond, 500*time.Millisecond
	if errors.Is(err, backends.ErrThrottled) {
		first = 100 * time.Millisecond
	}
	d := longest
	if attempts < 8 {
		d = min(first<<(attempts-1), longest)
	}
	return d/2 + time.Duration(jitter*float64(d/2))
}

// reason names err in metrics.
func reason(err error) string {
	for _, r := range []struct {
		is   error
		name string
	}{
		{backends.ErrFenced, "fenced"},
		{backends.ErrDenied, "denied"},
		{backends.ErrThrottled, "throttled"},
		{backends.ErrChecksum, "checksum"},
		{backends.ErrExists, "exists"},
		{context.DeadlineExceeded, "timeout"},
		{context.Canceled, "canceled"},
	} {
		if errors.Is(err, r.is) {
			return r.name
		}
	}
	return "unavailable"
}
