package quorum

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/walbridge/walbridge/backends"
	"github.com/walbridge/walbridge/backends/faulty"
	"github.com/walbridge/walbridge/backends/mem"
)

const ms = time.Millisecond

var (
	dead  = faulty.Faults{Fail: 1}
	hangs = faulty.Faults{Hang: 1}
)

func takes(d time.Duration) faulty.Faults { return faulty.Faults{Latency: faulty.Constant(d)} }

// cluster is a Bucket over zones that can be made sick, with what they really hold.
type cluster struct {
	*Bucket
	t        *testing.T
	real     []*mem.Bucket
	plans    []*faulty.Plan
	registry *prometheus.Registry
}

// newCluster returns a cluster of n zones that take 5 ms for everything.
func newCluster(t *testing.T, n int, opts Options) *cluster {
	t.Helper()
	c := &cluster{t: t, registry: prometheus.NewRegistry()}
	opts.Registerer = c.registry
	var stores []backends.Bucket
	for i := range n {
		c.real = append(c.real, mem.New(mem.Options{}))
		c.plans = append(c.plans, faulty.NewPlan(uint64(i)))
		c.plans[i].Set(takes(5 * ms))
		stores = append(stores, faulty.Wrap(c.real[i], c.plans[i]))
	}
	c.Bucket = newTest(t, opts, stores...)
	return c
}

// inBubble runs f with a cluster whose time is the bubble's, and closes it.
func inBubble(t *testing.T, n int, opts Options, f func(t *testing.T, c *cluster)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, n, opts)
		f(t, c)
		if err := c.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
}

// running runs Run until the test's end.
func (c *cluster) running(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- c.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Run: %v", err)
		}
	})
}

func (c *cluster) create(name string) backends.Writer {
	c.t.Helper()
	w, err := c.Create(c.t.Context(), name)
	if err != nil {
		c.t.Fatalf("Create: %v", err)
	}
	return w
}

func (c *cluster) put(name string, p []byte) {
	c.t.Helper()
	w := c.create(name)
	mustAppend(c.t, w, p)
	mustClose(c.t, w)
}

func appendTo(ctx context.Context, w backends.Writer, p []byte) error {
	return w.Append(ctx, p, backends.Checksum(p))
}

func mustAppend(t *testing.T, w backends.Writer, p []byte) {
	t.Helper()
	if err := appendTo(t.Context(), w, p); err != nil {
		t.Fatalf("Append: %v", err)
	}
}

func mustClose(t *testing.T, w backends.Writer) {
	t.Helper()
	if err := w.Close(t.Context()); err != nil {
		t.Fatalf("Close of the Writer: %v", err)
	}
}

// content returns the n-th frame of a test.
func frame(n int) []byte { return fmt.Appendf(nil, "frame %d;", n) }

// stored returns what zone i really holds of the object; nil is a missing one.
func (c *cluster) stored(i int, name string) []byte { return stored(c.t, c.real[i], name) }

func stored(t *testing.T, b *mem.Bucket, name string) []byte {
	t.Helper()
	for o, err := range b.List(context.Background(), "") {
		if err != nil {
			t.Fatal(err)
		}
		if o.Name == name {
			p := make([]byte, o.Size)
			if err := b.ReadAt(context.Background(), name, p, 0); err != nil {
				t.Fatal(err)
			}
			return p
		}
	}
	return nil
}

// wantStored checks which frames zone i holds; none at all is a missing object.
func (c *cluster) wantStored(i int, name string, frames ...int) {
	c.t.Helper()
	var want []byte
	for _, n := range frames {
		want = append(want, frame(n)...)
	}
	if got := c.stored(i, name); !bytes.Equal(got, want) {
		c.t.Errorf("zone %d holds %q of %s, want %q", i, got, name, want)
	}
}

func (c *cluster) metric(name string, labels ...string) float64 {
	c.t.Helper()
	return metric(c.t, c.registry, name, labels...)
}

// metric returns the sum of a metric of the package over those of its label values that include labels.
func metric(t *testing.T, registry *prometheus.Registry, name string, labels ...string) float64 {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	sum, found := 0.0, false
	for _, family := range families {
		if family.GetName() != "walbridge_quorum_"+name {
			continue
		}
		for _, m := range family.GetMetric() {
			values := make(map[string]bool)
			for _, l := range m.GetLabel() {
				values[l.GetValue()] = true
			}
			if slices.ContainsFunc(labels, func(label string) bool { return !values[label] }) {
				continue
			}
			sum, found = sum+m.GetCounter().GetValue()+m.GetGauge().GetValue(), true
		}
	}
	if !found {
		t.Fatalf("no metric %s %q", name, labels)
	}
	return sum
}

func (c *cluster) wantMetric(want float64, name string, labels ...string) {
	c.t.Helper()
	if got := c.metric(name, labels...); got != want {
		c.t.Errorf("%s %q is %v, want %v", name, labels, got, want)
	}
}

// took checks that f takes want, and returns its error.
func took(t *testing.T, want time.Duration, f func() error) error {
	t.Helper()
	start := time.Now()
	err := f()
	if d := time.Since(start); d != want {
		t.Errorf("took %v, want %v (error %v)", d, want, err)
	}
	return err
}

func wantError(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("error %v, want %v", err, want)
	}
}

// wantPlain checks that err is an error which claims nothing: "unavailable, outcome unknown".
func wantPlain(t *testing.T, err error) {
	t.Helper()
	if err == nil {
		t.Error("no error")
	}
	for _, sentinel := range append([]error{
		backends.ErrDenied, backends.ErrThrottled, context.DeadlineExceeded, context.Canceled,
	}, answers...) {
		if errors.Is(err, sentinel) {
			t.Errorf("error %v claims %v", err, sentinel)
		}
	}
}
