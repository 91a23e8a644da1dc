// Package daemon runs the built walbridge daemon on a unix socket, with zones that are directories.
package daemon

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health/grpc_health_v1"

	"github.com/walbridge/walbridge/integration/process"
	walbridgev1 "github.com/walbridge/walbridge/proto/walbridge/v1"
)

// Config describes a daemon. Dir and ClusterID must be set.
type Config struct {
	// Dir holds everything: configuration, socket, log, and a directory for each zone.
	Dir       string
	ClusterID string
	BrokerID  int
	// Zones are the zones' names; default zone-a, zone-b, zone-c.
	Zones []string
	// ZonesDir holds the zones' directories, which several daemons may share; default Dir.
	ZonesDir string
	// YAML is appended to the configuration file.
	YAML string
}

// Daemon is one daemon, running or not. Its methods are for one goroutine.
type Daemon struct {
	cfg     Config
	binary  string
	process *process.Process
	conn    *grpc.ClientConn
}

// New builds the binary and lays the daemon out. It starts nothing.
func New(ctx context.Context, cfg Config) (*Daemon, error) {
	if len(cfg.Zones) == 0 {
		cfg.Zones = []string{"zone-a", "zone-b", "zone-c"}
	}
	if cfg.ZonesDir == "" {
		cfg.ZonesDir = cfg.Dir
	}
	binary, err := Build(ctx)
	if err != nil {
		return nil, err
	}
	d := &Daemon{cfg: cfg, binary: binary}
	for _, zone := range cfg.Zones {
		if err := os.MkdirAll(d.ZoneDir(zone), 0o755); err != nil {
			return nil, fmt.Errorf("zone %s: %w", zone, err)
		}
	}
	if err := os.WriteFile(d.configFile(), []byte(d.config()), 0o644); err != nil {
		return nil, fmt.Errorf("configuration of the daemon: %w", err)
	}
	// The connection outlives the daemon's restarts; it looks again soon, since a test waits for it.
	d.conn, err = grpc.NewClient(d.Target(),
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithConnectParams(grpc.ConnectParams{MinConnectTimeout: time.Second}),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(64<<20)))
	if err != nil {
		return nil, fmt.Errorf("client of the daemon: %w", err)
	}
	return d, nil
}

// Start starts the daemon and returns when it serves.
func (d *Daemon) Start(ctx context.Context) error {
	p, err := process.Start(process.Spec{
		Name: "walbridge", Path: d.binary, Args: []string{"serve", "--config", d.configFile()}, Log: d.LogFile(),
	})
	if err != nil {
		return err
	}
	d.process = p
	ctx, cancel := context.WithTimeoutCause(ctx, time.Minute, errors.New("not ready within a minute"))
	defer cancel()
	return p.Await(ctx, "it serves", func(ctx context.Context) error {
		r, err := grpc_health_v1.NewHealthClient(d.conn).Check(ctx, &grpc_health_v1.HealthCheckRequest{})
		if err == nil && r.Status != grpc_health_v1.HealthCheckResponse_SERVING {
			err = fmt.Errorf("health: %v", r.Status)
		}
		return err
	})
}

// Stop stops the daemon as systemd does, by SIGTERM. When ctx ends first it is killed, and Stop fails.
func (d *Daemon) Stop(ctx context.Context) error { return d.process.Stop(ctx) }

// Kill kills the daemon where it stands and waits until it is gone. One that does not run is left so.
func (d *Daemon) Kill() {
	if d.process != nil {
		d.process.Kill()
	}
}

// Close kills the daemon and drops the connection. The files stay.
func (d *Daemon) Close() {
	d.Kill()
	_ = d.conn.Close() // there is nothing to be done about it
}

// Ended is nil while the daemon runs; afterwards it says how it ended and what it logged last.
func (d *Daemon) Ended() error { return d.process.Ended() }

// Conn is the connection to the daemon; it outlives restarts.
func (d *Daemon) Conn() *grpc.ClientConn { return d.conn }

// Client is the daemon's service.
func (d *Daemon) Client() walbridgev1.WalServiceClient {
	return walbridgev1.NewWalServiceClient(d.conn)
}

// Socket is where the daemon listens.
func (d *Daemon) Socket() string { return filepath.Join(d.cfg.Dir, "walbridge.sock") }

// Target is the same in gRPC's spelling.
func (d *Daemon) Target() string { return "unix://" + d.Socket() }

// ZoneDir is the directory that is the zone.
func (d *Daemon) ZoneDir(zone string) string { return filepath.Join(d.cfg.ZonesDir, zone) }

// LogFile is the file with all that the daemon prints.
func (d *Daemon) LogFile() string { return filepath.Join(d.cfg.Dir, "walbridge.log") }

func (d *Daemon) configFile() string { return filepath.Join(d.cfg.Dir, "walbridge.yaml") }

func (d *Daemon) config() string {
	var s strings.Builder
	fmt.Fprintf(&s, "cluster_id: %q\nbroker_id: %d\nlisten: %s\nzones:\n", d.cfg.ClusterID, d.cfg.BrokerID, d.Target())
	for _, zone := range d.cfg.Zones {
		fmt.Fprintf(&s, "  - {name: %s, url: %q}\n", zone, "file://"+d.ZoneDir(zone))
	}
	s.WriteString(d.cfg.YAML)
	return s.String()
}
