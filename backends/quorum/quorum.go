package quorum

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/walbridge/walbridge/backends"
)

// errClosed is the error of what is asked of a closed Bucket.
var errClosed = errors.New("quorum: closed")

// Bucket is N zones as one backends.Bucket. See the package's documentation.
type Bucket struct {
	opts            Options
	zones           []*zone // the local one first
	caps            backends.Caps
	metrics         *metrics
	writers         writers
	underReplicated atomic.Uint64
	closed          atomic.Bool
}

// Status tells how the zones are. It asks none of them.
type Status struct {
	// Quorum is how many zones must hold a frame.
	Quorum int
	// UnderReplicated is the number of frames that were acknowledged and that not all zones hold, since New.
	UnderReplicated uint64
	Zones           []ZoneStatus
}

// ZoneStatus is one zone in a Status.
type ZoneStatus struct {
	Name string
	// Down tells that the zone failed too often and gets no writes until a probe, or a write that cannot do without it,
	// succeeds.
	Down bool
	// LastError is the last failure since the zone was last down, nil if there was none.
	LastError     error
	LastErrorTime time.Time
	// LateOps and LateBytes are what the zone still does for callers that have left.
	LateOps   int
	LateBytes int64
	// StuckOps are those of them, and others, that the store has not answered in time.
	StuckOps int
}

// New returns the Bucket of the zones, which it owns from now on. It starts nothing, see Run.
func New(zones []Zone, opts Options) (*Bucket, error) {
	opts, err := opts.withDefaults(zones)
	if err != nil {
		return nil, err
	}
	b := &Bucket{opts: opts, caps: zones[0].Bucket.Caps()}
	b.metrics = newMetrics(b)
	zones = localFirst(zones, opts.Local)
	for _, z := range zones {
		b.zones = append(b.zones, newZone(z, &b.opts, b.metrics))
		caps := z.Bucket.Caps()
		b.caps.Appends = min(b.caps.Appends, caps.Appends)
		b.caps.MaxAppend = min(b.caps.MaxAppend, caps.MaxAppend)
	}
	if err := b.metrics.register(opts.Registerer); err != nil {
		return nil, fmt.Errorf("quorum: register metrics: %w", err)
	}
	if n := len(zones); n > 1 && opts.Quorum == n {
		opts.Logger.Warn("every zone must take every write: no zone may be lost", "zones", n, "quorum", opts.Quorum)
	}
	return b, nil
}

// localFirst returns the zones with the one named local first, and the others in their order.
func localFirst(zones []Zone, local string) []Zone {
	zones = slices.Clone(zones)
	slices.SortStableFunc(zones, func(a, b Zone) int {
		switch local {
		case a.Name:
			return -1
		case b.Name:
			return 1
		}
		return 0
	})
	return zones
}

// Create implements backends.Bucket. It returns once a quorum of zones has opened the object; the others may join until
// the first Append. The object is there, durably, where the zones' Create makes it so.
//
// Where it fails, zones may hold an empty object of that name: whoever gives names gives another one, and reconciles.
// ErrExists means that at least one zone has the name, so it must not be tried again.
func (b *Bucket) Create(ctx context.Context, name string) (backends.Writer, error) {
	if err := b.check(ctx, name); err != nil {
		return nil, fmt.Errorf("quorum: create %s: %w", name, err)
	}
	w, err := b.create(ctx, name)
	if err != nil {
		return nil, err
	}
	return w, nil
}

// check returns why nothing can be asked about name.
func (b *Bucket) check(ctx context.Context, name string) error {
	if err := backends.CheckName(name); err != nil {
		return err
	}
	return b.checkOpen(ctx)
}

func (b *Bucket) checkOpen(ctx context.Context) error {
	if b.closed.Load() {
		return errClosed
	}
	return ctx.Err()
}

// Caps implements backends.Bucket: what every zone can do.
func (b *Bucket) Caps() backends.Caps { return b.caps }

// Status tells how the zones are.
func (b *Bucket) Status() Status {
	s := Status{Quorum: b.opts.Quorum, UnderReplicated: b.underReplicated.Load()}
	for _, z := range b.zones {
		s.Zones = append(s.Zones, z.status())
	}
	return s
}

// Close implements backends.Bucket. It waits for what still goes on in the zones, but no longer than an append and a
// close may take, and closes them. Nothing else may be called then or later, and Run must have returned.
func (b *Bucket) Close() error {
	if b.closed.Swap(true) {
		return errClosed
	}
	patience := 2 * (b.opts.ZoneTimeout + b.opts.Grace)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var errs []error
	for _, z := range b.zones {
		if n := z.running.wait(ctx); n > 0 {
			errs = append(errs, fmt.Errorf("zone %s: close: %d operations or writers left after %v", z.name, n, patience))
		}
	}
	for _, z := range b.zones {
		close := func(context.Context) error { return z.bucket.Close() }
		errs = append(errs, z.call(context.Background(), opOpen, "close", b.opts.ZoneTimeout, close))
	}
	return errors.Join(errs...)
}
