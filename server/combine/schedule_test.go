package combine_test

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/walbridge/walbridge/backends/faulty"
	"github.com/walbridge/walbridge/backends/mem"
	"github.com/walbridge/walbridge/backends/quorum"
	"github.com/walbridge/walbridge/pool"
	"github.com/walbridge/walbridge/server/combine"
	"github.com/walbridge/walbridge/server/fetch"
	"github.com/walbridge/walbridge/server/frame"
)

// TestAnySchedule is the promise of the store core: whatever the zones do and whoever leaves, a copy that was
// acknowledged is in a quorum of zones, byte for byte, so that any N-W+1 of them have it; and once the zones are well
// again, copies succeed again. WALBRIDGE_SEED runs one schedule alone.
func TestAnySchedule(t *testing.T) {
	if s := os.Getenv("WALBRIDGE_SEED"); s != "" {
		seed, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		synctest.Test(t, func(t *testing.T) { newSchedule(t, seed).run() })
		return
	}
	n := 3000
	if testing.Short() {
		n = 200
	}
	base := rand.Uint64()
	t.Logf("%d schedules from WALBRIDGE_SEED=%d on", n, base)
	var acked, failed int
	for i := range n {
		seed := base + uint64(i)
		synctest.Test(t, func(t *testing.T) {
			s := newSchedule(t, seed)
			s.run()
			acked += len(s.acked)
			failed += s.failed
		})
		if t.Failed() {
			t.Fatalf("failed with WALBRIDGE_SEED=%d", seed)
		}
	}
	t.Logf("%d copies acknowledged, %d failed", acked, failed)
	if acked < 5*n || failed < n {
		t.Errorf("%d copies acknowledged and %d failed in %d schedules: they test too little", acked, failed, n)
	}
}

const (
	zoneCount  = 3
	quorumSize = 2
)

// schedule is one run of the store core over three zones that misbehave at random.
type schedule struct {
	t      *testing.T
	stores [zoneCount]*mem.Bucket
	plans  [zoneCount]*faulty.Plan
	bucket *quorum.Bucket
	*combine.Combiner

	mu     sync.Mutex
	random *rand.Rand
	acked  []ackedCopy
	failed int
	nextID int
}

type ackedCopy struct {
	result   combine.Result
	sections []frame.Section
}

func newSchedule(t *testing.T, seed uint64) *schedule {
	return &schedule{t: t, random: rand.New(rand.NewPCG(seed, 0))}
}

// below returns a number from 0 to n-1.
func (s *schedule) below(n int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.random.IntN(n)
}

func (s *schedule) time(most time.Duration) time.Duration {
	return time.Duration(s.below(int(most) + 1))
}

func (s *schedule) run() {
	stop := s.start()
	faults, noFaults := context.WithCancel(s.t.Context())
	var chaos, callers sync.WaitGroup
	for _, p := range s.plans {
		chaos.Go(func() { s.misbehave(faults, p) })
	}
	for range 1 + s.below(6) {
		n, pause := 1+s.below(8), s.time(200*ms)
		callers.Go(func() {
			for range n {
				s.copyOnce()
				time.Sleep(s.time(pause))
			}
		})
	}
	callers.Wait()
	noFaults()
	chaos.Wait()
	s.checkRecovery()
	stop()
	for _, a := range s.acked {
		s.checkStored(a)
	}
}

// start builds what a daemon is made of, in any configuration, and returns what ends it.
func (s *schedule) start() (stop func()) {
	oneShot, appends := s.below(2) == 0, 1+s.below(4)
	if oneShot {
		appends = 1
	}
	var zones []quorum.Zone
	for i := range s.stores {
		s.stores[i] = mem.New(mem.Options{Appends: appends, CreateOnAppend: oneShot})
		s.plans[i] = faulty.NewPlan(s.random.Uint64())
		zones = append(zones, quorum.Zone{Name: string(rune('a' + i)), Bucket: faulty.Wrap(s.stores[i], s.plans[i])})
	}
	var err error
	s.bucket, err = quorum.New(zones, quorum.Options{Quorum: quorumSize, MaxLateBytes: int64(1000 + s.below(100_000))})
	if err != nil {
		s.t.Fatal(err)
	}
	opener := &combine.Opener{Bucket: s.bucket, Identity: identity, Logger: slog.New(slog.DiscardHandler)}
	objects := pool.New(pool.Options[combine.Object]{
		Load: opener.Open, Discard: opener.Discard, MinDepth: 1 + s.below(3), LoadConcurrency: 1 + s.below(8),
		MaxItemAge: time.Second + s.time(20*time.Second),
	})
	s.Combiner, err = combine.New(combine.Options{
		Identity: identity, Objects: objects, Caps: s.bucket.Caps(),
		Lanes: 1 + s.below(4), Linger: s.time(15 * ms), MaxFrameBytes: int64(500 + s.below(5000)),
		Rotation: combine.Rotation{Appends: 1 + s.below(5), Bytes: int64(1 + s.below(10_000)), Age: s.time(time.Second) + 1},
	})
	if err != nil {
		s.t.Fatal(err)
	}
	stopZones := run(s.t, func(ctx context.Context) { _ = s.bucket.Run(ctx) })
	stopPool := run(s.t, objects.Run)
	stopLanes := run(s.t, s.Run)
	return func() {
		if s.below(2) == 0 {
			if err := s.Drain(s.t.Context()); err != nil {
				s.t.Error(err)
			}
		}
		stopLanes()
		stopPool()
		stopZones()
		if err := s.bucket.Close(); err != nil {
			s.t.Errorf("close of healthy zones: %v", err)
		}
	}
}

// misbehave changes how a zone is until ctx ends; then it is well.
func (s *schedule) misbehave(ctx context.Context, p *faulty.Plan) {
	ops := []faulty.Op{faulty.Create, faulty.Append, faulty.CloseWriter, faulty.Read, faulty.List, faulty.Delete}
	for ctx.Err() == nil {
		f := faulty.Faults{Latency: faulty.Exponential(1 + s.time(40*ms)), StuckFor: s.time(4 * time.Second)}
		chance := float64(s.below(100)) / 100
		switch s.below(10) {
		case 0:
			f.Fail = chance
		case 1:
			f.Torn = chance
		case 2:
			f.LostAck = chance
		case 3:
			f.Hang = chance
		case 4:
			f.Mute = chance
		case 5:
			f.Stuck = chance
		}
		switch s.below(4) {
		case 0:
			p.Outage(f)
		case 1:
			p.Set(f)
		default:
			p.Set(f, ops[s.below(len(ops))])
		}
		select {
		case <-time.After(s.time(time.Second)):
		case <-ctx.Done():
		}
		p.Recover()
	}
	p.Set(faulty.Faults{})
}

func (s *schedule) sections() []frame.Section {
	var sections []frame.Section
	for range 1 + s.below(3) {
		n := 1 + s.below(1+s.below(3000))
		s.mu.Lock()
		s.nextID++
		id := s.nextID
		s.mu.Unlock()
		sections = append(sections, section(id, n))
	}
	return sections
}

func (s *schedule) copyOnce() {
	ctx, cancel := context.WithTimeout(s.t.Context(), s.time(3*time.Second))
	defer cancel()
	if s.below(5) == 0 {
		defer time.AfterFunc(s.time(100*ms), cancel).Stop()
	}
	sections, began := s.sections(), time.Now()
	result, err := s.Copy(ctx, sections, 0)
	if d, _ := ctx.Deadline(); time.Now().After(d) {
		s.t.Errorf("Copy returned %v after its deadline of %v", time.Since(d), d.Sub(began))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.failed++
		return
	}
	s.acked = append(s.acked, ackedCopy{result, sections})
}

// checkRecovery checks that the zones' past does not keep copies from succeeding, nor from being read.
func (s *schedule) checkRecovery() {
	ctx, cancel := context.WithTimeout(s.t.Context(), 20*time.Second)
	defer cancel()
	sections := s.sections()
	result, err := s.Copy(ctx, sections, 0)
	if err != nil {
		s.t.Errorf("zones are well again, but: %v", err)
		return
	}
	s.acked = append(s.acked, ackedCopy{result, sections})
	// With one zone gone everything that was acknowledged can be read.
	s.plans[s.below(zoneCount)].Outage(faulty.Faults{Hang: 1})
	f := fetch.New(fetch.Options{Cluster: identity.ClusterID, Source: s.bucket})
	for _, a := range s.acked {
		got, err := f.Frame(ctx, a.result.Extent)
		if err != nil {
			s.t.Error(err)
			return
		}
		checkFrame(s.t, got.Bytes, a.result, a.sections...)
	}
	for _, p := range s.plans {
		p.Recover()
	}
}

func (s *schedule) checkStored(a ackedCopy) {
	copies := 0
	for _, store := range s.stores {
		b := make([]byte, a.result.Extent.Length)
		if err := store.ReadAt(s.t.Context(), name(a.result), b, a.result.Extent.Position); err != nil {
			continue
		}
		if _, err := frame.Decode(b); err != nil {
			continue // Torn.
		}
		checkFrame(s.t, b, a.result, a.sections...)
		copies++
	}
	if copies < quorumSize {
		s.t.Errorf("acknowledged extent %v is in %d zones, want %d", a.result.Extent, copies, quorumSize)
	}
}
