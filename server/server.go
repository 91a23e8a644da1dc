// Package server is the daemon's gRPC service: it checks what comes in, bounds what it holds, and maps errors. The work
// is done below it: combine writes frames, fetch reads them, incarnation gives the daemon its number.
package server

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	grpcprom "github.com/grpc-ecosystem/go-grpc-middleware/providers/prometheus"
	"github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors"
	"github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors/logging"
	"github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors/recovery"
	"github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors/selector"
	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/experimental"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/reflection"
	"google.golang.org/grpc/status"

	"github.com/walbridge/walbridge/backends"
	"github.com/walbridge/walbridge/backends/quorum"
	walbridgev1 "github.com/walbridge/walbridge/proto/walbridge/v1"
	"github.com/walbridge/walbridge/server/combine"
	"github.com/walbridge/walbridge/server/frame"
)

// Copier makes sections durable; a *combine.Combiner.
type Copier interface {
	Copy(ctx context.Context, sections []frame.Section, waited time.Duration) (combine.Result, error)
	Stats() combine.Stats
}

// Frames reads the frame of an extent; a *fetch.Fetcher.
type Frames interface {
	Frame(ctx context.Context, x frame.Extent) (*frame.Frame, error)
}

// Zones tells how the zones are, and reads from the one that has the right bytes; a *quorum.Bucket.
type Zones interface {
	Status() quorum.Status
	ReadValid(ctx context.Context, name string, p []byte, off int64, valid func([]byte) error) error
}

// Options are what a Service is made of. All are required, but for those that name a default.
type Options struct {
	Identity frame.Identity
	Version  string
	Copier   Copier
	Frames   Frames
	Bucket   backends.Bucket
	Zones    Zones
	// URLs are the zones' addresses by name, without secrets.
	URLs map[string]string
	// PoolStatus tells of the pre-warmed writers.
	PoolStatus func() *walbridgev1.PoolStatus
	// MaxInflightBytes bounds the copies accepted and not yet answered, MaxCopyBytes each of them.
	MaxInflightBytes, MaxCopyBytes int64
	// CopyTimeout bounds a copy from its header to its answer.
	CopyTimeout time.Duration
	// GRPC are further options of the gRPC server: credentials, tracing.
	GRPC       []grpc.ServerOption
	Logger     *slog.Logger
	Registerer prometheus.Registerer
}

// Service implements walbridge.v1.WalService.
type Service struct {
	walbridgev1.UnimplementedWalServiceServer
	opts         Options
	started      time.Time
	inflight     *inflight
	copiesFailed atomic.Uint64
	sourceBytes  prometheus.Counter
	listing      chan struct{}
}

// New returns the service; it starts nothing.
func New(opts Options) *Service {
	s := &Service{
		opts: opts, started: time.Now(), inflight: newInflight(opts.MaxInflightBytes), listing: make(chan struct{}, 1),
	}
	s.sourceBytes = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "walbridge_server_source_bytes_total", Help: "Bytes of copies that were read from the broker's own files.",
	})
	opts.Registerer.MustRegister(s.sourceBytes,
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "walbridge_server_inflight_bytes", Help: "Bytes of copies accepted and not yet answered.",
		}, func() float64 { return float64(s.inflight.used()) }),
		prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "walbridge_server_copies_failed_total", Help: "Copies answered with an error.",
		}, func() float64 { return float64(s.copiesFailed.Load()) }),
	)
	return s
}

// GRPC returns a gRPC server that serves s, health and reflection, and the health service to switch.
func (s *Service) GRPC() (*grpc.Server, *health.Server) {
	metrics := grpcprom.NewServerMetrics(grpcprom.WithServerHandlingTimeHistogram())
	s.opts.Registerer.MustRegister(metrics)
	panicked := recovery.WithRecoveryHandlerContext(func(ctx context.Context, p any) error {
		s.opts.Logger.ErrorContext(ctx, "panic in a request", "err", fmt.Sprint(p))
		return status.Errorf(codes.Internal, "internal error: %v", p)
	})
	log := logging.LoggerFunc(func(ctx context.Context, _ logging.Level, msg string, fields ...any) {
		s.opts.Logger.DebugContext(ctx, msg, fields...)
	})
	finished := logging.WithLogOnEvents(logging.FinishCall)
	// The interceptor makes its fields before anyone asks whether they are wanted.
	debug := selector.MatchFunc(func(ctx context.Context, _ interceptors.CallMeta) bool {
		return s.opts.Logger.Enabled(ctx, slog.LevelDebug)
	})
	options := append(slices.Clone(s.opts.GRPC),
		grpc.StatsHandler(connections{}),
		grpc.InTapHandle(admit),
		grpc.ForceServerCodecV2(newCodec()),
		experimental.BufferPool(&buffers{}),
		grpc.MaxRecvMsgSize(maxMessageBytes),
		grpc.MaxConcurrentStreams(maxStreams),
		grpc.InitialWindowSize(windowBytes),
		grpc.InitialConnWindowSize(4*windowBytes),
		grpc.ConnectionTimeout(5*time.Second),
		grpc.KeepaliveParams(keepalive.ServerParameters{
			MaxConnectionIdle: idleTimeout, Time: time.Minute, Timeout: 20 * time.Second,
		}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: 5 * time.Second, PermitWithoutStream: true}),
		grpc.ChainUnaryInterceptor(metrics.UnaryServerInterceptor(),
			selector.UnaryServerInterceptor(logging.UnaryServerInterceptor(log, finished), debug),
			recovery.UnaryServerInterceptor(panicked)),
		grpc.ChainStreamInterceptor(metrics.StreamServerInterceptor(),
			selector.StreamServerInterceptor(logging.StreamServerInterceptor(log, finished), debug),
			boundStream, recovery.StreamServerInterceptor(panicked)),
	)
	g := grpc.NewServer(options...)
	walbridgev1.RegisterWalServiceServer(g, s)
	h := health.NewServer()
	grpc_health_v1.RegisterHealthServer(g, h)
	reflection.Register(g)
	metrics.InitializeMetrics(g)
	return g, h
}
