package main

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/walbridge/walbridge/integration/daemon"
	"github.com/walbridge/walbridge/integration/daemoncases"
)

// daemonScenario runs every case of daemoncases.
func daemonScenario(ctx context.Context, r *run) error {
	binary, err := daemon.Build(ctx)
	if err != nil {
		return err
	}
	for i, c := range daemoncases.All {
		dir := filepath.Join(r.dir, strconv.Itoa(i))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		began := time.Now()
		r.record(c.Name, c.Run(ctx, binary, dir), daemoncases.ErrSkipped, began)
	}
	return nil
}
