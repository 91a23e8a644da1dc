package main

import (
	"context"
	"os"
	"path/filepath"

	"github.com/walbridge/walbridge/integration/noharm"
)

// noHarmScenario runs every case on one cluster, and the one that needs another listener on its own.
func noHarmScenario(ctx context.Context, r *run) error {
	version := os.Getenv("KAFKA") // Empty for the newest.
	rig, err := noharm.Start(ctx, r.dir, version)
	if err != nil {
		return err
	}
	defer rig.Close()
	for _, c := range noharm.Cases {
		r.try(c.Name, func() error { return c.Run(ctx, rig) })
	}
	dir := filepath.Join(r.dir, "sasl")
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	r.try("sasl_listener", func() error { return noharm.SASL(ctx, dir, version) })
	return nil
}
