package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime/debug"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/spf13/cobra"
	"google.golang.org/grpc"

	"github.com/walbridge/walbridge/backends"
	"github.com/walbridge/walbridge/backends/metered"
	"github.com/walbridge/walbridge/backends/quorum"
	"github.com/walbridge/walbridge/cmd/walbridge/config"
	"github.com/walbridge/walbridge/cmd/walbridge/tracing"
	"github.com/walbridge/walbridge/pool"
	"github.com/walbridge/walbridge/server/combine"
	"github.com/walbridge/walbridge/server/daemon"
	"github.com/walbridge/walbridge/server/fetch"
	"github.com/walbridge/walbridge/server/peer"
)

func serveCommand() *cobra.Command {
	var path string
	c := &cobra.Command{
		Use:   "serve --config FILE",
		Short: "Run the daemon beside a broker",
		Long: `Serve runs the daemon until SIGTERM or SIGINT; then it finishes the copies it has accepted, for timeouts.drain at
most, and exits with 0. It exits with 2 where the configuration is wrong. SIGHUP reads the configuration again and logs
which changes are in force and which wait for a restart.`,
		Example: "  walbridge serve --config /etc/walbridge/walbridge.yaml",
		Args:    exactArgs(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if path == "" {
				return coded{exitUsage, errors.New("serve needs --config FILE")}
			}
			c, err := loadConfig(path)
			if err != nil {
				return err
			}
			return serve(cmd.Context(), path, c)
		},
	}
	c.Flags().StringVar(&path, "config", "", "the configuration file")
	return c
}

func serve(ctx context.Context, path string, c *config.Config) (err error) {
	logger, level := newLogger(c.Log)
	daemon.TuneGC()
	limitMemory(c)
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	period, err := watchdogPeriod()
	if err != nil {
		return err
	}
	allow, err := allowed(c.Socket)
	if err != nil {
		return coded{exitUsage, err}
	}
	var options []grpc.ServerOption
	var certs *certificates
	if c.TLS.Enabled() {
		if certs, err = loadCertificates(c.TLS); err != nil {
			return coded{exitUsage, err}
		}
		options = append(options, grpc.Creds(certs.credentials()))
	}
	var tracer *tracing.Tracer
	if c.Tracing.Endpoint != "" {
		tracer, err = tracing.New(ctx, tracing.Options{
			Endpoint: c.Tracing.Endpoint, Headers: c.Tracing.Headers, Sample: c.Tracing.Sample,
			Version: buildVersion(), Cluster: c.ClusterID, Broker: c.BrokerID,
		})
		if err != nil {
			return err
		}
		defer closeTracer(tracer, logger)
		options = append(options, tracer.Server())
	}
	stopHTTP, err := serveHTTP(c, registry, logger)
	if err != nil {
		return err
	}
	defer stopHTTP()
	inner, err := listen(c)
	if err != nil {
		return err
	}
	l := peer.Listen(inner, peer.Options{Allow: allow, Max: c.Limits.Connections, Logger: logger, Registerer: registry})
	zones, urls, err := openZones(ctx, c, logger, registry, tracer)
	if err != nil {
		l.Close()
		return err
	}
	reloads := &reloader{path: path, running: *c, level: level, listener: l, certificates: certs, logger: logger}
	ctx, cancel := context.WithCancel(ctx)
	var background sync.WaitGroup
	defer background.Wait()
	defer cancel()
	background.Go(func() { reloads.run(ctx) })

	o := daemonOptions(c)
	o.Version, o.Zones, o.URLs, o.GRPC = buildVersion(), zones, urls, options
	o.Logger, o.Registerer = logger, registry
	o.Alive, o.AlivePeriod = func() { notify(logger, notifyAlive) }, period
	o.Ready = func() {
		logger.Info("serving", "version", buildVersion(), "listen", l.Addr().String(), "zones", len(zones), "quorum", c.Quorum)
		notify(logger, notifyReady)
	}
	o.Stopping = func() { notify(logger, notifyStopping) }
	return daemon.Run(ctx, l, o)
}

// daemonOptions are what the configuration says of the daemon's parts.
func daemonOptions(c *config.Config) daemon.Options {
	return daemon.Options{
		ClusterID: c.ClusterID, BrokerID: c.BrokerID,
		Quorum: quorum.Options{
			Quorum: c.Quorum, Local: c.LocalZone, ZoneTimeout: time.Duration(c.Timeouts.Zone),
			ReadTimeout: time.Duration(c.Timeouts.Read), MaxLateBytes: int64(c.Limits.LateBytes),
		},
		Combine: combine.Options{
			Lanes: c.Combine.Lanes, Linger: time.Duration(c.Combine.Linger), MaxFrameBytes: int64(c.Combine.FrameBytes),
			MaxCopyBytes: int64(c.Limits.CopyBytes), FrameTimeout: time.Duration(c.Timeouts.Copy),
			// A quorum decides within the zones' timeout; only a stuck one needs this.
			AttemptTimeout: time.Duration(c.Timeouts.Zone) * 3 / 2,
			Rotation: combine.Rotation{
				Appends: c.Combine.Appends, Bytes: int64(c.Combine.ObjectBytes), Age: time.Duration(c.Combine.ObjectAge),
			},
		},
		Pool: pool.Options[combine.Object]{
			MinDepth: c.Pool.MinDepth, MaxDepth: c.Pool.MaxDepth, LoadConcurrency: c.Pool.LoadConcurrency,
			MaxItemAge: time.Duration(c.Pool.MaxItemAge),
		},
		Fetch:            fetchOptions(c),
		MaxInflightBytes: int64(c.Limits.InflightBytes), MaxCopyBytes: int64(c.Limits.CopyBytes),
		CopyTimeout: time.Duration(c.Timeouts.Copy), DrainTimeout: time.Duration(c.Timeouts.Drain),
	}
}

// fetchOptions let everything be read that may be written: a frame of one copy, with an index as large as it gets, from
// whichever zone has it.
func fetchOptions(c *config.Config) fetch.Options {
	const least, index = 128 << 20, 64 << 20
	return fetch.Options{
		CacheBytes:      int64(c.Limits.CacheBytes),
		MaxLoadingBytes: max(least, int64(max(c.Limits.CopyBytes, c.Combine.FrameBytes))+index),
		LoadTimeout:     time.Duration(len(c.Zones)+1) * time.Duration(c.Timeouts.Read),
	}
}

// limitMemory has the garbage collector work harder where the heap grows beyond what the configuration lets the daemon
// hold, unless GOMEMLIMIT says something else.
func limitMemory(c *config.Config) {
	if os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	const rest = 160 << 20
	held := c.Limits.InflightBytes + c.Limits.CacheBytes + config.Bytes(len(c.Zones))*c.Limits.LateBytes
	debug.SetMemoryLimit(int64(held) + rest)
}

func closeTracer(t *tracing.Tracer, logger *slog.Logger) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	if err := t.Close(ctx); err != nil {
		logger.Warn("the last traces were not sent", "err", err)
	}
}

// openZones opens every zone of the configuration. One that cannot be opened now is opened later, as long as the others
// make a quorum: a daemon must be able to start while a zone is down.
func openZones(ctx context.Context, c *config.Config, logger *slog.Logger, registry prometheus.Registerer,
	tracer *tracing.Tracer,
) (zones []quorum.Zone, urls map[string]string, err error) {
	urls = map[string]string{}
	opened := 0
	for _, z := range c.Zones {
		open := func(ctx context.Context) (backends.Bucket, error) {
			ctx, cancel := context.WithTimeout(ctx, time.Duration(c.Timeouts.Zone))
			defer cancel()
			b, err := openZone(ctx, z.URL, logger.With("zone", z.Name))
			return b, config.Hide(err, z.URL)
		}
		b, openErr := open(ctx)
		if openErr == nil {
			opened++
		} else {
			err = errors.Join(err, fmt.Errorf("zone %s: %w", z.Name, openErr))
			b = &lateZone{open: open, caps: capsOf(z.URL)}
		}
		b = metered.Wrap(b, z.Name, registry)
		if tracer != nil {
			b = tracer.Wrap(b, z.Name)
		}
		zones = append(zones, quorum.Zone{Name: z.Name, Bucket: b})
		urls[z.Name] = config.Redact(z.URL)
	}
	if opened < c.Quorum {
		for _, z := range zones {
			_ = z.Bucket.Close()
		}
		return nil, nil, fmt.Errorf("%d of %d zones can be opened, the quorum is %d: %w", opened, len(zones), c.Quorum, err)
	}
	if err != nil {
		logger.Warn("starting without a zone; it is tried again", "err", err)
	}
	return zones, urls, nil
}
