package metered

import (
	"context"
	"errors"

	"github.com/walbridge/walbridge/backends"
)

var results = []struct {
	err    error
	result string
}{
	{backends.ErrExists, "exists"},
	{backends.ErrNotFound, "not_found"},
	{backends.ErrRange, "range"},
	{backends.ErrChecksum, "checksum"},
	{backends.ErrThrottled, "throttled"},
	{backends.ErrDenied, "denied"},
	{backends.ErrFenced, "fenced"},
	{context.Canceled, "canceled"},
}

// result returns the label of an operation that ended with err. What the store said comes before the deadline that cut
// it short.
func result(err error) string {
	if err == nil {
		return "ok"
	}
	for _, r := range results {
		if errors.Is(err, r.err) {
			return r.result
		}
	}
	if timeout := (interface{ Timeout() bool })(nil); errors.As(err, &timeout) && timeout.Timeout() {
		return "timeout" // context's, and those of sockets and of clients' own deadlines
	}
	return "error"
}
