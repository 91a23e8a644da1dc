package s3

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// createSession makes a session of the directory bucket; its credentials sign the requests for objects.
func (b *Bucket) createSession(ctx context.Context) (grant, error) {
	base, err := b.base.Retrieve(ctx)
	if err != nil {
		return grant{}, err
	}
	in := &s3.CreateSessionInput{Bucket: &b.options.Bucket}
	out, err := b.client.CreateSession(ctx, in)
	if b.clock.learn(err) {
		out, err = b.client.CreateSession(ctx, in)
	}
	if err != nil && judge(err, false) == renew {
		b.base.evict(base) // they were rotated
	}
	if err != nil {
		return grant{}, classify(err)
	}
	c := out.Credentials
	if c == nil || c.AccessKeyId == nil || c.SecretAccessKey == nil || c.SessionToken == nil || c.Expiration == nil {
		return grant{}, errors.New("the answer to CreateSession has no credentials")
	}
	// The expiry is by the store's clock, and so is counted from the time of the answer by the same clock.
	now, ok := awsmiddleware.GetServerTime(out.ResultMetadata)
	if !ok {
		now = time.Now()
	}
	lifetime := c.Expiration.Sub(now)
	if lifetime <= 0 {
		return grant{}, fmt.Errorf("the session expired at %v, before it was made at %v", *c.Expiration, now)
	}
	return grant{lifetime: lifetime, Credentials: aws.Credentials{
		AccessKeyID: *c.AccessKeyId, SecretAccessKey: *c.SecretAccessKey, SessionToken: *c.SessionToken,
		Source: "CreateSession",
	}}, nil
}

// sessionProvider is a Bucket as the SDK wants it, which has one provider for all buckets.
type sessionProvider Bucket

func (p *sessionProvider) Retrieve(ctx context.Context, _ string) (aws.Credentials, error) {
	return p.credentials.Retrieve(ctx)
}
