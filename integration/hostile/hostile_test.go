package hostile_test

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/walbridge/walbridge/integration/hostile"
)

// No attack makes an honest copy fail, or the daemon large. How long the copies take is measured by
// `make e2e ONLY=hostile`, where nothing else runs.
func TestAttacks(t *testing.T) {
	if testing.Short() {
		t.Skip("attacks the built daemon for half a minute")
	}
	dir, err := os.MkdirTemp("", "wal") // A test's own directory has too long a path for a socket.
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	p, target, err := hostile.Start(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	for _, a := range hostile.Attacks {
		t.Run(a.Name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			r, err := hostile.Measure(ctx, hostile.Options{Target: target, PID: p.PID(), Window: time.Second, Blocks: 1}, a)
			if err != nil {
				t.Fatal(err)
			}
			if r.Failures > 0 {
				t.Errorf("%d of %d honest copies failed: %s", r.Failures, r.Copies, r.Failure)
			}
			t.Logf("%+v", r)
			if r.PeakRSS > 512<<20 {
				t.Errorf("%d MiB resident", r.PeakRSS>>20)
			}
		})
	}
}
