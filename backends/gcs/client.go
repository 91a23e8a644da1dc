package gcs

import (
	"context"
	"time"

	"cloud.google.com/go/storage"
	"github.com/googleapis/gax-go/v2"
	"google.golang.org/api/option"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

const (
	// streamsPerConn is half of what a connection takes: streams are spread over the connections in turn, however long
	// they last, and one connection must not run full while others are free.
	streamsPerConn = 50

	// The SDK waits a second before its first retry, then ever longer, and never gives up. What a few attempts within
	// milliseconds do not pass is an outage, and is for those who have another zone.
	maxAttempts  = 4
	firstBackoff = 2 * time.Millisecond
)

// newClient returns a client with connections for so many streams. Its own metrics, which go to Cloud Monitoring, are
// off: the daemon has metrics of every zone.
func newClient(ctx context.Context, o Options, streams int, more ...option.ClientOption) (*storage.Client, error) {
	opts := append([]option.ClientOption{
		option.WithGRPCConnectionPool((streams + streamsPerConn - 1) / streamsPerConn),
		storage.WithDisabledClientMetrics(),
	}, more...)
	c, err := storage.NewGRPCClient(ctx, append(opts, o.ClientOptions...)...)
	if err != nil {
		return nil, err
	}
	c.SetRetry(
		storage.WithBackoff(gax.Backoff{Initial: firstBackoff, Multiplier: 2}),
		storage.WithMaxAttempts(maxAttempts),
		storage.WithErrorFunc(retryable),
	)
	return c, nil
}

// retryable leaves it to the caller to wait where we are throttled: whoever knows that it is, slows down.
func retryable(err error) bool {
	return storage.ShouldRetry(err) && status.Code(err) != codes.ResourceExhausted
}

// slots bounds what is under way.
type slots chan struct{}

func (s slots) acquire(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case s <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s slots) release() { <-s }
