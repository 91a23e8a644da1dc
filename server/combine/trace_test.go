package combine_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"go.opentelemetry.io/otel/codes"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/walbridge/walbridge/backends"
	"github.com/walbridge/walbridge/backends/faulty"
	"github.com/walbridge/walbridge/backends/mem"
	"github.com/walbridge/walbridge/server/combine"
	"github.com/walbridge/walbridge/server/frame"
)

// A frame's span is below its first traced copy, and the other traced copies are linked with it. One that is not traced
// is only counted.
func TestFrameSpan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		spans := tracetest.NewSpanRecorder()
		tracer := sdk.NewTracerProvider(sdk.WithSpanProcessor(spans)).Tracer("test")
		r := start(t, mem.New(mem.Options{}), combine.Options{Linger: ms, Lanes: 1})
		defer r.stop()
		copyAll := func(contexts ...context.Context) {
			var all sync.WaitGroup
			for i, ctx := range contexts {
				all.Go(func() { _, _ = r.Copy(ctx, []frame.Section{section(i, 50)}, 0) })
				synctest.Wait() // They come in this order.
			}
			all.Wait()
			synctest.Wait() // The lane ends the span after its answer.
		}
		frames := func() (found []sdk.ReadOnlySpan) {
			for _, s := range spans.Ended() {
				if s.Name() == "combine.frame" {
					found = append(found, s)
				}
			}
			return found
		}
		copyAll(t.Context())
		if n := len(spans.Ended()); n != 0 {
			t.Errorf("%d spans of a frame that nobody traces", n)
		}
		first, firstSpan := tracer.Start(t.Context(), "first")
		second, secondSpan := tracer.Start(t.Context(), "second")
		copyAll(t.Context(), first, second)
		secondSpan.End()
		f := frames()
		if len(f) != 1 || f[0].Parent().SpanID() != firstSpan.SpanContext().SpanID() || f[0].Status().Code == codes.Error {
			t.Fatalf("got %v, want one span below the first copy's", f)
		}
		linked := func(s sdk.ReadOnlySpan) (ids []string) {
			for _, l := range s.Links() {
				ids = append(ids, l.SpanContext.SpanID().String())
			}
			return ids
		}
		if got := linked(f[0]); !slices.Equal(got, []string{secondSpan.SpanContext().SpanID().String()}) {
			t.Errorf("the frame is linked to %q, want the second copy", got)
		}
		ended := spans.Ended()
		if got := linked(ended[len(ended)-1]); !slices.Equal(got, []string{f[0].SpanContext().SpanID().String()}) {
			t.Errorf("the second copy is linked to %q, want the frame", got)
		}
		r.plan.Set(faulty.Faults{Fail: 1, Err: backends.ErrDenied}, faulty.Append)
		copyAll(first)
		if f := frames(); len(f) != 2 || f[1].Status().Code != codes.Error {
			t.Errorf("the span of a frame that failed: %v", f)
		}
	})
}
