package versions_test

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/walbridge/walbridge/integration/versions"
)

// The oldest and the newest version, and one of each other kind; with WALBRIDGE_VERSIONS=all everything that
// `make e2e ONLY=stock-versions` runs.
func TestVersions(t *testing.T) {
	if testing.Short() {
		t.Skip("runs real brokers")
	}
	for _, c := range versions.All() {
		if !c.Quick && os.Getenv("WALBRIDGE_VERSIONS") != "all" {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			dir, err := os.MkdirTemp("", "wal") // A test's own directory has too long a path for a socket.
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { os.RemoveAll(dir) })
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
			defer cancel()
			switch err := c.Run(ctx, dir); {
			case errors.Is(err, versions.ErrSkipped):
				t.Skip(err)
			case err != nil:
				t.Fatal(err)
			}
		})
	}
}
