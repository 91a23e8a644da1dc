package s3

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/walbridge/walbridge/backends"
)

// answered is an error as the SDK makes it of an answer; code is "" where the answer has no body.
func answered(status int, code string) error {
	var err error = errors.New("no body")
	if code != "" {
		err = &smithy.GenericAPIError{Code: code, Message: "said the store"}
	}
	return &awshttp.ResponseError{ResponseError: &smithyhttp.ResponseError{
		Response: &smithyhttp.Response{Response: &http.Response{StatusCode: status, Header: http.Header{}}}, Err: err,
	}}
}

func TestJudgeAndClassify(t *testing.T) {
	for _, tc := range []struct {
		name     string
		err      error
		plain    verdict
		express  verdict
		sentinel error
	}{
		{"slow down", answered(503, "SlowDown"), slower, slower, backends.ErrThrottled},
		{"503 of a HEAD", answered(503, ""), slower, slower, backends.ErrThrottled},
		{"429", answered(429, ""), slower, slower, backends.ErrThrottled},
		{"internal error", answered(500, "InternalError"), again, again, nil},
		{"bad gateway", answered(502, ""), again, again, nil},
		{"gateway timeout", answered(504, ""), again, again, nil},
		{"slow body", answered(400, "RequestTimeout"), again, again, nil},
		{"cut body", answered(400, "IncompleteBody"), again, again, nil},
		{"conditional conflict", answered(409, "ConditionalRequestConflict"), again, again, nil},
		{"aborted", answered(409, "OperationAborted"), again, again, nil},
		{"409 of a HEAD", answered(409, "Conflict"), again, again, nil},
		{"400 of a HEAD", answered(400, "BadRequest"), renew, renew, nil},
		{"exists", answered(412, "PreconditionFailed"), final, final, backends.ErrExists},
		{"no key", answered(404, "NoSuchKey"), final, final, backends.ErrNotFound},
		{"404 of a HEAD", answered(404, ""), final, final, backends.ErrNotFound},
		{"no bucket", answered(404, "NoSuchBucket"), final, final, nil},
		{"range", answered(416, "InvalidRange"), final, final, backends.ErrRange},
		{"digest", answered(400, "BadDigest"), final, final, backends.ErrChecksum},
		{"denied", answered(403, "AccessDenied"), final, renew, backends.ErrDenied},
		{"403 of a HEAD", answered(403, ""), final, renew, backends.ErrDenied},
		{"expired", answered(400, "ExpiredToken"), renew, renew, backends.ErrDenied},
		{"rotated", answered(403, "InvalidAccessKeyId"), renew, renew, backends.ErrDenied},
		{"skewed", answered(403, "RequestTimeTooSkewed"), final, renew, backends.ErrDenied},
		{"not implemented", answered(501, "NotImplemented"), final, final, nil},
		{"moved", answered(301, "PermanentRedirect"), final, final, nil},
		{"connection", &smithyhttp.RequestSendError{Err: errors.New("refused")}, again, again, nil},
		{"garbled", &smithy.DeserializationError{Err: errors.New("EOF")}, again, again, nil},
		{"cut off", io.ErrUnexpectedEOF, again, again, nil},
		{"attempt's deadline", context.DeadlineExceeded, again, again, nil},
		{"a mistake of ours", errors.New("bad parameter"), final, final, nil},
		{"out of range", backends.ErrRange, final, final, backends.ErrRange},
	} {
		if got := judge(tc.err, false); got != tc.plain {
			t.Errorf("%s: verdict %d, want %d", tc.name, got, tc.plain)
		}
		if got := judge(tc.err, true); got != tc.express {
			t.Errorf("%s, with a directory bucket: verdict %d, want %d", tc.name, got, tc.express)
		}
		err := classify(tc.err)
		if !errors.Is(err, tc.err) || !errors.Is(classify(err), tc.err) {
			t.Errorf("%s: the chain is broken: %v", tc.name, err)
		}
		for _, sentinel := range []error{
			backends.ErrExists, backends.ErrNotFound, backends.ErrRange, backends.ErrChecksum, backends.ErrThrottled,
			backends.ErrDenied, backends.ErrFenced, backends.ErrName,
		} {
			if errors.Is(err, sentinel) != (sentinel == tc.sentinel) {
				t.Errorf("%s: %v, want sentinel %v only", tc.name, err, tc.sentinel)
			}
		}
	}
}

func TestWrongRegionIsSaid(t *testing.T) {
	err := answered(301, "PermanentRedirect")
	r, _ := errors.AsType[*awshttp.ResponseError](err)
	r.Response.Header.Set("X-Amz-Bucket-Region", "eu-west-1")
	if got := elsewhere(err); got != "eu-west-1" {
		t.Errorf("got %q", got)
	}
}

// trying runs a test of do in virtual time, with credentials that are always there.
func trying(t *testing.T, test func(t *testing.T, b *Bucket)) {
	synctest.Test(t, func(t *testing.T) {
		s := &source{lifetime: time.Hour}
		b := &Bucket{clock: newClock(), credentials: newKeeper("session", s.fetch, slog.New(slog.DiscardHandler))}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go b.credentials.run(ctx)
		if _, err := b.credentials.Retrieve(ctx); err != nil {
			t.Fatal(err)
		}
		test(t, b)
	})
}

// Whatever the failures, an operation ends with its ctx, has more than one attempt, and asks a store that wants to be
// left alone less often.
func TestDoUntilTheDeadline(t *testing.T) {
	for name, tc := range map[string]struct {
		op          func(context.Context) error
		least, most int
	}{
		"fails":     {func(context.Context) error { return answered(500, "InternalError") }, 6, 14},
		"throttles": {func(context.Context) error { return answered(503, "SlowDown") }, 4, 9},
		"hangs":     {func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }, 2, 2},
	} {
		t.Run(name, func(t *testing.T) {
			trying(t, func(t *testing.T, b *Bucket) {
				ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
				defer cancel()
				start, n := time.Now(), 0
				err := b.do(ctx, func(ctx context.Context) error { n++; return tc.op(ctx) })
				if err == nil || time.Since(start) > 2*time.Second {
					t.Errorf("%v after %v", err, time.Since(start))
				}
				if n < tc.least || n > tc.most {
					t.Errorf("%d attempts, want %d to %d", n, tc.least, tc.most)
				}
			})
		})
	}
}

func TestDoWithoutDeadline(t *testing.T) {
	trying(t, func(t *testing.T, b *Bucket) {
		start := time.Now()
		err := b.do(t.Context(), func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() })
		if err == nil || time.Since(start) > patience {
			t.Errorf("%v after %v", err, time.Since(start))
		}
	})
}

func TestDoFinal(t *testing.T) {
	trying(t, func(t *testing.T, b *Bucket) {
		n := 0
		err := b.do(t.Context(), func(context.Context) error { n++; return answered(403, "AccessDenied") })
		if !errors.Is(err, backends.ErrDenied) || n != 1 {
			t.Errorf("%d attempts, %v", n, err)
		}
	})
}

// Refused credentials are renewed once for an operation, and it is tried with the new ones.
func TestDoRenews(t *testing.T) {
	trying(t, func(t *testing.T, b *Bucket) {
		var keys []string
		op := func(context.Context) error {
			c, err := b.credentials.Retrieve(t.Context())
			keys = append(keys, c.AccessKeyID)
			if err != nil || c.AccessKeyID == "key1" {
				return answered(400, "ExpiredToken")
			}
			return nil
		}
		if err := b.do(t.Context(), op); err != nil || len(keys) != 2 {
			t.Errorf("attempts with %q, %v", keys, err)
		}
		keys = nil
		err := b.do(t.Context(), func(context.Context) error {
			keys = append(keys, "")
			return answered(400, "ExpiredToken")
		})
		if !errors.Is(err, backends.ErrDenied) || len(keys) != 2 {
			t.Errorf("%d attempts, %v", len(keys), err)
		}
	})
}

// The caller's own end shows in the error, and what failed before it.
func TestDoCanceled(t *testing.T) {
	trying(t, func(t *testing.T, b *Bucket) {
		ctx, cancel := context.WithCancel(t.Context())
		err := b.do(ctx, func(context.Context) error { cancel(); return answered(500, "InternalError") })
		if !errors.Is(err, context.Canceled) || code(err) != "InternalError" {
			t.Errorf("got %v", err)
		}
	})
}

var _ aws.CredentialsProvider = (*keeper)(nil)
