package tracing

import (
	"context"
	"iter"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/walbridge/walbridge/backends"
)

// Wrap returns b with a span for everything that the zone is asked for, below the one that it is asked for, if there is
// one: of a frame's, for an append.
func (t *Tracer) Wrap(b backends.Bucket, zone string) backends.Bucket {
	return &bucket{
		Bucket: b, zone: zone, tracer: t.provider.Tracer("github.com/walbridge/walbridge/cmd/walbridge/tracing"),
	}
}

type bucket struct {
	backends.Bucket
	zone   string
	tracer trace.Tracer
}

// span begins a span; the function that it returns ends it with what came of it.
func (b *bucket) span(ctx context.Context, op, object string, more ...attribute.KeyValue) (context.Context, func(error)) {
	ctx, s := b.tracer.Start(ctx, "zone."+op, trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(
		append(more, attribute.String("walbridge.zone", b.zone), attribute.String("walbridge.object", object))...))
	return ctx, func(err error) {
		if err != nil {
			s.SetStatus(codes.Error, err.Error())
		}
		s.End()
	}
}

func (b *bucket) Create(ctx context.Context, name string) (backends.Writer, error) {
	spanned, end := b.span(ctx, "create", name)
	w, err := b.Bucket.Create(spanned, name)
	end(err)
	if err != nil {
		return nil, err
	}
	return &writer{Writer: w, bucket: b, name: name}, nil
}

func (b *bucket) ReadAt(ctx context.Context, name string, p []byte, off int64) error {
	ctx, end := b.span(ctx, "read", name, attribute.Int("walbridge.bytes", len(p)))
	err := b.Bucket.ReadAt(ctx, name, p, off)
	end(err)
	return err
}

func (b *bucket) List(ctx context.Context, dir string) iter.Seq2[backends.Object, error] {
	return func(yield func(backends.Object, error) bool) {
		spanned, end := b.span(ctx, "list", dir)
		var failed error
		defer func() { end(failed) }()
		for o, err := range b.Bucket.List(spanned, dir) {
			failed = err
			if !yield(o, err) {
				return
			}
		}
	}
}

func (b *bucket) Delete(ctx context.Context, names []string) ([]string, error) {
	ctx, end := b.span(ctx, "delete", "", attribute.Int("walbridge.objects", len(names)))
	deleted, err := b.Bucket.Delete(ctx, names)
	end(err)
	return deleted, err
}

type writer struct {
	backends.Writer
	bucket *bucket
	name   string
}

func (w *writer) Append(ctx context.Context, p []byte, crc uint32) error {
	ctx, end := w.bucket.span(ctx, "append", w.name, attribute.Int("walbridge.bytes", len(p)))
	err := w.Writer.Append(ctx, p, crc)
	end(err)
	return err
}
