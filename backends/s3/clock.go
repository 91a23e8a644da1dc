package s3

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
)

// skewTolerance is how far the clocks may differ before it is the reason for a refusal. The store takes 15 minutes.
const skewTolerance = 4 * time.Minute

// clock signs requests by the store's time once the store has refused one by ours. The SDK would do so, but not for
// requests that are signed with a session.
type clock struct {
	signer *v4.Signer
	ahead  atomic.Int64 // how far the store's time is ahead, a time.Duration
}

func newClock() *clock {
	return &clock{signer: v4.NewSigner(func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true })}
}

// SignHTTP implements the SDK's s3.HTTPSignerV4.
func (c *clock) SignHTTP(
	ctx context.Context, creds aws.Credentials, r *http.Request, payloadHash, service, region string, at time.Time,
	options ...func(*v4.SignerOptions),
) error {
	at = at.Add(time.Duration(c.ahead.Load()))
	return c.signer.SignHTTP(ctx, creds, r, payloadHash, service, region, at, options...)
}

// learn takes the store's time from the answer of a refused request, and tells whether that was what was wrong.
func (c *clock) learn(err error) bool {
	r, ok := errors.AsType[*awshttp.ResponseError](err)
	if !ok || r.HTTPStatusCode() != http.StatusForbidden {
		return false
	}
	at, err := http.ParseTime(r.Response.Header.Get("Date"))
	if err != nil {
		return false
	}
	ahead := time.Until(at)
	if (ahead - time.Duration(c.ahead.Load())).Abs() < skewTolerance {
		return false
	}
	c.ahead.Store(int64(ahead))
	return true
}
