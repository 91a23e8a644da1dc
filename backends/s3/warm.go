package s3

import (
	"context"
	"sync"

	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// warmInterval is how often each kept connection is used; the servers close one that is idle for longer.
const warmInterval = idleTimeout / 3

// keepWarm keeps connections open, with TLS done, until ctx ends. Requests that are under way together have one each.
// It fails silently: what a zone cannot do shows in the requests that somebody waits for.
func (b *Bucket) keepWarm(ctx context.Context) {
	for ctx.Err() == nil {
		var group sync.WaitGroup
		for range b.options.WarmConnections {
			group.Go(func() {
				ctx, cancel := context.WithTimeout(ctx, warmInterval)
				defer cancel()
				_, _ = b.client.HeadBucket(ctx, &s3.HeadBucketInput{Bucket: &b.options.Bucket})
			})
		}
		group.Wait()
		pause(ctx, warmInterval)
	}
}
