package s3

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
)

const (
	// patience bounds an operation whose ctx has no deadline.
	patience = time.Minute

	shortestWait = 10 * time.Millisecond
	longestWait  = time.Second
	// slowDown is the first wait where the store asks for one.
	slowDown = 50 * time.Millisecond
)

// do calls op, one attempt of an operation, until it succeeds, fails in a way that another attempt cannot better, or
// leaves no time for another. It is the only place that retries. What op works with must stay as it is until do
// returns: an attempt that was given up has returned, though the store may still carry it out.
func (b *Bucket) do(ctx context.Context, op func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var renewed bool
	wait := shortestWait
	for first := true; ; first = false {
		c, err := b.attempt(ctx, first, op)
		if err == nil {
			return nil
		}
		verdict := judge(err, b.express)
		if b.clock.learn(err) {
			verdict = again
		}
		switch {
		case ctx.Err() != nil:
			return fmt.Errorf("%w; the last attempt: %w", ctx.Err(), classify(err))
		case verdict == renew && !renewed:
			renewed = true
			b.credentials.evict(c)
			continue
		case verdict == final || verdict == renew:
			return classify(err)
		case verdict == slower:
			wait = max(wait, slowDown)
		}
		// Half of it by chance, so that those who failed together do not come back together.
		pauseFor := wait/2 + rand.N(wait/2)
		if deadline, _ := ctx.Deadline(); time.Until(deadline) < pauseFor {
			return fmt.Errorf("no time for another attempt: %w", classify(err))
		}
		pause(ctx, pauseFor)
		wait = min(2*wait, longestWait)
	}
}

// attempt calls op and returns the credentials it went with. It asks for them itself, since the SDK drops the chain of
// an error that comes from there. The first attempt gets half of the time, so that one that hangs leaves as much to
// another; that one gets the rest, since a store that is slow is not helped by being asked more often.
func (b *Bucket) attempt(ctx context.Context, first bool, op func(context.Context) error) (aws.Credentials, error) {
	c, err := b.credentials.Retrieve(ctx)
	if err != nil {
		return c, err
	}
	if first {
		deadline, _ := ctx.Deadline()
		half, cancel := context.WithTimeout(ctx, time.Until(deadline)/2)
		defer cancel()
		ctx = half
	}
	return c, op(ctx)
}
