package combine

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/walbridge/walbridge/server/frame"
)

// frameSpan is the span of a frame; it does nothing where none of its copies is traced.
type frameSpan struct{ trace.Span }

// traceFrame begins the span of batch's frame. A frame has many copies and a span has one parent: that is the first
// copy that is traced, and the others are linked, both ways. What zones do with the ctx it returns is below the frame.
func traceFrame(ctx context.Context, batch []*request) (context.Context, frameSpan) {
	var copies []trace.Span
	for _, r := range batch {
		if s := trace.SpanFromContext(r.ctx); s.IsRecording() {
			copies = append(copies, s)
		}
	}
	if len(copies) == 0 {
		return ctx, frameSpan{trace.SpanFromContext(ctx)}
	}
	tracer := copies[0].TracerProvider().Tracer("github.com/walbridge/walbridge/server/combine")
	ctx, span := tracer.Start(trace.ContextWithSpan(ctx, copies[0]), "combine.frame",
		trace.WithAttributes(attribute.Int("walbridge.copies", len(batch))))
	for _, c := range copies[1:] {
		span.AddLink(trace.Link{SpanContext: c.SpanContext()})
		c.AddLink(trace.Link{SpanContext: span.SpanContext()})
	}
	return ctx, frameSpan{span}
}

// stored notes where the frame lies.
func (s frameSpan) stored(cluster string, x frame.Extent) {
	if s.IsRecording() {
		s.SetAttributes(attribute.String("walbridge.object", x.Object.Name(cluster)),
			attribute.Int64("walbridge.position", x.Position), attribute.Int64("walbridge.bytes", int64(x.Length)))
	}
}

func (s frameSpan) failed(err error) { s.SetStatus(codes.Error, err.Error()) }
