package s3

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/walbridge/walbridge/backends"
)

// errShort is a body that ended before its length.
var errShort = errors.New("the answer was cut off")

// verdict says what the failure of one attempt means for another one.
type verdict int

const (
	final  verdict = iota // another attempt would fail alike
	again                 // another attempt may succeed
	slower                // so it may, but the store wants fewer of them
	renew                 // with other credentials it may
)

// codes are what S3 answers where the status alone does not tell. A HEAD has no body and so no code.
var codes = map[string]verdict{
	"RequestTimeout":       again, // 400: the body came too slowly
	"IncompleteBody":       again, // 400
	"InternalError":        again,
	"SlowDown":             slower,
	"ServiceUnavailable":   slower,
	"ThrottlingException":  slower,
	"RequestLimitExceeded": slower,
	"ExpiredToken":         renew, // 400
	"InvalidToken":         renew,
	"TokenRefreshRequired": renew,
	"InvalidAccessKeyId":   renew, // 403: keys that were rotated
	"RequestExpired":       renew,
	"BadRequest":           renew, // 400 of a HEAD, which says so of an expired token too
}

var statuses = map[int]verdict{
	http.StatusRequestTimeout:      again,
	http.StatusConflict:            again, // another conditional write of the key is under way
	http.StatusTooManyRequests:     slower,
	http.StatusInternalServerError: again,
	http.StatusBadGateway:          again,
	http.StatusServiceUnavailable:  slower,
	http.StatusGatewayTimeout:      again,
	http.StatusUnauthorized:        renew,
}

// judge decides on another attempt. With a directory bucket whatever is refused is refused to a session, which a new
// one may not be; elsewhere a permission that is missing must not cost the credentials that other requests go with.
func judge(err error, express bool) verdict {
	if v, ok := codes[code(err)]; ok {
		return v
	}
	s := status(err)
	if express && s == http.StatusForbidden {
		return renew
	}
	if s >= http.StatusBadRequest {
		return statuses[s] // final where it has none
	}
	_, sending := errors.AsType[*smithyhttp.RequestSendError](err)
	_, garbled := errors.AsType[*smithy.DeserializationError](err)
	_, network := errors.AsType[net.Error](err)
	lost := errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, errShort) || errors.Is(err, context.DeadlineExceeded)
	if sending || garbled || network || lost {
		return again
	}
	return final
}

// The contract's words for what S3 answers: by code, and for the rest by status.
var sentinelCodes = map[string]error{
	"NoSuchBucket":                nil, // 404, and yet it says nothing about an object
	"BadDigest":                   backends.ErrChecksum,
	"InvalidDigest":               backends.ErrChecksum,
	"XAmzContentChecksumMismatch": backends.ErrChecksum,
	"AccessDenied":                backends.ErrDenied,
	"ExpiredToken":                backends.ErrDenied,
	"InvalidToken":                backends.ErrDenied,
	"TokenRefreshRequired":        backends.ErrDenied,
	"SlowDown":                    backends.ErrThrottled,
}

var sentinelStatuses = map[int]error{
	http.StatusUnauthorized:                 backends.ErrDenied,
	http.StatusForbidden:                    backends.ErrDenied,
	http.StatusNotFound:                     backends.ErrNotFound,
	http.StatusPreconditionFailed:           backends.ErrExists,
	http.StatusRequestedRangeNotSatisfiable: backends.ErrRange,
	http.StatusTooManyRequests:              backends.ErrThrottled,
	http.StatusServiceUnavailable:           backends.ErrThrottled,
}

// classify adds the contract's sentinel to an error of the SDK, and the region where that is what is wrong.
func classify(err error) error {
	if err == nil {
		return nil
	}
	sentinel, ok := sentinelCodes[code(err)]
	if !ok {
		sentinel = sentinelStatuses[status(err)]
	}
	api, ok := errors.AsType[smithy.APIError](err)
	if ok && strings.Contains(api.ErrorMessage(), "x-amz-checksum-") {
		sentinel = backends.ErrChecksum // it is well-formed, so what is wrong with it is that it does not match
	}
	if region := elsewhere(err); region != "" {
		err = fmt.Errorf("the bucket is in region %s: %w", region, err)
	}
	if sentinel == nil || errors.Is(err, sentinel) {
		return err
	}
	return fmt.Errorf("%w: %w", sentinel, err)
}

// status is the answer's status, or 0 where there was none.
func status(err error) int {
	if r, ok := errors.AsType[*awshttp.ResponseError](err); ok {
		return r.HTTPStatusCode()
	}
	return 0
}

// code is S3's own word in an answer.
func code(err error) string {
	if api, ok := errors.AsType[smithy.APIError](err); ok {
		return api.ErrorCode()
	}
	return ""
}

// elsewhere returns the region that the bucket is in, where it was asked for in another one.
func elsewhere(err error) string {
	r, ok := errors.AsType[*awshttp.ResponseError](err)
	if !ok || r.Response == nil {
		return ""
	}
	switch r.HTTPStatusCode() {
	case http.StatusMovedPermanently, http.StatusTemporaryRedirect, http.StatusBadRequest:
		return r.Response.Header.Get("X-Amz-Bucket-Region")
	}
	return ""
}

// fail says what could not be done with which object; name is "" for the bucket itself.
func (b *Bucket) fail(op, name string, err error) error {
	where := "s3://" + b.options.Bucket
	if key := b.key(name); key != "" {
		where += "/" + key
	}
	return fmt.Errorf("s3: %s %s: %w", op, where, err)
}
