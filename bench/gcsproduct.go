package main

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/walbridge/walbridge/backends"
	"github.com/walbridge/walbridge/backends/gcs"
	"github.com/walbridge/walbridge/backends/gcs/gcstest"
	"github.com/walbridge/walbridge/pool"
	framev1 "github.com/walbridge/walbridge/proto/walbridge/frame/v1"
	"github.com/walbridge/walbridge/server/combine"
	"github.com/walbridge/walbridge/server/frame"
)

// gcsProduct is the product's write path in this process: copies, frames, pooled writers, one zone, no linger.
type gcsProduct struct {
	*combine.Combiner
	bucket   *gcs.Bucket
	identity frame.Identity
	stop     func() error
}

var gcsIncarnation atomic.Uint32

// startGCSProduct has so many frames written to one object.
func startGCSProduct(ctx context.Context, address string, appends int) (*gcsProduct, error) {
	b, err := openGCS(ctx, address)
	if err != nil {
		return nil, err
	}
	identity := frame.Identity{ClusterID: clusterID, BrokerID: brokerID, Incarnation: gcsIncarnation.Add(1)}
	opener := &combine.Opener{Bucket: b, Identity: identity, Logger: slog.New(slog.DiscardHandler)}
	queue := pool.New(pool.Options[combine.Object]{Load: opener.Open, Discard: opener.Discard, MinDepth: 16})
	c, err := combine.New(combine.Options{
		Identity: identity, Objects: queue, Caps: b.Caps(), Rotation: combine.Rotation{Appends: appends, Bytes: 1 << 30},
	})
	if err != nil {
		return nil, errors.Join(err, b.Close())
	}
	combining, endCombine := context.WithCancel(ctx)
	pooling, endPool := context.WithCancel(ctx)
	var combiner, pooled sync.WaitGroup
	combiner.Go(func() { c.Run(combining) })
	pooled.Go(func() { queue.Run(pooling) })
	return &gcsProduct{Combiner: c, bucket: b, identity: identity, stop: func() error {
		endCombine()
		combiner.Wait()
		endPool()
		pooled.Wait()
		return b.Close()
	}}, nil
}

func openGCS(ctx context.Context, address string) (*gcs.Bucket, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	return gcs.Open(ctx, gcs.Options{Bucket: gcsBucket, Mode: gcs.Zonal, ClientOptions: gcstest.ClientOptions(address)})
}

// copies makes p durable n times, one after the other.
func (g *gcsProduct) copies(ctx context.Context, p []byte, n int) ([]float64, error) {
	sections := gcsSections(p)
	return timed(n, func(int) error {
		_, err := g.Copy(ctx, sections, 0)
		return err
	})
}

// objects counts what this product has stored, when it was stopped.
func (g *gcsProduct) objects(ctx context.Context, address string) (n int, err error) {
	b, err := openGCS(ctx, address)
	if err != nil {
		return 0, err
	}
	for _, err := range b.List(ctx, frame.IncarnationDir(clusterID, brokerID, g.identity.Incarnation)) {
		if err != nil {
			return 0, errors.Join(err, b.Close())
		}
		n++
	}
	return n, b.Close()
}

func gcsSections(p []byte) []frame.Section {
	id := []byte("0123456789abcdef")
	return []frame.Section{{
		Entry: &framev1.Entry{
			TopicId: id, Topic: "bench", SegmentId: id, Length: uint32(len(p)), Crc32C: backends.Checksum(p),
		},
		Chunks: [][]byte{p},
	}}
}
