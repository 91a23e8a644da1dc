package main

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"cloud.google.com/go/storage"
	"golang.org/x/sync/errgroup"
	"google.golang.org/api/option"

	"github.com/walbridge/walbridge/backends/gcs/gcstest"
)

// gcsBare is the blog's program, step by step: the SDK with nothing around it.
type gcsBare struct {
	client *storage.Client
	bucket *storage.BucketHandle
	serial atomic.Int64
}

func newGCSBare(ctx context.Context, address string) (*gcsBare, error) {
	opts := append(gcstest.ClientOptions(address), storage.WithAppendableUploads(), storage.WithDisabledClientMetrics(),
		option.WithGRPCConnectionPool(11)) // As many as the product has.
	client, err := storage.NewGRPCClient(ctx, opts...)
	if err != nil {
		return nil, err
	}
	return &gcsBare{client: client, bucket: client.Bucket(gcsBucket)}, nil
}

// writer makes a writer that has room for all of size. The SDK's default, 16 MiB for each, would be measured as well.
func (b *gcsBare) writer(ctx context.Context, size int) *storage.Writer {
	w := b.bucket.Object(fmt.Sprintf("bare/%d", b.serial.Add(1))).If(storage.Conditions{DoesNotExist: true}).NewWriter(ctx)
	w.ChunkSize = size + 256<<10
	return w
}

// naive creates, writes, finalizes.
func (b *gcsBare) naive(ctx context.Context, p []byte, n int) ([]float64, error) {
	return timed(n, func(int) error {
		w := b.writer(ctx, len(p))
		w.FinalizeOnClose = true
		if _, err := w.Write(p); err != nil {
			return err
		}
		return w.Close()
	})
}

// unfinalized creates, writes, closes.
func (b *gcsBare) unfinalized(ctx context.Context, p []byte, n int) ([]float64, error) {
	return timed(n, func(int) error {
		w := b.writer(ctx, len(p))
		if _, err := w.Write(p); err != nil {
			return err
		}
		return w.Close()
	})
}

// warmClose has created, and writes and closes.
func (b *gcsBare) warmClose(ctx context.Context, p []byte, n int) ([]float64, error) {
	writers, err := b.warm(ctx, len(p), n)
	if err != nil {
		return nil, err
	}
	return timed(n, func(i int) error {
		if _, err := writers[i].Write(p); err != nil {
			return err
		}
		return writers[i].Close()
	})
}

// warmFlush has created, and writes and flushes; it closes in the background.
func (b *gcsBare) warmFlush(ctx context.Context, p []byte, n int) ([]float64, error) {
	writers, err := b.warm(ctx, len(p), n)
	if err != nil {
		return nil, err
	}
	var closing sync.WaitGroup
	defer closing.Wait()
	return timed(n, func(i int) error {
		w := writers[i]
		defer closing.Go(func() { _ = w.Close() }) // The bytes are flushed.
		if _, err := w.Write(p); err != nil {
			return err
		}
		if off, err := w.Flush(); err != nil || off != int64(len(p)) {
			return fmt.Errorf("flushed %d of %d bytes: %w", off, len(p), err)
		}
		return nil
	})
}

// warm creates n objects and returns their writers.
func (b *gcsBare) warm(ctx context.Context, size, n int) ([]*storage.Writer, error) {
	writers := make([]*storage.Writer, n)
	var group errgroup.Group
	group.SetLimit(16)
	for i := range writers {
		writers[i] = b.writer(ctx, size)
		group.Go(func() error {
			_, err := writers[i].Flush()
			return err
		})
	}
	return writers, group.Wait()
}

// timed runs do n times, one after the other, and returns how many milliseconds each took.
func timed(n int, do func(i int) error) ([]float64, error) {
	times := make([]float64, n)
	for i := range n {
		start := time.Now()
		if err := do(i); err != nil {
			return nil, err
		}
		times[i] = millis(time.Since(start))
	}
	return times, nil
}
