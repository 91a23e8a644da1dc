package gcs

import (
	"context"
	"fmt"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/walbridge/walbridge/backends"
)

// fail says what was done to which object, and adds the contract's sentinel.
func (b *Bucket) fail(ctx context.Context, op, name string, err error) error {
	return fmt.Errorf("gcs: %s gs://%s/%s: %w", op, b.opts.Bucket, b.object(name), known(ctx, err))
}

// known adds to err the contract's word for it, where there is one.
//
// ErrFenced is not among them. What the service says to a writer whose object was taken over is not documented, and it
// says ABORTED for much else; a caller that takes another object is right in every case.
func known(ctx context.Context, err error) error {
	if ctxErr := ctx.Err(); ctxErr != nil {
		// The SDK's error is of a context of its own then.
		return fmt.Errorf("%w: %w", ctxErr, err)
	}
	if sentinel := sentinel(err); sentinel != nil {
		return fmt.Errorf("%w: %w", sentinel, err)
	}
	return err
}

func sentinel(err error) error {
	switch status.Code(err) {
	case codes.NotFound:
		return backends.ErrNotFound
	case codes.OutOfRange:
		return backends.ErrRange
	case codes.ResourceExhausted:
		return backends.ErrThrottled
	case codes.PermissionDenied, codes.Unauthenticated:
		return backends.ErrDenied
	case codes.DeadlineExceeded:
		return context.DeadlineExceeded // The service's clock may run ahead of ctx's.
	case codes.DataLoss:
		return backends.ErrChecksum
	}
	if strings.Contains(err.Error(), "storage: bad CRC on") { // The SDK has no error value for it.
		return backends.ErrChecksum
	}
	return nil
}

// exists tells whether an object was not made because there is one of its name.
func exists(err error) bool {
	code := status.Code(err)
	return code == codes.FailedPrecondition || code == codes.AlreadyExists
}
