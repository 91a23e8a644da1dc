package quorum

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"math"
	"sync"
	"testing"
	"time"

	"github.com/walbridge/walbridge/backends"
	"github.com/walbridge/walbridge/backends/backendtest"
	"github.com/walbridge/walbridge/backends/faulty"
	"github.com/walbridge/walbridge/backends/mem"
)

// newTest returns a Bucket, not yet closed, of zones named a, b, c and so on.
func newTest(t *testing.T, opts Options, stores ...backends.Bucket) *Bucket {
	t.Helper()
	zones := make([]Zone, len(stores))
	for i, store := range stores {
		zones[i] = Zone{Name: string(rune('a' + i)), Bucket: store}
	}
	b, err := New(zones, opts)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestConformance(t *testing.T) {
	for name, o := range map[string]mem.Options{
		"appends": {},
		"one":     {Appends: 1},
		"like S3": {Appends: 1, MaxAppend: 1 << 20, CreateOnAppend: true},
	} {
		for _, n := range []int{1, 2, 3} {
			t.Run(fmt.Sprintf("%s/%d zones", name, n), func(t *testing.T) {
				backendtest.Run(t, func(t *testing.T) backends.Bucket {
					var stores []backends.Bucket
					for range n {
						stores = append(stores, mem.New(o))
					}
					return newTest(t, Options{}, stores...)
				})
			})
		}
	}
}

// One zone of three is faulty, in every way, be it the local one or another. A Delete is the exception: it has to reach
// all zones, so it is refused while one is sick, see TestDelete. For the same reason no zone breaks here.
//
// The suite cannot run in a synctest bubble, so the timeouts that healthy zones could run into on a busy machine are
// far away; a zone hangs for as long as an impatient store's own timeout. For longer hangs see TestSchedules.
func TestConformanceFaulty(t *testing.T) {
	sickOps := []faulty.Op{faulty.Create, faulty.Append, faulty.CloseWriter, faulty.Read, faulty.List}
	for name, f := range map[string]faulty.Faults{
		"fails":      {Fail: 1},
		"tears":      {Torn: 0.5},
		"loses acks": {LostAck: 0.5},
		"hangs":      {Hang: 1},
		"mute":       {Mute: 0.5},
		"deaf":       {Stuck: 0.2, StuckFor: 3 * ms},
		"slow":       {Latency: faulty.Uniform(0, 2*ms)},
		"all":        {Fail: 0.1, Torn: 0.1, LostAck: 0.1, Hang: 0.1, Mute: 0.1, Stuck: 0.1, StuckFor: 3 * ms},
		"lies":       {Corrupt: 1},
	} {
		for _, sick := range []int{0, 2} { // the local zone, and another
			t.Run(fmt.Sprintf("%s/zone %d", name, sick), func(t *testing.T) {
				t.Parallel()
				backendtest.Run(t, func(t *testing.T) backends.Bucket {
					plan := faulty.NewPlan(uint64(sick))
					plan.Set(f, sickOps...)
					if f.Corrupt > 0 {
						plan.Set(faulty.Faults{}, faulty.Append)
					}
					stores := []backends.Bucket{
						mem.New(mem.Options{}), mem.New(mem.Options{}), mem.New(mem.Options{}),
					}
					stores[sick] = impatient{faulty.Wrap(stores[sick], plan)}
					const never = time.Minute
					return &checked{Bucket: newTest(t, Options{
						ZoneTimeout: never, ReadTimeout: never, MaxLag: never, HedgeDelay: ms, BreakerFailures: math.MaxInt,
					}, stores...), content: make(map[string][]byte)}
				})
			})
		}
	}
}

// impatient is a store with timeouts of its own.
type impatient struct{ backends.Bucket }

func (b impatient) timeout(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, 2*ms)
}

func (b impatient) Create(ctx context.Context, name string) (backends.Writer, error) {
	ctx, cancel := b.timeout(ctx)
	defer cancel()
	w, err := b.Bucket.Create(ctx, name)
	return impatientWriter{w, b}, err
}

func (b impatient) ReadAt(ctx context.Context, name string, p []byte, off int64) error {
	ctx, cancel := b.timeout(ctx)
	defer cancel()
	return b.Bucket.ReadAt(ctx, name, p, off)
}

func (b impatient) List(ctx context.Context, dir string) iter.Seq2[backends.Object, error] {
	return func(yield func(backends.Object, error) bool) {
		ctx, cancel := b.timeout(ctx)
		defer cancel()
		b.Bucket.List(ctx, dir)(yield)
	}
}

type impatientWriter struct {
	backends.Writer
	bucket impatient
}

func (w impatientWriter) Append(ctx context.Context, p []byte, crc uint32) error {
	ctx, cancel := w.bucket.timeout(ctx)
	defer cancel()
	return w.Writer.Append(ctx, p, crc)
}

func (w impatientWriter) Close(ctx context.Context) error {
	ctx, cancel := w.bucket.timeout(ctx)
	defer cancel()
	return w.Writer.Close(ctx)
}

// checked is a Bucket that reads what was appended through it with ReadChecked, as a reader that has an extent does.
type checked struct {
	*Bucket

	mu      sync.Mutex
	content map[string][]byte // what was acknowledged
}

func (c *checked) Create(ctx context.Context, name string) (backends.Writer, error) {
	w, err := c.Bucket.Create(ctx, name)
	if err != nil {
		return nil, err
	}
	return &checkedWriter{Writer: w, bucket: c, name: name}, nil
}

type checkedWriter struct {
	backends.Writer
	bucket *checked
	name   string
}

func (w *checkedWriter) Append(ctx context.Context, p []byte, crc uint32) error {
	err := w.Writer.Append(ctx, p, crc)
	if err == nil {
		w.bucket.mu.Lock()
		defer w.bucket.mu.Unlock()
		w.bucket.content[w.name] = append(bytes.Clone(w.bucket.content[w.name]), p...)
	}
	return err
}

func (c *checked) ReadAt(ctx context.Context, name string, p []byte, off int64) error {
	c.mu.Lock()
	content := c.content[name]
	c.mu.Unlock()
	if end := off + int64(len(p)); off >= 0 && end >= off && end <= int64(len(content)) {
		return c.ReadChecked(ctx, name, p, off, backends.Checksum(content[off:end]))
	}
	return c.Bucket.ReadAt(ctx, name, p, off)
}

func (c *checked) Delete(ctx context.Context, names []string) ([]string, error) {
	deleted, err := c.Bucket.Delete(ctx, names)
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, name := range deleted {
		delete(c.content, name)
	}
	return deleted, err
}
