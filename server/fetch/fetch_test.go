package fetch_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/walbridge/walbridge/backends"
	"github.com/walbridge/walbridge/backends/faulty"
	"github.com/walbridge/walbridge/backends/mem"
	framev1 "github.com/walbridge/walbridge/proto/walbridge/frame/v1"
	"github.com/walbridge/walbridge/server/fetch"
	"github.com/walbridge/walbridge/server/frame"
)

const cluster = "c"

// store is a store in memory that can be made sick and that checks what it reads, as a quorum does.
type store struct {
	backends.Bucket
	plan   *faulty.Plan
	frames int
}

func newStore() *store {
	plan := faulty.NewPlan(1)
	return &store{Bucket: faulty.Wrap(mem.New(mem.Options{}), plan), plan: plan}
}

func (s *store) ReadChecked(ctx context.Context, name string, p []byte, off int64, crc uint32) error {
	if err := s.ReadAt(ctx, name, p, off); err != nil {
		return err
	}
	if backends.Checksum(p) != crc {
		return backends.ErrChecksum
	}
	return nil
}

func (s *store) reads() int { return s.plan.Count(faulty.Read) }

// add stores a frame with one entry of n bytes for each partition from 0 and returns where it is.
func (s *store) add(t *testing.T, partitions, n int) (frame.Extent, *frame.Frame) {
	t.Helper()
	sections := make([]frame.Section, partitions)
	for i := range sections {
		data := fmt.Appendf(nil, "%0*d", n, i)
		sections[i] = frame.Section{
			Entry: &framev1.Entry{
				TopicId: []byte("0123456789abcdef"), Topic: "t", Partition: int32(i), SegmentId: []byte("fedcba9876543210"),
				Length: uint32(n), Crc32C: backends.Checksum(data),
			},
			Chunks: [][]byte{data},
		}
	}
	f, err := frame.Encode(frame.Identity{ClusterID: cluster, BrokerID: 1}, sections)
	if err != nil {
		t.Fatal(err)
	}
	s.frames++
	id := frame.ObjectID{Broker: 1}
	id.ULID[15] = byte(s.frames)
	w, err := s.Create(t.Context(), id.Name(cluster))
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Append(t.Context(), f.Bytes, f.CRC32C); err != nil {
		t.Fatal(err)
	}
	return f.Extent(id, 0), f
}

func TestThousandEntriesCostOneRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		x, want := s.add(t, 1000, 300)
		s.plan.Set(faulty.Faults{Latency: faulty.Constant(20 * time.Millisecond)}, faulty.Read)
		f := fetch.New(fetch.Options{Cluster: cluster, Source: s})
		read := func(i int) {
			got, err := f.Frame(t.Context(), x)
			if err != nil {
				t.Error(err)
				return
			}
			e := want.Index.Entries[i]
			part, err := fetch.Slice(got, fetch.EntryRange{
				Position: e.Position, Length: e.Length, TopicID: e.TopicId, Partition: int32(i), End: 1 << 40,
			})
			if err != nil || string(part) != fmt.Sprintf("%0300d", i) {
				t.Errorf("entry %d: %q, %v", i, part, err)
			}
		}
		began := time.Now()
		var all sync.WaitGroup
		for i := range 500 {
			all.Go(func() { read(i) })
		}
		all.Wait()
		for i := 500; i < 1000; i++ {
			read(i)
		}
		if n, d := s.reads(), time.Since(began); n != 1 || d != 20*time.Millisecond {
			t.Errorf("%d store reads in %v, want 1 of 20 ms", n, d)
		}
	})
}

func TestFailureIsToldToAllAndNotKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		x, _ := s.add(t, 1, 300)
		f := fetch.New(fetch.Options{Cluster: cluster, Source: s})
		boom := errors.New("boom")
		s.plan.Set(faulty.Faults{Latency: faulty.Constant(time.Millisecond), Fail: 1, Err: boom}, faulty.Read)
		var all sync.WaitGroup
		for range 10 {
			all.Go(func() {
				if _, err := f.Frame(t.Context(), x); !errors.Is(err, boom) {
					t.Errorf("got %v, want the store's error", err)
				}
			})
		}
		all.Wait()
		if n := s.reads(); n != 1 {
			t.Errorf("%d store reads", n)
		}
		s.plan.Set(faulty.Faults{}, faulty.Read)
		if _, err := f.Frame(t.Context(), x); err != nil {
			t.Errorf("after the failure: %v", err)
		}
	})
}

func TestWhatIsNotAFrame(t *testing.T) {
	s := newStore()
	x, want := s.add(t, 3, 300)
	f := fetch.New(fetch.Options{Cluster: cluster, Source: s, MaxLoadingBytes: 1 << 20})
	part := want.Bytes[:500]
	for what, tc := range map[string]struct {
		change func(*frame.Extent)
		want   error
	}{
		"another object":   {func(x *frame.Extent) { x.Object.ULID[0]++ }, backends.ErrNotFound},
		"beyond the end":   {func(x *frame.Extent) { x.Position++ }, backends.ErrRange},
		"another checksum": {func(x *frame.Extent) { x.CRC32C++ }, backends.ErrChecksum},
		"half a frame":     {func(x *frame.Extent) { x.Length, x.CRC32C = 500, backends.Checksum(part) }, backends.ErrChecksum},
		"more than may be": {func(x *frame.Extent) { x.Length = 1<<20 + 1 }, backends.ErrTooLarge},
	} {
		x := x
		tc.change(&x)
		if _, err := f.Frame(t.Context(), x); !errors.Is(err, tc.want) {
			t.Errorf("%s: %v, want %v", what, err, tc.want)
		}
	}
	s.plan.Set(faulty.Faults{Corrupt: 1}, faulty.Read)
	if _, err := f.Frame(t.Context(), x); !errors.Is(err, backends.ErrChecksum) {
		t.Errorf("a flipped bit: %v, want ErrChecksum", err)
	}
}

func TestReadGoesOnWhileSomeoneWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		x, _ := s.add(t, 1, 300)
		s.plan.Set(faulty.Faults{Latency: faulty.Constant(100 * time.Millisecond)}, faulty.Read)
		f := fetch.New(fetch.Options{Cluster: cluster, Source: s})
		var all sync.WaitGroup
		all.Go(func() { // It starts the read, and leaves first.
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
			defer cancel()
			began := time.Now()
			_, err := f.Frame(ctx, x)
			if d := time.Since(began); !errors.Is(err, context.DeadlineExceeded) || d != 10*time.Millisecond {
				t.Errorf("the one that left: %v after %v", err, d)
			}
		})
		synctest.Wait()
		all.Go(func() {
			if _, err := f.Frame(t.Context(), x); err != nil {
				t.Errorf("the one that stayed: %v", err)
			}
		})
		all.Wait()
		if n := s.reads(); n != 1 {
			t.Errorf("%d store reads", n)
		}
	})
}

func TestReadEndsWhenEveryoneHasLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		x, _ := s.add(t, 1, 300)
		s.plan.Set(faulty.Faults{Hang: 1}, faulty.Read)
		f := fetch.New(fetch.Options{Cluster: cluster, Source: s, LoadTimeout: time.Hour})
		began := time.Now()
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				if _, err := f.Frame(ctx, x); !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("got %v", err)
				}
			})
		}
		all.Wait()
		if d := time.Since(began); d != time.Second {
			t.Errorf("the read that nobody waits for ended after %v", d)
		}
		s.plan.Set(faulty.Faults{}, faulty.Read)
		if _, err := f.Frame(t.Context(), x); err != nil {
			t.Errorf("after a cancelled read: %v", err)
		}
	})
}

// A read that was cancelled and takes its time to end is nothing to the reads that follow it.
func TestCancelledReadIsNotJoined(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		x, _ := s.add(t, 1, 300)
		f := fetch.New(fetch.Options{Cluster: cluster, Source: s, LoadTimeout: time.Minute, CacheBytes: 1})
		ask := func(patience, want time.Duration) func() {
			return func() {
				ctx, cancel := context.WithTimeout(t.Context(), patience)
				defer cancel()
				began := time.Now()
				_, err := f.Frame(ctx, x)
				if d := time.Since(began); d != want || (err != nil) != (want > patience) {
					t.Errorf("got %v after %v, want an answer after %v", err, d, want)
				}
			}
		}
		var all sync.WaitGroup
		s.plan.Set(faulty.Faults{Stuck: 1, StuckFor: 10 * time.Second}, faulty.Read)
		all.Go(ask(time.Second, 10*time.Second))
		time.Sleep(2 * time.Second)
		s.plan.Set(faulty.Faults{Latency: faulty.Constant(20 * time.Second)}, faulty.Read)
		all.Go(ask(time.Minute, 20*time.Second))
		time.Sleep(9 * time.Second)
		all.Go(ask(time.Minute, 11*time.Second)) // Joins the one before.
		all.Wait()
		if n := s.reads(); n != 2 {
			t.Errorf("%d store reads, want 2", n)
		}
	})
}

func TestReadHasItsOwnDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		x, _ := s.add(t, 1, 300)
		s.plan.Set(faulty.Faults{Hang: 1}, faulty.Read)
		f := fetch.New(fetch.Options{Cluster: cluster, Source: s})
		began := time.Now()
		if _, err := f.Frame(t.Context(), x); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		if d := time.Since(began); d != 5*time.Second {
			t.Errorf("failed after %v", d)
		}
	})
}

func TestCacheIsBoundedAndDropsWhatIsLeastUsed(t *testing.T) {
	s := newStore()
	reg := prometheus.NewPedanticRegistry()
	f := fetch.New(fetch.Options{Cluster: cluster, Source: s, CacheBytes: 4000, Registerer: reg}) // Room for three.
	var extents []frame.Extent
	for range 4 {
		x, _ := s.add(t, 1, 1000)
		extents = append(extents, x)
	}
	for _, step := range []struct{ extent, reads int }{
		{0, 1}, {1, 2}, {2, 3}, {0, 3}, {3, 4}, // Drops 1.
		{0, 4}, {2, 4}, {3, 4}, {1, 5}, // Drops 0.
		{2, 5}, {3, 5}, {1, 5}, {0, 6},
	} {
		if _, err := f.Frame(t.Context(), extents[step.extent]); err != nil {
			t.Fatal(err)
		}
		if n := s.reads(); n != step.reads {
			t.Fatalf("%d store reads after frame %d, want %d", n, step.extent, step.reads)
		}
	}
	large, _ := s.add(t, 1, 5000)
	for range 2 { // Served, not kept.
		if _, err := f.Frame(t.Context(), large); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := f.Frame(t.Context(), extents[0]); err != nil || s.reads() != 8 {
		t.Errorf("%d store reads, %v; want a frame too large for the cache to be read each time and drop none", s.reads(), err)
	}
	got := gather(t, reg)
	if got["walbridge_fetch_frames_total miss"] != 8 || got["walbridge_fetch_frames_total hit"] != 8 ||
		got["walbridge_fetch_read_seconds ok"] != 8 || got["walbridge_fetch_loading_bytes"] != 0 {
		t.Errorf("metrics %v", got)
	}
	if b := got["walbridge_fetch_cache_bytes"]; b < 3000 || b > 4000 {
		t.Errorf("cache of %v bytes", b)
	}
}

func TestReadsAreBoundedByBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		f := fetch.New(fetch.Options{Cluster: cluster, Source: s, MaxLoadingBytes: 2500, LoadTimeout: time.Second})
		s.plan.Set(faulty.Faults{Latency: faulty.Constant(100 * time.Millisecond)}, faulty.Read)
		began := time.Now()
		var all sync.WaitGroup
		for range 6 { // Two at once.
			x, _ := s.add(t, 1, 1000)
			all.Go(func() {
				if _, err := f.Frame(t.Context(), x); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if d := time.Since(began); d != 300*time.Millisecond {
			t.Errorf("6 extents read in %v, want two at a time", d)
		}
		// They hold their room for longer than the third one waits for it.
		s.plan.Set(faulty.Faults{Stuck: 1, StuckFor: 2 * time.Second}, faulty.Read)
		for i := range 3 {
			x, _ := s.add(t, 1, 1000)
			all.Go(func() {
				var want error
				if i == 2 {
					want = fetch.ErrFull
				}
				if _, err := f.Frame(t.Context(), x); !errors.Is(err, want) {
					t.Errorf("read %d: %v, want %v", i, err, want)
				}
			})
			synctest.Wait()
		}
		all.Wait()
	})
}

func gather(t *testing.T, reg prometheus.Gatherer) map[string]float64 {
	t.Helper()
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			name := f.GetName()
			for _, l := range m.GetLabel() {
				name += " " + l.GetValue()
			}
			got[name] = m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
		}
	}
	return got
}
