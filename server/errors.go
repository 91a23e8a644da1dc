package server

import (
	"context"
	"errors"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/walbridge/walbridge/backends"
	"github.com/walbridge/walbridge/server/combine"
	"github.com/walbridge/walbridge/server/fetch"
	"github.com/walbridge/walbridge/server/frame"
	"github.com/walbridge/walbridge/server/source"
)

// Domain is the domain of the google.rpc.ErrorInfo that every error of the service carries.
const Domain = "walbridge"

// What the service itself finds.
var (
	errInvalid  = errors.New("invalid request")
	errIdentity = errors.New("wrong cluster or broker")
	errFull     = errors.New("too many bytes in flight")
)

// mapping is the one place where errors become gRPC codes; java-shim's StatusMapping is its other half. The first match
// counts. What is not here is UNAVAILABLE: the outcome is unknown.
var mapping = []struct {
	is     error
	code   codes.Code
	reason string
}{
	{errInvalid, codes.InvalidArgument, "INVALID"},
	{source.ErrSource, codes.FailedPrecondition, "SOURCE"},
	{errIdentity, codes.FailedPrecondition, "IDENTITY"},
	{errFull, codes.ResourceExhausted, "FULL"},
	{fetch.ErrFull, codes.ResourceExhausted, "FULL"},
	{combine.ErrFull, codes.ResourceExhausted, "FULL"},
	{combine.ErrClosed, codes.Unavailable, "UNAVAILABLE"},
	{context.DeadlineExceeded, codes.DeadlineExceeded, "UNAVAILABLE"},
	{context.Canceled, codes.Canceled, "UNAVAILABLE"},
	{fetch.ErrInvalid, codes.InvalidArgument, "INVALID"},
	{backends.ErrChecksum, codes.DataLoss, "CHECKSUM"},
	{backends.ErrNotFound, codes.NotFound, "NOT_FOUND"},
	{backends.ErrRange, codes.OutOfRange, "RANGE"},
	{backends.ErrFenced, codes.FailedPrecondition, "FENCED"},
	{backends.ErrDenied, codes.PermissionDenied, "DENIED"},
	{backends.ErrThrottled, codes.ResourceExhausted, "THROTTLED"},
	{backends.ErrTooLarge, codes.InvalidArgument, "INVALID"},
}

// toStatus turns err into what the client gets: the mapped code, the whole message, the reason.
func toStatus(err error) error {
	if err == nil {
		return nil
	}
	if _, ok := status.FromError(err); ok {
		return err
	}
	code, reason := codes.Unavailable, "UNAVAILABLE"
	var corrupt *frame.CorruptError
	if errors.As(err, &corrupt) {
		code, reason = codes.DataLoss, "CHECKSUM"
	} else {
		for _, m := range mapping {
			if errors.Is(err, m.is) {
				code, reason = m.code, m.reason
				break
			}
		}
	}
	st, detailsErr := status.New(code, err.Error()).WithDetails(&errdetails.ErrorInfo{Domain: Domain, Reason: reason})
	if detailsErr != nil {
		return status.Error(code, err.Error())
	}
	return st.Err()
}
