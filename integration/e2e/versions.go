package main

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/walbridge/walbridge/integration/versions"
)

// versionsScenario runs every case of versions.
func versionsScenario(ctx context.Context, r *run) error {
	for i, c := range versions.All() {
		dir := filepath.Join(r.dir, strconv.Itoa(i))
		if err := os.Mkdir(dir, 0o755); err != nil {
			return err
		}
		began := time.Now()
		ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
		err := c.Run(ctx, dir)
		cancel()
		if c.Version != "" {
			r.report.Versions[c.Version] = r.outcome(c.Version, err, versions.ErrSkipped, began)
		} else {
			r.record(c.Name, err, versions.ErrSkipped, began)
		}
	}
	return ctx.Err()
}
