package hookproof_test

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/walbridge/walbridge/integration/hookproof"
	"github.com/walbridge/walbridge/integration/kafka"
)

func TestHookProof(t *testing.T) {
	if testing.Short() {
		t.Skip("runs real brokers")
	}
	for _, version := range kafka.Tested() {
		t.Run(version, func(t *testing.T) { prove(t, version) })
	}
}

func prove(t *testing.T, version string) {
	dir, err := os.MkdirTemp("", "wal") // A test's own directory has too long a path for a socket.
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
	defer cancel()
	rig, err := hookproof.Start(ctx, dir, version)
	if err != nil {
		t.Fatal(err)
	}
	defer rig.Close()
	for _, c := range hookproof.Cases {
		if c.Measures {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			figures, err := c.Run(ctx, rig)
			if err != nil {
				t.Fatal(err)
			}
			t.Log(figures)
		})
	}
}
