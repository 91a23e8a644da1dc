// Package collector is an OpenTelemetry collector that keeps the spans it gets, for who wants to see what the daemon
// sends.
package collector

import (
	"context"
	"fmt"
	"net"
	"slices"
	"sync"

	tracecollector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	tracev1 "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
)

// Collector listens on a port of this host. Its methods are safe for concurrent use.
type Collector struct {
	tracecollector.UnimplementedTraceServiceServer
	server  *grpc.Server
	address string

	mu      sync.Mutex
	spans   []*tracev1.Span
	headers metadata.MD
}

// Start starts a collector.
func Start() (*Collector, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("collector: %w", err)
	}
	c := &Collector{server: grpc.NewServer(), address: l.Addr().String()}
	tracecollector.RegisterTraceServiceServer(c.server, c)
	go func() { _ = c.server.Serve(l) }()
	return c, nil
}

// Endpoint is where it listens, as tracing.endpoint says it.
func (c *Collector) Endpoint() string { return "http://" + c.address }

// Close stops it.
func (c *Collector) Close() { c.server.Stop() }

// Export implements the service.
func (c *Collector) Export(ctx context.Context, r *tracecollector.ExportTraceServiceRequest) (
	*tracecollector.ExportTraceServiceResponse, error,
) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.headers, _ = metadata.FromIncomingContext(ctx)
	for _, resource := range r.GetResourceSpans() {
		for _, scope := range resource.GetScopeSpans() {
			c.spans = append(c.spans, scope.GetSpans()...)
		}
	}
	return &tracecollector.ExportTraceServiceResponse{}, nil
}

// Spans are those that came so far.
func (c *Collector) Spans() []*tracev1.Span {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.spans)
}

// Header is what the last spans came with.
func (c *Collector) Header(name string) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.headers.Get(name)
}

// Under returns the span of that name below the one whose id is parent, or nil.
func (c *Collector) Under(parent []byte, name string) *tracev1.Span {
	for _, s := range c.Spans() {
		if s.GetName() == name && slices.Equal(s.GetParentSpanId(), parent) {
			return s
		}
	}
	return nil
}
