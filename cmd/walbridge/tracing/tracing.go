// Package tracing sends OpenTelemetry traces of requests and of what each zone does for them. It is off unless it is
// configured, and what cannot be sent is dropped: no request waits for it.
package tracing

import (
	"context"
	"fmt"
	"strings"
	"time"

	"go.opentelemetry.io/contrib/instrumentation/google.golang.org/grpc/otelgrpc"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"google.golang.org/grpc"
)

// Options say where traces go.
type Options struct {
	// Endpoint is http://host:port or https://host:port, of an OTLP collector over gRPC.
	Endpoint string
	// Headers are name=value pairs separated by commas.
	Headers string
	// Sample is the share of requests traced whose caller did not decide it.
	Sample float64
	// Version, Cluster and Broker name this daemon in its traces.
	Version, Cluster string
	Broker           int32
}

// Tracer makes traces. Close sends what it still has.
type Tracer struct {
	provider *sdk.TracerProvider
}

// New returns a Tracer. It does not wait for the collector, which need not be there yet.
func New(ctx context.Context, o Options) (*Tracer, error) {
	headers := map[string]string{}
	for pair := range strings.SplitSeq(o.Headers, ",") {
		if name, value, ok := strings.Cut(pair, "="); ok {
			headers[name] = value
		}
	}
	exporter, err := otlptracegrpc.New(ctx, otlptracegrpc.WithEndpointURL(o.Endpoint), otlptracegrpc.WithHeaders(headers),
		otlptracegrpc.WithTimeout(5*time.Second))
	if err != nil {
		return nil, fmt.Errorf("tracing.endpoint %s: %w", o.Endpoint, err)
	}
	return &Tracer{provider: sdk.NewTracerProvider(
		sdk.WithBatcher(exporter), // Its queue is bounded; it drops what does not fit.
		sdk.WithSampler(sdk.ParentBased(sdk.TraceIDRatioBased(o.Sample))),
		sdk.WithResource(resource.NewSchemaless(
			attribute.String("service.name", "walbridge"), attribute.String("service.version", o.Version),
			attribute.String("walbridge.cluster", o.Cluster), attribute.Int("walbridge.broker", int(o.Broker)))),
	)}, nil
}

// Server makes a span of every request, below the caller's own where it sent one (W3C traceparent).
func (t *Tracer) Server() grpc.ServerOption {
	return grpc.StatsHandler(otelgrpc.NewServerHandler(
		otelgrpc.WithTracerProvider(t.provider), otelgrpc.WithPropagators(propagation.TraceContext{})))
}

// Close sends what is left, until ctx ends.
func (t *Tracer) Close(ctx context.Context) error { return t.provider.Shutdown(ctx) }
