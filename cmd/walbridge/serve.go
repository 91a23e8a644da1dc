package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/spf13/cobra"

	"github.com/walbridge/walbridge/backends"
	"github.com/walbridge/walbridge/backends/metered"
	"github.com/walbridge/walbridge/backends/quorum"
	"github.com/walbridge/walbridge/cmd/walbridge/config"
	"github.com/walbridge/walbridge/pool"
	"github.com/walbridge/walbridge/server/combine"
	"github.com/walbridge/walbridge/server/daemon"
	"github.com/walbridge/walbridge/server/fetch"
)

func serveCommand() *cobra.Command {
	var path string
	c := &cobra.Command{
		Use:   "serve --config FILE",
		Short: "Run the daemon beside a broker",
		Long: `Serve runs the daemon until SIGTERM or SIGINT; then it finishes the copies it has accepted, for timeouts.drain at
most, and exits with 0. It exits with 2 where the configuration is wrong.`,
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
			return serve(cmd.Context(), c)
		},
	}
	c.Flags().StringVar(&path, "config", "", "the configuration file")
	return c
}

func serve(ctx context.Context, c *config.Config) error {
	logger := newLogger(c.Log)
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	l, err := listen(c.Listen)
	if err != nil {
		return err
	}
	zones, urls, err := openZones(ctx, c, logger, registry)
	if err != nil {
		l.Close()
		return err
	}
	if c.MetricsListen != "" {
		stop, err := serveMetrics(c.MetricsListen, registry, logger)
		if err != nil {
			l.Close()
			return err
		}
		defer stop()
	}
	return daemon.Run(ctx, l, daemon.Options{
		ClusterID: c.ClusterID, BrokerID: c.BrokerID, Version: buildVersion(), Zones: zones, URLs: urls,
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
		Fetch:            fetch.Options{CacheBytes: int64(c.Limits.CacheBytes)},
		MaxInflightBytes: int64(c.Limits.InflightBytes), MaxCopyBytes: int64(c.Limits.CopyBytes),
		CopyTimeout: time.Duration(c.Timeouts.Copy), DrainTimeout: time.Duration(c.Timeouts.Drain),
		Logger: logger, Registerer: registry,
		Ready: func() { logger.Info("serving", "listen", c.Listen, "zones", len(zones), "quorum", c.Quorum) },
	})
}

// openZones opens every zone of the configuration. One that cannot be opened now is opened later, as long as the others
// make a quorum: a daemon must be able to start while a zone is down.
func openZones(ctx context.Context, c *config.Config, logger *slog.Logger, registry prometheus.Registerer) (
	zones []quorum.Zone, urls map[string]string, err error,
) {
	urls = map[string]string{}
	opened := 0
	for _, z := range c.Zones {
		open := func(ctx context.Context) (backends.Bucket, error) {
			ctx, cancel := context.WithTimeout(ctx, time.Duration(c.Timeouts.Zone))
			defer cancel()
			return openZone(ctx, z.URL, logger.With("zone", z.Name))
		}
		b, openErr := open(ctx)
		if openErr == nil {
			opened++
		} else {
			err = errors.Join(err, fmt.Errorf("zone %s: %w", z.Name, openErr))
			b = &lateZone{open: open}
		}
		zones = append(zones, quorum.Zone{Name: z.Name, Bucket: metered.Wrap(b, z.Name, registry)})
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

// listen listens on unix:///path or tcp://host:port. A socket is the owner's and the group's: the umask is set before it
// is made, so that it is never open to others.
func listen(address string) (net.Listener, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	if u.Scheme == "tcp" {
		return net.Listen("tcp", u.Host)
	}
	if err := removeStale(u.Path); err != nil {
		return nil, err
	}
	umask := syscall.Umask(0o117)
	defer syscall.Umask(umask)
	return net.Listen("unix", u.Path)
}

// removeStale removes the socket that a killed daemon left, and refuses to take it from a live one.
func removeStale(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.Mode().Type() != fs.ModeSocket {
		return fmt.Errorf("listen: %s is there and is not a socket", path)
	}
	conn, err := net.DialTimeout("unix", path, time.Second)
	if err == nil {
		conn.Close()
		return fmt.Errorf("listen: another process serves %s", path)
	}
	return os.Remove(path)
}

func serveMetrics(address string, registry *prometheus.Registry, logger *slog.Logger) (stop func(), err error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("metrics_listen: %w", err)
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{Registry: registry}))
	s := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second, WriteTimeout: 30 * time.Second}
	go func() {
		if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			logger.Error("metrics are not served", "err", err)
		}
	}()
	return func() { _ = s.Close() }, nil
}

func newLogger(c config.Log) *slog.Logger {
	var level slog.Level
	_ = level.UnmarshalText([]byte(c.Level)) // The configuration was checked.
	opts := &slog.HandlerOptions{Level: level}
	if c.Format == "json" {
		return slog.New(slog.NewJSONHandler(os.Stderr, opts))
	}
	return slog.New(slog.NewTextHandler(os.Stderr, opts))
}
