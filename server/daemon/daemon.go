// Package daemon puts the parts together and runs them: zones become a quorum, the pool opens objects in it, lanes write
// frames to those, and the service takes copies and answers reads. It stops in the opposite order, so that nothing loses
// what it stands on.
package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc"
	"google.golang.org/grpc/health/grpc_health_v1"

	"github.com/walbridge/walbridge/backends/quorum"
	"github.com/walbridge/walbridge/pool"
	walbridgev1 "github.com/walbridge/walbridge/proto/walbridge/v1"
	"github.com/walbridge/walbridge/server"
	"github.com/walbridge/walbridge/server/combine"
	"github.com/walbridge/walbridge/server/fetch"
	"github.com/walbridge/walbridge/server/frame"
	"github.com/walbridge/walbridge/server/incarnation"
)

// Options are what a daemon is made of. What a part's own Options need of another part is filled in here.
type Options struct {
	ClusterID string
	BrokerID  int32
	Version   string
	// Zones are the stores; the daemon closes them. URLs are their addresses by name, without secrets.
	Zones []quorum.Zone
	URLs  map[string]string

	Quorum  quorum.Options
	Combine combine.Options
	Pool    pool.Options[combine.Object]
	Fetch   fetch.Options

	// MaxInflightBytes bounds the copies accepted and not yet answered, MaxCopyBytes each of them.
	MaxInflightBytes, MaxCopyBytes int64
	// CopyTimeout bounds a copy from its header to its answer, DrainTimeout the time that a stop waits for those accepted.
	CopyTimeout, DrainTimeout time.Duration

	Logger     *slog.Logger
	Registerer prometheus.Registerer
	// GRPC are further options of the gRPC server: credentials, tracing.
	GRPC []grpc.ServerOption

	// Ready is called once the daemon serves, Stopping once it begins to stop.
	Ready, Stopping func()
	// Alive is called every AlivePeriod as long as no lane is stuck; never where AlivePeriod is 0.
	Alive       func()
	AlivePeriod time.Duration
}

// Run serves on l until ctx ends, then finishes what was accepted, and returns nil. It returns early where it cannot
// start. It closes l and the zones.
func Run(ctx context.Context, l net.Listener, opts Options) (err error) {
	defer l.Close()
	opts.Quorum.Logger, opts.Quorum.Registerer = opts.Logger, opts.Registerer
	zones, err := quorum.New(opts.Zones, opts.Quorum)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, zones.Close()) }()
	probes := start(func(ctx context.Context) { _ = zones.Run(ctx) })
	defer probes.stop()

	number, err := claim(ctx, zones, opts)
	if err != nil {
		return err
	}
	id := frame.Identity{ClusterID: opts.ClusterID, BrokerID: opts.BrokerID, Incarnation: number}

	opener := &combine.Opener{Bucket: zones, Identity: id, Logger: opts.Logger}
	opts.Pool.Load, opts.Pool.Discard, opts.Pool.Registerer = opener.Open, opener.Discard, opts.Registerer
	objects := pool.New(opts.Pool)
	opts.Combine.Identity, opts.Combine.Objects, opts.Combine.Caps = id, objects, zones.Caps()
	opts.Combine.Logger, opts.Combine.Registerer = opts.Logger, opts.Registerer
	combiner, err := combine.New(opts.Combine)
	if err != nil {
		return err
	}
	opts.Fetch.Cluster, opts.Fetch.Source, opts.Fetch.Registerer = opts.ClusterID, zones, opts.Registerer

	filling := start(objects.Run)
	defer filling.stop()
	lanes := start(combiner.Run)
	defer lanes.stop()
	if opts.AlivePeriod > 0 {
		signs := start(func(ctx context.Context) { signsOfLife(ctx, combiner, opts) })
		defer signs.stop()
	}

	service := server.New(server.Options{
		Identity: id, Version: opts.Version,
		Copier: combiner, Frames: fetch.New(opts.Fetch), Bucket: zones, Zones: zones, URLs: opts.URLs,
		PoolStatus:       func() *walbridgev1.PoolStatus { return poolStatus(objects.Stats()) },
		MaxInflightBytes: opts.MaxInflightBytes, MaxCopyBytes: opts.MaxCopyBytes, CopyTimeout: opts.CopyTimeout,
		GRPC: opts.GRPC, Logger: opts.Logger, Registerer: opts.Registerer,
	})
	return serve(ctx, l, service, combiner, opts)
}

func serve(ctx context.Context, l net.Listener, service *server.Service, combiner *combine.Combiner, opts Options) error {
	g, health := service.GRPC()
	health.SetServingStatus(walbridgev1.WalService_ServiceDesc.ServiceName, grpc_health_v1.HealthCheckResponse_SERVING)
	failed := make(chan error, 1)
	go func() { failed <- g.Serve(l) }()
	if opts.Ready != nil {
		opts.Ready()
	}
	select {
	case err := <-failed:
		return fmt.Errorf("serve on %s: %w", l.Addr(), err)
	case <-ctx.Done():
	}
	if opts.Stopping != nil {
		opts.Stopping()
	}
	opts.Logger.Info("stopping", "inflight_bytes", service.InflightBytes())
	health.Shutdown()
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), opts.DrainTimeout)
	defer cancel()
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		g.GracefulStop()
	}()
	select {
	case <-stopped:
	case <-drain.Done():
		opts.Logger.Warn("not all requests ended in time; they fail now", "err", drain.Err())
		g.Stop()
		<-stopped
	}
	if err := combiner.Drain(drain); err != nil {
		opts.Logger.Warn("copies were left unanswered", "err", err)
	}
	return nil
}

// claim takes an incarnation, however long it takes the zones to be there: a daemon often starts before its network.
func claim(ctx context.Context, zones *quorum.Bucket, opts Options) (uint32, error) {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	owner := incarnation.Owner{
		Host: host, PID: os.Getpid(), Version: opts.Version, Started: time.Now().UTC().Format(time.RFC3339),
	}
	const least, most = 100 * time.Millisecond, 5 * time.Second
	for wait := least; ; wait = min(2*wait, most) {
		number, err := incarnation.Claim(ctx, zones, opts.ClusterID, opts.BrokerID, owner)
		if err == nil {
			return number, nil
		}
		opts.Logger.Warn("cannot start yet: no incarnation", "err", err, "next_try", wait)
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return 0, fmt.Errorf("stopped before the start was done: %w", err)
		}
	}
}

func poolStatus(s pool.Stats) *walbridgev1.PoolStatus {
	return &walbridgev1.PoolStatus{
		Ready: uint32(s.Depth), Target: uint32(s.Target), Loading: uint32(s.Loading), Created: s.Loaded, Used: s.HandedOut,
		Discarded: s.DiscardedAged + s.DiscardedClosed, Failed: s.LoadErrors,
	}
}

// part is something that runs until it is stopped.
type part struct {
	cancel context.CancelFunc
	done   sync.WaitGroup
}

func start(run func(context.Context)) *part {
	ctx, cancel := context.WithCancel(context.Background())
	p := &part{cancel: cancel}
	p.done.Go(func() { run(ctx) })
	return p
}

func (p *part) stop() {
	p.cancel()
	p.done.Wait()
}
