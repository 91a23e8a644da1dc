package tracing

import (
	"context"
	"net"
	"sync"
	"testing"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	tracev1 "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"

	"github.com/walbridge/walbridge/backends"
	"github.com/walbridge/walbridge/backends/backendtest"
	"github.com/walbridge/walbridge/backends/mem"
)

// spans is a collector that keeps what it gets.
type spans struct {
	collector.UnimplementedTraceServiceServer
	mu      sync.Mutex
	all     []*tracev1.Span
	headers []string
}

func (s *spans) Export(ctx context.Context, r *collector.ExportTraceServiceRequest) (
	*collector.ExportTraceServiceResponse, error,
) {
	s.mu.Lock()
	defer s.mu.Unlock()
	md, _ := metadata.FromIncomingContext(ctx)
	s.headers = md.Get("authorization")
	for _, rs := range r.GetResourceSpans() {
		for _, ss := range rs.GetScopeSpans() {
			s.all = append(s.all, ss.GetSpans()...)
		}
	}
	return &collector.ExportTraceServiceResponse{}, nil
}

func serve(t *testing.T, register func(*grpc.Server), opts ...grpc.ServerOption) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g := grpc.NewServer(opts...)
	register(g)
	go func() { _ = g.Serve(l) }()
	t.Cleanup(g.Stop)
	return l.Addr().String()
}

// A caller's trace goes on in the daemon, and what zones do is told with object and zone.
func TestSpansReachTheCollector(t *testing.T) {
	var got spans
	address := serve(t, func(g *grpc.Server) { collector.RegisterTraceServiceServer(g, &got) })
	tracer, err := New(t.Context(), Options{
		Endpoint: "http://" + address, Headers: "authorization=token", Sample: 1, Version: "v", Cluster: "c", Broker: 1,
	})
	if err != nil {
		t.Fatal(err)
	}
	service := serve(t, func(g *grpc.Server) { grpc_health_v1.RegisterHealthServer(g, health.NewServer()) }, tracer.Server())
	conn, err := grpc.NewClient(service, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	ctx := metadata.AppendToOutgoingContext(t.Context(), "traceparent", parent)
	if _, err := grpc_health_v1.NewHealthClient(conn).Check(ctx, &grpc_health_v1.HealthCheckRequest{}); err != nil {
		t.Fatal(err)
	}
	b := tracer.Wrap(mem.New(mem.Options{}), "zone-a")
	w, err := b.Create(t.Context(), "object")
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Append(t.Context(), []byte("x"), backends.Checksum([]byte("x"))); err != nil {
		t.Fatal(err)
	}
	_ = b.ReadAt(t.Context(), "nothing", []byte("x"), 0)
	if err := tracer.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	got.mu.Lock()
	defer got.mu.Unlock()
	names := map[string]*tracev1.Span{}
	for _, s := range got.all {
		names[s.GetName()] = s
	}
	if s := names["grpc.health.v1.Health/Check"]; s == nil || s.GetTraceId()[0] != 0x0a || s.GetParentSpanId()[0] != 0xb7 {
		t.Errorf("the caller's trace does not go on: %v", got.all)
	}
	if s := names["zone.append"]; s == nil || len(s.GetAttributes()) != 3 || s.GetStatus().GetCode() == tracev1.Status_STATUS_CODE_ERROR {
		t.Errorf("append: %v", s)
	}
	if s := names["zone.read"]; s == nil || s.GetStatus().GetCode() != tracev1.Status_STATUS_CODE_ERROR {
		t.Errorf("a failed read: %v", s)
	}
	if len(got.headers) != 1 || got.headers[0] != "token" {
		t.Errorf("headers %q", got.headers)
	}
}

func TestConformance(t *testing.T) {
	tracer, err := New(t.Context(), Options{Endpoint: "http://127.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	backendtest.Run(t, func(t *testing.T) backends.Bucket { return tracer.Wrap(mem.New(mem.Options{}), "zone") })
}
