package faulty_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/walbridge/walbridge/backends"
	"github.com/walbridge/walbridge/backends/backendtest"
	"github.com/walbridge/walbridge/backends/faulty"
	"github.com/walbridge/walbridge/backends/mem"
)

func TestConformance(t *testing.T) {
	for name, o := range map[string]mem.Options{
		"appends": {},
		"like S3": {Appends: 1, MaxAppend: 1 << 20, CreateOnAppend: true},
	} {
		t.Run(name, func(t *testing.T) {
			backendtest.Run(t, func(*testing.T) backends.Bucket {
				return faulty.Wrap(mem.New(o), faulty.NewPlan(1))
			})
		})
	}
	t.Run("slow", func(t *testing.T) {
		backendtest.Run(t, func(*testing.T) backends.Bucket {
			plan := faulty.NewPlan(1)
			plan.Set(faulty.Faults{Latency: faulty.Uniform(0, 100*time.Microsecond)})
			return faulty.Wrap(mem.New(mem.Options{}), plan)
		})
	})
}

const (
	latency  = 3 * time.Millisecond
	deadline = time.Second
	stuckFor = time.Minute
)

// zone is a store with a content behind a Plan, and the same store without it.
type zone struct {
	backends.Bucket
	plan *faulty.Plan
	real *mem.Bucket
}

var content = bytes.Repeat([]byte("0123456789"), 10)

const name = "dir/object"

func newZone(t *testing.T) *zone {
	z := &zone{plan: faulty.NewPlan(7), real: mem.New(mem.Options{})}
	z.Bucket = faulty.Wrap(z.real, z.plan)
	for i := range 10 {
		z.put(t, fmt.Sprintf("dir/old%d", i))
	}
	return z
}

func (z *zone) put(t *testing.T, name string) {
	t.Helper()
	w, err := z.Create(t.Context(), name)
	if err == nil {
		err = w.Append(t.Context(), content, backends.Checksum(content))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// stored returns the object as it is; nil is a missing one.
func (z *zone) stored(t *testing.T, name string) []byte {
	t.Helper()
	for o, err := range z.real.List(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		if o.Name == name {
			p := make([]byte, o.Size)
			if err := z.real.ReadAt(t.Context(), name, p, 0); err != nil {
				t.Fatal(err)
			}
			return p
		}
	}
	return nil
}

// outcome is what a fault lets through to its caller and to the store.
type outcome struct {
	faults faulty.Faults
	err    error
	took   time.Duration
	done   bool // all of the operation reached the store
}

var outcomes = map[string]outcome{
	"none":     {faulty.Faults{}, nil, latency, true},
	"fail":     {faulty.Faults{Fail: 1}, faulty.ErrInjected, latency, false},
	"sentinel": {faulty.Faults{Fail: 1, Err: backends.ErrThrottled}, backends.ErrThrottled, latency, false},
	"lost ack": {faulty.Faults{LostAck: 1}, faulty.ErrInjected, latency, true},
	"hang":     {faulty.Faults{Hang: 1}, context.DeadlineExceeded, deadline, false},
	"mute":     {faulty.Faults{Mute: 1}, context.DeadlineExceeded, deadline, true},
	"stuck":    {faulty.Faults{Stuck: 1, StuckFor: stuckFor}, nil, latency + stuckFor, true},
	"too slow": {faulty.Faults{Latency: faulty.Constant(time.Hour)}, context.DeadlineExceeded, deadline, false},
}

// suffer runs run on a zone whose op suffers o's fault, and checks the error and the time it takes.
func suffer(t *testing.T, op faulty.Op, run func(context.Context, *zone, outcome) error) {
	for name, o := range outcomes {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				z := newZone(t)
				if o.faults.Latency == nil {
					o.faults.Latency = faulty.Constant(latency)
				}
				z.plan.Set(o.faults, op)
				ctx, cancel := context.WithTimeout(t.Context(), deadline)
				defer cancel()
				start := time.Now()
				err := run(ctx, z, o)
				if !errors.Is(err, o.err) {
					t.Errorf("error %v, want %v", err, o.err)
				}
				if took := time.Since(start); took != o.took {
					t.Errorf("took %v, want %v", took, o.took)
				}
			})
		})
	}
}

func TestAppend(t *testing.T) {
	suffer(t, faulty.Append, func(ctx context.Context, z *zone, o outcome) error {
		w, err := z.Create(ctx, name)
		if err != nil {
			t.Fatal(err)
		}
		err = w.Append(ctx, content, backends.Checksum(content))
		if got := z.stored(t, name); bytes.Equal(got, content) != o.done {
			t.Errorf("stored %q, want all of it: %v", got, o.done)
		}
		if err != nil {
			z.plan.Set(faulty.Faults{})
			if again := w.Append(t.Context(), content, backends.Checksum(content)); !errors.Is(again, backends.ErrClosed) {
				t.Errorf("Append after an error: %v, want ErrClosed", again)
			}
		}
		return err
	})
}

func TestCreate(t *testing.T) {
	suffer(t, faulty.Create, func(ctx context.Context, z *zone, o outcome) error {
		w, err := z.Create(ctx, name)
		if (w != nil) != (err == nil) {
			t.Errorf("Create = %v, %v", w, err)
		}
		if got := z.stored(t, name); (got != nil) != o.done {
			t.Errorf("object exists: %v, want %v", got != nil, o.done)
		}
		return err
	})
}

func TestRead(t *testing.T) {
	suffer(t, faulty.Read, func(ctx context.Context, z *zone, _ outcome) error {
		p := make([]byte, len(content))
		err := z.ReadAt(ctx, "dir/old0", p, 0)
		if err == nil && !bytes.Equal(p, content) {
			t.Errorf("read %q", p)
		}
		return err
	})
}

func TestList(t *testing.T) {
	suffer(t, faulty.List, func(ctx context.Context, z *zone, o outcome) error {
		n, last := list(ctx, z)
		if (n == 10) != o.done {
			t.Errorf("listed %d of 10 objects, want all: %v", n, o.done)
		}
		return last
	})
}

func list(ctx context.Context, b backends.Bucket) (n int, last error) {
	for _, err := range b.List(ctx, "dir") {
		if err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

func TestDelete(t *testing.T) {
	suffer(t, faulty.Delete, func(ctx context.Context, z *zone, o outcome) error {
		deleted, err := z.Delete(ctx, []string{"dir/old0"})
		if gone := z.stored(t, "dir/old0") == nil; gone != o.done {
			t.Errorf("object gone: %v, want %v", gone, o.done)
		}
		if confirmed := len(deleted) == 1; confirmed != (err == nil) {
			t.Errorf("Delete = %q, %v", deleted, err)
		}
		return err
	})
}

// A CloseWriter releases the Writer, whatever it answers.
func TestCloseWriter(t *testing.T) {
	suffer(t, faulty.CloseWriter, func(ctx context.Context, z *zone, _ outcome) error {
		w, err := z.Create(ctx, name)
		if err != nil {
			t.Fatal(err)
		}
		err = w.Close(ctx)
		if err := w.Append(t.Context(), content, backends.Checksum(content)); !errors.Is(err, backends.ErrClosed) {
			t.Errorf("Append after Close: %v, want ErrClosed", err)
		}
		return err
	})
}

func TestTorn(t *testing.T) {
	z := newZone(t)
	z.plan.Set(faulty.Faults{Torn: 1})
	z.plan.Set(faulty.Faults{}, faulty.Create)
	var lengths []int
	for i := range 20 {
		name := fmt.Sprintf("torn/%d", i)
		w, err := z.Create(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Append(t.Context(), content, backends.Checksum(content)); !errors.Is(err, faulty.ErrInjected) {
			t.Fatalf("Append: %v", err)
		}
		got := z.stored(t, name)
		if len(got) == len(content) || !bytes.HasPrefix(content, got) {
			t.Errorf("a torn Append stored %q", got)
		}
		lengths = append(lengths, len(got))
	}
	if slices.Sort(lengths); len(slices.Compact(lengths)) < 5 {
		t.Errorf("torn Appends stored these lengths only: %v", lengths)
	}

	n, err := list(t.Context(), z)
	if !errors.Is(err, faulty.ErrInjected) || n >= 10 {
		t.Errorf("a torn List yields %d of 10 objects, error %v", n, err)
	}

	var names []string
	for i := range 10 {
		names = append(names, fmt.Sprintf("dir/old%d", i))
	}
	deleted, err := z.Delete(t.Context(), names)
	if !errors.Is(err, faulty.ErrInjected) || len(deleted) == len(names) {
		t.Errorf("a torn Delete = %q, %v", deleted, err)
	}
	for _, name := range names {
		if gone := z.stored(t, name) == nil; gone != slices.Contains(deleted, name) {
			t.Errorf("a torn Delete confirms %q; %s gone: %v", deleted, name, gone)
		}
	}
}

func TestCorrupt(t *testing.T) {
	z := newZone(t)
	sent := bytes.Clone(content)
	z.plan.Set(faulty.Faults{Corrupt: 1}, faulty.Append)
	w, err := z.Create(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Append(t.Context(), sent, backends.Checksum(sent)); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(sent, content) {
		t.Error("the Append corrupted the bytes of its caller")
	}
	if got := z.stored(t, name); differ(got, content) != 1 {
		t.Errorf("a corrupt Append stored %q", got)
	}
	if err := w.Append(t.Context(), sent, 0); !errors.Is(err, backends.ErrChecksum) {
		t.Errorf("Append with a wrong checksum: %v, want ErrChecksum", err)
	}

	z.plan.Set(faulty.Faults{Corrupt: 1}, faulty.Read)
	p := make([]byte, len(content))
	if err := z.ReadAt(t.Context(), "dir/old0", p, 0); err != nil || differ(p, content) != 1 {
		t.Errorf("a corrupt ReadAt read %q, %v", p, err)
	}
	if got := z.stored(t, "dir/old0"); !bytes.Equal(got, content) {
		t.Errorf("a corrupt ReadAt changed the object to %q", got)
	}
}

// differ returns in how many bits a and b differ.
func differ(a, b []byte) (n int) {
	if len(a) != len(b) {
		return -1
	}
	for i := range a {
		n += bits.OnesCount8(a[i] ^ b[i])
	}
	return n
}

// A zone dies at a time and comes back at another, under load.
func TestOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		z := newZone(t)
		z.plan.Set(faulty.Faults{Latency: faulty.Constant(time.Millisecond)})
		time.AfterFunc(10*time.Second, func() { z.plan.Outage(faulty.Faults{Hang: 1}) })
		time.AfterFunc(20*time.Second, z.plan.Recover)
		start := time.Now()
		for time.Since(start) < 30*time.Second {
			at := time.Since(start)
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			err := z.ReadAt(ctx, "dir/old0", make([]byte, 1), 0)
			cancel()
			if dead := at >= 10*time.Second && at < 20*time.Second; dead != (err != nil) {
				t.Errorf("%v after the start: error %v", at, err)
			}
			time.Sleep(100 * time.Millisecond)
		}
	})
}

func TestConcurrentUse(t *testing.T) {
	z := newZone(t)
	var group sync.WaitGroup
	for i := range 4 {
		group.Go(func() {
			for range 100 {
				z.plan.Set(faulty.Faults{Fail: 0.5, Latency: faulty.Exponential(time.Microsecond)}, faulty.Read)
				z.ReadAt(t.Context(), fmt.Sprintf("dir/old%d", i), make([]byte, 1), 0)
			}
		})
	}
	group.Wait()
	if got := z.plan.Count(faulty.Read); got != 400 {
		t.Errorf("Count(Read) = %d, want 400", got)
	}
}
