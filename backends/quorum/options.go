package quorum

import (
	"cmp"
	"fmt"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/walbridge/walbridge/backends"
)

// Zone is one of the stores that a Bucket writes to.
type Zone struct {
	// Name is the zone's name in errors, logs and metrics.
	Name string
	// Bucket is the zone's store. The quorum's Bucket closes it.
	Bucket backends.Bucket
}

// Options shape a Bucket. The zero value of a field is its default.
type Options struct {
	// Quorum is how many zones must hold a frame before it is acknowledged; the default is the majority. It is more than
	// half of the zones, so that any two quorums have a zone in common.
	Quorum int
	// Local names the zone that is read first; the default is the first zone.
	Local string

	// ZoneTimeout bounds one opening, append or close in one zone. Default 2 s.
	ZoneTimeout time.Duration
	// ReadTimeout bounds the reading from one zone. Default 1 s.
	ReadTimeout time.Duration
	// SweepTimeout bounds a Delete, and the listing of one zone. Default 30 s.
	SweepTimeout time.Duration
	// Grace is how long past its timeout an operation may take to notice. One that takes longer is stuck: it is left
	// alone in its goroutine and counts as failed. Default 250 ms.
	Grace time.Duration
	// HedgeDelay is how long a read waits for a zone before it asks the next one too. Default 20 ms; negative: until the
	// zone failed.
	HedgeDelay time.Duration

	// MaxLag is how long after a Create or an Append has returned the zones that are still at it may take before the next
	// Append has them leave the object: it waits for them that long. Default 20 ms; negative: not at all.
	MaxLag time.Duration

	// MaxLateBytes bounds, per zone, the bytes held for operations that outlive their callers. Default 32 MiB.
	MaxLateBytes int64
	// MaxOps bounds, per zone, the operations that are under way, whether somebody waits for them or not, and so the
	// goroutines that a store which answers nothing can keep. A zone at its bound is asked for nothing more. Default 1024.
	MaxOps int

	// BreakerFailures is the number of consecutive failures that breaks a zone. Default 5.
	BreakerFailures int
	// ProbeInterval is how long a broken zone is left alone between two tries. Default 1 s.
	ProbeInterval time.Duration
	// ProbeDir is the directory of the objects that probes write and delete. Default "probe".
	ProbeDir string

	// Logger gets a line where a zone breaks and where it comes back. Default: no log.
	Logger *slog.Logger
	// Registerer gets the metrics. Default: none are registered.
	Registerer prometheus.Registerer
}

// withDefaults returns o with every default filled in, or what is wrong with it for the zones.
func (o Options) withDefaults(zones []Zone) (Options, error) {
	o.Quorum = cmp.Or(o.Quorum, len(zones)/2+1)
	o.ZoneTimeout = cmp.Or(o.ZoneTimeout, 2*time.Second)
	o.ReadTimeout = cmp.Or(o.ReadTimeout, time.Second)
	o.SweepTimeout = cmp.Or(o.SweepTimeout, 30*time.Second)
	o.Grace = cmp.Or(o.Grace, 250*time.Millisecond)
	o.HedgeDelay = cmp.Or(o.HedgeDelay, 20*time.Millisecond)
	o.MaxLag = cmp.Or(o.MaxLag, 20*time.Millisecond)
	o.MaxLateBytes = cmp.Or(o.MaxLateBytes, 32<<20)
	o.MaxOps = cmp.Or(o.MaxOps, 1024)
	o.BreakerFailures = cmp.Or(o.BreakerFailures, 5)
	o.ProbeInterval = cmp.Or(o.ProbeInterval, time.Second)
	o.ProbeDir = cmp.Or(o.ProbeDir, "probe")
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	return o, o.check(zones)
}

func (o Options) check(zones []Zone) error {
	n := len(zones)
	if n == 0 || n > MaxZones {
		return fmt.Errorf("quorum: %d zones, want 1 to %d", n, MaxZones)
	}
	if o.Quorum <= n/2 || o.Quorum > n {
		return fmt.Errorf("quorum: a quorum of %d of %d zones, want %d to %d", o.Quorum, n, n/2+1, n)
	}
	names := make(map[string]bool, n)
	for _, z := range zones {
		if z.Name == "" {
			return fmt.Errorf("quorum: a zone has no name")
		}
		if names[z.Name] {
			return fmt.Errorf("quorum: two zones are named %s", z.Name)
		}
		names[z.Name] = true
	}
	if o.Local != "" && !names[o.Local] {
		return fmt.Errorf("quorum: the local zone %s is not one of the zones", o.Local)
	}
	if err := backends.CheckName(o.ProbeDir); err != nil {
		return fmt.Errorf("quorum: probe directory: %w", err)
	}
	for name, d := range map[string]time.Duration{
		"ZoneTimeout": o.ZoneTimeout, "ReadTimeout": o.ReadTimeout, "SweepTimeout": o.SweepTimeout, "Grace": o.Grace,
		"ProbeInterval": o.ProbeInterval,
	} {
		if d < 0 {
			return fmt.Errorf("quorum: %s is %v, want a positive duration", name, d)
		}
	}
	if o.MaxLateBytes < 0 || o.MaxOps < 0 || o.BreakerFailures < 0 {
		return fmt.Errorf("quorum: MaxLateBytes, MaxOps or BreakerFailures is negative")
	}
	return nil
}

func (o Options) breakerRule() breakerRule {
	return breakerRule{failures: o.BreakerFailures, interval: o.ProbeInterval}
}

func (o Options) loadLimit() loadLimit {
	return loadLimit{ops: o.MaxOps, lateBytes: o.MaxLateBytes}
}
