package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/walbridge/walbridge/integration/hookproof"
	"github.com/walbridge/walbridge/integration/kafka"
)

// hookProofScenario runs every case of hookproof, on the oldest and the newest Kafka.
func hookProofScenario(ctx context.Context, r *run) error {
	for _, version := range []string{kafka.Versions()[0], kafka.Newest} {
		if err := proveHooks(ctx, r, version); err != nil {
			return fmt.Errorf("kafka %s: %w", version, err)
		}
	}
	return nil
}

func proveHooks(ctx context.Context, r *run, version string) error {
	dir := filepath.Join(r.dir, version)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	rig, err := hookproof.Start(ctx, dir, version)
	if err != nil {
		return err
	}
	defer rig.Close()
	for _, c := range hookproof.Cases {
		r.try(version+"/"+c.Name, func() error {
			figures, err := c.Run(ctx, rig)
			r.measured(version+"/"+c.Name, figures)
			return err
		})
	}
	return nil
}
