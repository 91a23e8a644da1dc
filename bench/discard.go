package main

import (
	"context"
	"iter"
	"math"
	"sync/atomic"
	"time"

	"github.com/walbridge/walbridge/backends"
)

// discard is a zone that checks what it gets and keeps nothing: what is measured through it is the daemon, not a store.
type discard struct {
	create, append time.Duration // how long each takes, the check included
	hang           *atomic.Bool  // while true nothing is answered before its deadline
	appends        atomic.Int64
	creates        atomic.Int64
	// appended is told what has been appended to which object, and how long that took, unless it is nil.
	appended func(object string, p []byte, took time.Duration)
}

func (d *discard) wait(ctx context.Context, t time.Duration) error {
	if d.hang != nil && d.hang.Load() {
		<-ctx.Done()
		return ctx.Err()
	}
	if t <= 0 {
		return nil
	}
	select {
	case <-time.After(t):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (d *discard) Create(ctx context.Context, name string) (backends.Writer, error) {
	d.creates.Add(1)
	if err := d.wait(ctx, d.create); err != nil {
		return nil, err
	}
	return discardWriter{d, name}, nil
}

func (d *discard) ReadAt(context.Context, string, []byte, int64) error { return backends.ErrNotFound }

func (d *discard) List(context.Context, string) iter.Seq2[backends.Object, error] {
	return func(func(backends.Object, error) bool) {}
}

func (d *discard) Delete(_ context.Context, names []string) ([]string, error) { return names, nil }

func (d *discard) Caps() backends.Caps { return backends.Caps{Appends: 1, MaxAppend: math.MaxInt32} }

func (d *discard) Close() error { return nil }

type discardWriter struct {
	d      *discard
	object string
}

func (w discardWriter) Append(ctx context.Context, p []byte, crc uint32) error {
	w.d.appends.Add(1)
	start := time.Now()
	if backends.Checksum(p) != crc {
		return backends.ErrChecksum
	}
	if err := w.d.wait(ctx, w.d.append); err != nil {
		return err
	}
	if w.d.appended != nil {
		w.d.appended(w.object, p, time.Since(start))
	}
	return nil
}

func (discardWriter) Close(context.Context) error { return nil }
