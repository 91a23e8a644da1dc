package main

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"net/url"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/walbridge/walbridge/cmd/walbridge/config"
)

// serveHTTP serves metrics, and profiles to those who reach the admin socket, where the configuration asks for them.
func serveHTTP(c *config.Config, registry *prometheus.Registry, logger *slog.Logger) (stop func(), err error) {
	var servers []*http.Server
	stop = func() {
		for _, s := range servers {
			_ = s.Close()
		}
	}
	metrics := http.NewServeMux()
	metrics.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{Registry: registry}))
	if c.MetricsListen != "" {
		l, err := net.Listen("tcp", c.MetricsListen)
		if err != nil {
			return nil, fmt.Errorf("metrics_listen: %w", err)
		}
		servers = append(servers, start(l, metrics, logger))
	}
	if c.AdminListen != "" {
		u, err := url.Parse(c.AdminListen)
		if err != nil {
			stop()
			return nil, fmt.Errorf("admin_listen: %w", err)
		}
		l, err := listenUnix(u.Path, 0o600, -1)
		if err != nil {
			stop()
			return nil, fmt.Errorf("admin_listen: %w", err)
		}
		servers = append(servers, start(l, admin(metrics), logger))
	}
	return stop, nil
}

func admin(metrics http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", metrics)
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	return mux
}

func start(l net.Listener, h http.Handler, logger *slog.Logger) *http.Server {
	// A profile takes as long as its caller asks for; pprof itself stays below the write timeout.
	s := &http.Server{Handler: h, ReadHeaderTimeout: 5 * time.Second, WriteTimeout: 2 * time.Minute, IdleTimeout: time.Minute}
	go func() {
		if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			logger.Error("metrics and profiles are not served", "listen", l.Addr().String(), "err", err)
		}
	}()
	return s
}
