package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/walbridge/walbridge/integration/daemon"
	"github.com/walbridge/walbridge/integration/hostile"
	"github.com/walbridge/walbridge/integration/process"
)

// What an attack may cost.
const (
	mostRSS = 512 << 20
	mostP99 = 2.0
)

// hostileScenario measures every attack on one daemon: memory is bounded, no honest copy fails, and none takes long.
func hostileScenario(ctx context.Context, r *run) error {
	binary, err := daemon.Build(ctx)
	if err != nil {
		return err
	}
	socket := filepath.Join(r.dir, "w.sock")
	var text strings.Builder
	fmt.Fprintf(&text, "cluster_id: cluster\nbroker_id: 1\nlisten: unix://%s\nzones:\n", socket)
	for _, zone := range []string{"a", "b", "c"} {
		dir := filepath.Join(r.dir, zone)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		fmt.Fprintf(&text, "  - {name: %s, url: \"file://%s\"}\n", zone, dir)
	}
	path, log := filepath.Join(r.dir, "w.yaml"), filepath.Join(r.dir, "walbridge.log")
	if err := os.WriteFile(path, []byte(text.String()), 0o644); err != nil {
		return err
	}
	p, err := process.Start(process.Spec{
		Name: "walbridge", Path: binary, Args: []string{"serve", "--config", path}, Log: log,
	})
	if err != nil {
		return err
	}
	defer p.Kill()
	start, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	err = p.Await(start, "it serves", func(context.Context) error {
		b, err := os.ReadFile(log)
		if err == nil && !strings.Contains(string(b), "msg=serving") {
			err = fmt.Errorf("not yet")
		}
		return err
	})
	if err != nil {
		return err
	}
	for _, a := range hostile.Attacks {
		r.try(a.Name, func() error {
			got, err := hostile.Measure(ctx, hostile.Options{
				Target: hostile.Target{Socket: socket, Cluster: "cluster", Broker: 1, Seed: 1},
				PID:    p.PID(), Window: 4 * time.Second, Blocks: 3,
			}, a)
			if err != nil {
				return err
			}
			r.measured(a.Name, got)
			return judge(got)
		})
		if err := p.Ended(); err != nil {
			return err
		}
	}
	return nil
}

func judge(r hostile.Result) error {
	switch {
	case r.Failures > 0:
		return fmt.Errorf("%d of %d honest copies failed, the last with: %s", r.Failures, r.Copies, r.Failure)
	case r.PeakRSS > mostRSS:
		return fmt.Errorf("%d MiB resident, at most %d are wanted", r.PeakRSS>>20, mostRSS>>20)
	case r.AttackedP99 > mostP99*r.CalmP99:
		return fmt.Errorf("p99 %.1f ms, calm %.1f ms", r.AttackedP99, r.CalmP99)
	}
	return nil
}
