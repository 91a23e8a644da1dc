package main

import (
	"context"
	"fmt"
	"iter"
	"sync"

	"github.com/walbridge/walbridge/backends"
)

// lateZone is a zone that could not be opened at the start, because its file system was not mounted or its bucket not
// reachable. Every use tries to open it again, which is how the quorum's probes bring it back.
type lateZone struct {
	open func(context.Context) (backends.Bucket, error)
	caps backends.Caps

	mu     sync.Mutex
	bucket backends.Bucket
	closed bool
}

func (z *lateZone) get(ctx context.Context) (backends.Bucket, error) {
	z.mu.Lock()
	defer z.mu.Unlock()
	if z.closed {
		return nil, fmt.Errorf("zone: %w", backends.ErrClosed)
	}
	if z.bucket == nil {
		b, err := z.open(ctx)
		if err != nil {
			return nil, err
		}
		z.bucket = b
	}
	return z.bucket, nil
}

func (z *lateZone) Create(ctx context.Context, name string) (backends.Writer, error) {
	b, err := z.get(ctx)
	if err != nil {
		return nil, err
	}
	return b.Create(ctx, name)
}

func (z *lateZone) ReadAt(ctx context.Context, name string, p []byte, off int64) error {
	b, err := z.get(ctx)
	if err != nil {
		return err
	}
	return b.ReadAt(ctx, name, p, off)
}

func (z *lateZone) List(ctx context.Context, dir string) iter.Seq2[backends.Object, error] {
	b, err := z.get(ctx)
	if err != nil {
		return func(yield func(backends.Object, error) bool) { yield(backends.Object{}, err) }
	}
	return b.List(ctx, dir)
}

func (z *lateZone) Delete(ctx context.Context, names []string) ([]string, error) {
	b, err := z.get(ctx)
	if err != nil {
		return nil, err
	}
	return b.Delete(ctx, names)
}

// Caps do not change when the zone is opened: the quorum asks once.
func (z *lateZone) Caps() backends.Caps { return z.caps }

func (z *lateZone) Close() error {
	z.mu.Lock()
	defer z.mu.Unlock()
	z.closed = true
	if z.bucket == nil {
		return nil
	}
	return z.bucket.Close()
}
