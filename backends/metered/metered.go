// Package metered is a decorator that counts what a zone's store is asked for, how long it takes, and what comes of it.
//
//	walbridge_backends_operation_seconds{zone,op,result}  histogram
//	walbridge_backends_operations_in_flight{zone,op}      gauge; what a hung zone shows first
//	walbridge_backends_appended_bytes_total{zone}         bytes of Appends that succeeded
//	walbridge_backends_read_bytes_total{zone}             bytes of ReadAts that succeeded
//	walbridge_backends_listed_objects_total{zone}         objects that Lists yielded
//	walbridge_backends_deleted_objects_total{zone}        names whose absence Deletes confirmed
//
// op is create, append, close, read, list or delete. result is ok, or what went wrong: exists, not_found, range,
// checksum, throttled, denied or fenced after the sentinels of package backends, timeout, canceled, or error.
package metered

import (
	"context"
	"iter"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/walbridge/walbridge/backends"
)

// Wrap returns b, counted in reg under the zone's name. Many zones may share reg; where reg has metrics of these names
// and other labels it panics, as prometheus.MustRegister does.
func Wrap(b backends.Bucket, zone string, reg prometheus.Registerer) backends.Bucket {
	return &bucket{b, newMetrics(reg).of(zone)}
}

// bucket implements backends.Bucket.
type bucket struct {
	inner backends.Bucket
	zone  zone
}

func (b *bucket) Create(ctx context.Context, name string) (backends.Writer, error) {
	done := b.zone.start("create")
	w, err := b.inner.Create(ctx, name)
	done(err)
	if err != nil {
		return nil, err
	}
	return &writer{w, b.zone}, nil
}

func (b *bucket) ReadAt(ctx context.Context, name string, p []byte, off int64) error {
	done := b.zone.start("read")
	err := b.inner.ReadAt(ctx, name, p, off)
	done(err)
	if err == nil {
		b.zone.read.Add(float64(len(p)))
	}
	return err
}

// List times the store and not what the caller does between two objects.
func (b *bucket) List(ctx context.Context, dir string) iter.Seq2[backends.Object, error] {
	return func(yield func(backends.Object, error) bool) {
		var failed error
		var outside time.Duration
		done := b.zone.startWithout("list", &outside)
		defer func() { done(failed) }()
		for o, err := range b.inner.List(ctx, dir) {
			if failed = err; err == nil {
				b.zone.listed.Inc()
			}
			left := time.Now()
			more := yield(o, err)
			outside += time.Since(left)
			if !more {
				return
			}
		}
	}
}

func (b *bucket) Delete(ctx context.Context, names []string) ([]string, error) {
	done := b.zone.start("delete")
	deleted, err := b.inner.Delete(ctx, names)
	done(err)
	b.zone.deleted.Add(float64(len(deleted)))
	return deleted, err
}

func (b *bucket) Caps() backends.Caps { return b.inner.Caps() }

func (b *bucket) Close() error { return b.inner.Close() }

// writer implements backends.Writer.
type writer struct {
	inner backends.Writer
	zone  zone
}

func (w *writer) Append(ctx context.Context, p []byte, crc uint32) error {
	done := w.zone.start("append")
	err := w.inner.Append(ctx, p, crc)
	done(err)
	if err == nil {
		w.zone.appended.Add(float64(len(p)))
	}
	return err
}

func (w *writer) Close(ctx context.Context) error {
	done := w.zone.start("close")
	err := w.inner.Close(ctx)
	done(err)
	return err
}
