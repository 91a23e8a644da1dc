package tracing

import (
	"net"
	"testing"

	tracev1 "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"

	"github.com/walbridge/walbridge/backends"
	"github.com/walbridge/walbridge/backends/backendtest"
	"github.com/walbridge/walbridge/backends/mem"
	"github.com/walbridge/walbridge/integration/collector"
)

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
	got, err := collector.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(got.Close)
	tracer, err := New(t.Context(), Options{
		Endpoint: got.Endpoint(), Headers: "authorization=token", Sample: 1, Version: "v", Cluster: "c", Broker: 1,
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
	names := map[string]*tracev1.Span{}
	for _, s := range got.Spans() {
		names[s.GetName()] = s
	}
	if s := names["grpc.health.v1.Health/Check"]; s == nil || s.GetTraceId()[0] != 0x0a || s.GetParentSpanId()[0] != 0xb7 {
		t.Errorf("the caller's trace does not go on: %v", got.Spans())
	}
	if s := names["zone.append"]; s == nil || len(s.GetAttributes()) != 3 || s.GetStatus().GetCode() == tracev1.Status_STATUS_CODE_ERROR {
		t.Errorf("append: %v", s)
	}
	if s := names["zone.read"]; s == nil || s.GetStatus().GetCode() != tracev1.Status_STATUS_CODE_ERROR {
		t.Errorf("a failed read: %v", s)
	}
	if h := got.Header("authorization"); len(h) != 1 || h[0] != "token" {
		t.Errorf("the spans came with %q", h)
	}
}

func TestConformance(t *testing.T) {
	tracer, err := New(t.Context(), Options{Endpoint: "http://127.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	backendtest.Run(t, func(t *testing.T) backends.Bucket { return tracer.Wrap(mem.New(mem.Options{}), "zone") })
}
