package pool_test

import (
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/walbridge/walbridge/pool"
)

// source makes numbered items and keeps account of them.
type source struct {
	// latency and fail say how the n-th load goes, from 0. Default: 80 ms, no error.
	latency func(n int) time.Duration
	fail    func(n int) error

	mu               sync.Mutex
	started          []time.Time
	running, highest int
	born             map[int]time.Time
	discarded        map[int]int
}

func (s *source) load(ctx context.Context) (int, error) {
	s.mu.Lock()
	n := len(s.started)
	s.started = append(s.started, time.Now())
	s.running++
	s.highest = max(s.highest, s.running)
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		s.running--
		s.mu.Unlock()
	}()
	latency, err := 80*time.Millisecond, error(nil)
	if s.latency != nil {
		latency = s.latency(n)
	}
	if s.fail != nil {
		err = s.fail(n)
	}
	select {
	case <-time.After(latency):
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	if err != nil {
		return 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.born == nil {
		s.born = map[int]time.Time{}
	}
	s.born[n] = s.started[n]
	return n, nil
}

func (s *source) discard(_ context.Context, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.discarded == nil {
		s.discarded = map[int]int{}
	}
	s.discarded[n]++
}

// run starts a queue in the test's bubble and returns it with the function that closes it and waits for its end.
func run(t *testing.T, opts pool.Options[int]) (*pool.LoadingQueue[int], func()) {
	t.Helper()
	q := pool.New(opts)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		q.Run(ctx)
	}()
	return q, func() {
		cancel()
		<-done
	}
}

func get(t *testing.T, q *pool.LoadingQueue[int]) int {
	t.Helper()
	v, err := q.Get(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestSteadyDrainNeverWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &source{}
		q, stop := run(t, pool.Options[int]{Load: s.load, Discard: s.discard})
		defer stop()
		var used int
		var waits []time.Duration
		for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); used++ {
			asked := time.Now()
			get(t, q)
			waits = append(waits, time.Since(asked))
			time.Sleep(10*time.Millisecond - time.Since(asked)%(10*time.Millisecond))
		}
		if late := slices.Max(waits[100:]); late > 0 {
			t.Errorf("a Get waited %v after warm-up", late)
		}
		if st := q.Stats(); float64(st.Loaded)/float64(used) > 1.2 {
			t.Errorf("%d items made for %d used", st.Loaded, used)
		}
		if n := q.Stats().Target; n > 64 {
			t.Errorf("aims at %d items, 8 are used during a load", n)
		}
	})
}

// Gets at random times, as frames come from many lanes, and loads of very different lengths.
func TestUnsteadyDrainRarelyWaits(t *testing.T) {
	random := seeded(t)
	synctest.Test(t, func(t *testing.T) {
		latencies := rand.New(rand.NewPCG(random.Uint64(), 0))
		s := &source{latency: func(int) time.Duration {
			return 40*time.Millisecond + time.Duration(latencies.ExpFloat64()*float64(40*time.Millisecond))
		}}
		// Loads draw from latencies one after the other: the queue's Load is serialized here.
		var mu sync.Mutex
		draw := s.latency
		s.latency = func(n int) time.Duration {
			mu.Lock()
			defer mu.Unlock()
			return draw(n)
		}
		q, stop := run(t, pool.Options[int]{Load: s.load, LoadConcurrency: 32})
		defer stop()
		var waits []time.Duration
		for range 30_000 {
			time.Sleep(time.Duration(random.ExpFloat64() * float64(10*time.Millisecond)))
			asked := time.Now()
			get(t, q)
			waits = append(waits, time.Since(asked))
		}
		waits = waits[300:]
		slices.Sort(waits)
		if p99 := waits[len(waits)*99/100]; p99 > time.Millisecond {
			t.Errorf("p99 of a Get is %v", p99)
		}
		if st := q.Stats(); float64(st.Loaded)/float64(st.HandedOut) > 1.2 {
			t.Errorf("%d items made for %d used", st.Loaded, st.HandedOut)
		}
	})
}

func TestBurstThatComesAgainFindsTheQueuePrepared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &source{}
		q, stop := run(t, pool.Options[int]{Load: s.load, LoadConcurrency: 64})
		defer stop()
		var last time.Duration
		for range 3 {
			time.Sleep(3 * time.Second)
			last = 0
			for range 100 { // 100 ms at 1,000/s.
				asked := time.Now()
				get(t, q)
				last = max(last, time.Since(asked))
				time.Sleep(time.Millisecond)
			}
		}
		if last > 0 {
			t.Errorf("a Get of the third burst waited %v", last)
		}
	})
}

func TestIdleHour(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &source{}
		q, stop := run(t, pool.Options[int]{Load: s.load, Discard: s.discard, MaxItemAge: time.Minute, MinDepth: 3})
		defer stop()
		time.Sleep(time.Second)
		for second := range 3600 {
			if n := q.Stats().Depth; n < 3 {
				t.Fatalf("%d items ready after %d seconds", n, second)
			}
			time.Sleep(time.Second)
		}
		synctest.Wait()
		if n, most := len(s.started), 3*(1+60); n > most {
			t.Errorf("%d loads in an idle hour, want at most %d: 3 per minute after the first 3", n, most)
		}
	})
}

func TestSurplusOfABurstIsNotReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &source{}
		q, stop := run(t, pool.Options[int]{Load: s.load, Discard: s.discard, MaxItemAge: time.Minute})
		defer stop()
		for range 1000 {
			get(t, q)
			time.Sleep(10 * time.Millisecond)
		}
		if q.Stats().Depth < 8 {
			t.Fatalf("%d items ready at the end of the burst", q.Stats().Depth)
		}
		time.Sleep(10 * time.Minute)
		if st := q.Stats(); st.Depth > 2*4 || st.Target != 4 {
			t.Errorf("still %d items ready and %d aimed at after 10 idle minutes, want 4", st.Depth, st.Target)
		}
	})
}

func TestFailingLoadBacksOffAndRecovers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		boom := errors.New("boom")
		var healed atomic.Bool
		s := &source{
			latency: func(int) time.Duration { return time.Millisecond },
			fail: func(int) error {
				if healed.Load() {
					return nil
				}
				return boom
			},
		}
		q, stop := run(t, pool.Options[int]{Load: s.load})
		defer stop()
		ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
		defer cancel()
		if _, err := q.Get(ctx); !errors.Is(err, boom) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Get during the outage: %v, want its deadline and the load's error", err)
		}
		synctest.Wait()
		if n := len(s.started); n < 30 || n > 140 {
			t.Errorf("%d loads in an outage of a minute, want one or two per second", n)
		}
		if st := q.Stats(); st.LastError != boom || st.LoadErrors != uint64(len(s.started)-st.Loading) {
			t.Errorf("got %+v after %d loads", st, len(s.started))
		}
		healed.Store(true)
		asked := time.Now()
		get(t, q)
		if d := time.Since(asked); d > 1100*time.Millisecond {
			t.Errorf("recovered after %v", d)
		}
		time.Sleep(100 * time.Millisecond)
		if n := q.Stats().Depth; n < 4 {
			t.Errorf("%d items ready soon after the recovery", n)
		}
	})
}

// Loads that fail together are one failure: a short outage must not be followed by a long pause.
func TestLoadsThatFailTogetherCountOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &source{fail: func(n int) error {
			if n < 16 {
				return errors.New("boom")
			}
			return nil
		}}
		q, stop := run(t, pool.Options[int]{Load: s.load, MinDepth: 16})
		defer stop()
		asked := time.Now()
		get(t, q)
		if d, most := time.Since(asked), (80+20+80)*time.Millisecond; d > most {
			t.Errorf("16 loads failed together; the first item came after %v, want %v at most", d, most)
		}
	})
}

// Those who wait are no future demand: MaxDepth does not hold up their loads.
func TestEachWaiterHasALoad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &source{}
		q, stop := run(t, pool.Options[int]{Load: s.load, MinDepth: 1, MaxDepth: 1, LoadConcurrency: 16})
		defer stop()
		began := time.Now()
		var all sync.WaitGroup
		for range 16 {
			all.Go(func() { get(t, q) })
		}
		all.Wait()
		if d := time.Since(began); d != 80*time.Millisecond {
			t.Errorf("16 Gets took %v, a load takes 80 ms", d)
		}
	})
}

func TestItemIsTooOldAtTheVeryMoment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &source{}
		q, stop := run(t, pool.Options[int]{Load: s.load, Discard: s.discard, MaxItemAge: time.Minute})
		defer stop()
		var all sync.WaitGroup
		for range 50 { // Some before the queue's own timer, some after.
			all.Go(func() {
				time.Sleep(time.Minute)
				v := get(t, q)
				s.mu.Lock()
				defer s.mu.Unlock()
				if age := time.Since(s.born[v]); age >= time.Minute {
					t.Errorf("got an item %v old", age)
				}
			})
		}
		all.Wait()
	})
}

func TestItemThatIsOldWhenItComes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &source{latency: func(n int) time.Duration {
			if n == 0 {
				return 2 * time.Minute
			}
			return 80 * time.Millisecond
		}}
		load := func(ctx context.Context) (int, error) { return s.load(context.WithoutCancel(ctx)) }
		q, stop := run(t, pool.Options[int]{Load: load, Discard: s.discard, MaxItemAge: time.Minute, LoadConcurrency: 1})
		defer stop()
		v := get(t, q)
		synctest.Wait() // The discard has a goroutine of its own.
		if v == 0 || s.discarded[0] != 1 {
			t.Errorf("got item %d, discarded %v; item 0 was too old when it came", v, s.discarded)
		}
	})
}

// A third of the loads fails: the others must still carry the drain.
func TestSomeLoadsFail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &source{fail: func(n int) error {
			if n%3 == 0 {
				return errors.New("boom")
			}
			return nil
		}}
		q, stop := run(t, pool.Options[int]{Load: s.load, LoadConcurrency: 32})
		defer stop()
		var waited time.Duration
		for i := range 3000 {
			asked := time.Now()
			get(t, q)
			if i > 300 {
				waited = max(waited, time.Since(asked))
			}
			time.Sleep(10 * time.Millisecond)
		}
		if waited > 0 {
			t.Errorf("a Get waited %v", waited)
		}
	})
}

func TestHungLoadsDoNotStopTheOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &source{latency: func(n int) time.Duration {
			if n%20 == 0 {
				return time.Hour
			}
			return 80 * time.Millisecond
		}}
		q, stop := run(t, pool.Options[int]{Load: s.load, Discard: s.discard, LoadConcurrency: 64})
		defer stop()
		var waited time.Duration
		for i := range 3000 {
			asked := time.Now()
			get(t, q)
			if i > 300 {
				waited = max(waited, time.Since(asked))
			}
			time.Sleep(10 * time.Millisecond)
		}
		if waited > 0 {
			t.Errorf("a Get waited %v", waited)
		}
		if st := q.Stats(); !errors.Is(st.LastError, context.DeadlineExceeded) {
			t.Errorf("last error %v, want the hung loads' timeout", st.LastError)
		}
	})
}

func TestGetsAreServedInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &source{latency: func(int) time.Duration { return time.Second }}
		q, stop := run(t, pool.Options[int]{Load: s.load, LoadConcurrency: 1, LoadTimeout: time.Minute})
		defer stop()
		var mu sync.Mutex
		var order []int
		var all sync.WaitGroup
		for i := range 20 {
			all.Go(func() {
				if v, err := q.Get(t.Context()); err != nil || v != i {
					t.Errorf("Get %d got item %d, %v", i, v, err)
				}
				mu.Lock()
				defer mu.Unlock()
				order = append(order, i)
			})
			synctest.Wait()
		}
		all.Wait()
		if !slices.IsSorted(order) || len(order) != 20 {
			t.Errorf("served in order %v", order)
		}
	})
}

func TestGetHonoursContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &source{latency: func(int) time.Duration { return time.Second }}
		q, stop := run(t, pool.Options[int]{Load: s.load, LoadConcurrency: 1, MinDepth: 1})
		defer stop()
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		asked := time.Now()
		if _, err := q.Get(ctx); !errors.Is(err, context.DeadlineExceeded) || time.Since(asked) != 100*time.Millisecond {
			t.Errorf("got %v after %v", err, time.Since(asked))
		}
		// The one that left is not served: the first item is for the next.
		if v := get(t, q); v != 0 || time.Since(asked) != time.Second {
			t.Errorf("got item %d after %v", v, time.Since(asked))
		}
		time.Sleep(5 * time.Second)
		if _, err := q.Get(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Get with a context that ended: %v", err)
		}
	})
}

func TestClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		// The loads from the fifth on do not heed their context and end after the close.
		slow := make(chan struct{})
		s := &source{}
		load := func(ctx context.Context) (int, error) {
			v, err := s.load(context.WithoutCancel(ctx))
			if v >= 4 {
				<-slow
			}
			return v, err
		}
		q, stop := run(t, pool.Options[int]{Load: load, Discard: s.discard, LoadConcurrency: 4})
		for range 2 {
			get(t, q)
		}
		time.Sleep(time.Second)
		if st := q.Stats(); st.Depth != 2 || st.Loading == 0 {
			t.Fatalf("before the close: %+v", st)
		}
		loading := q.Stats().Loading
		blocked := make(chan error)
		for range 3 { // Two take what is ready.
			go func() {
				_, err := q.Get(t.Context())
				blocked <- err
			}()
		}
		for range 2 {
			if err := <-blocked; err != nil {
				t.Error(err)
			}
		}
		stopped := make(chan struct{})
		go func() {
			stop()
			close(stopped)
		}()
		if err := <-blocked; err != pool.ErrClosed {
			t.Errorf("blocked Get: %v, want ErrClosed", err)
		}
		if _, err := q.Get(t.Context()); err != pool.ErrClosed {
			t.Errorf("Get after close: %v, want ErrClosed", err)
		}
		select {
		case <-stopped:
			t.Error("Run returned before its loads")
		default:
		}
		close(slow)
		<-stopped
		if len(s.discarded) < loading {
			t.Errorf("discarded %v, want the %d that were being loaded", s.discarded, loading)
		}
		for v, times := range s.discarded {
			if times != 1 {
				t.Errorf("item %d discarded %d times", v, times)
			}
		}
	})
}

// Any schedule of loads, failures and Gets keeps the promises: no old item, not too many loads, every item either
// handed out or discarded, and that once.
func TestAnySchedule(t *testing.T) {
	random := seeded(t)
	for range 300 {
		seed := random.Uint64()
		synctest.Test(t, func(t *testing.T) { anySchedule(t, rand.New(rand.NewPCG(seed, 0))) })
		if t.Failed() {
			return
		}
	}
}

func anySchedule(t *testing.T, random *rand.Rand) {
	var mu sync.Mutex
	below := func(n time.Duration) time.Duration {
		mu.Lock()
		defer mu.Unlock()
		return time.Duration(random.Int64N(int64(n)))
	}
	maxAge := 100*time.Millisecond + below(5*time.Second)
	failing := below(100)
	s := &source{
		latency: func(int) time.Duration { return below(1 + below(400*time.Millisecond)) },
		fail: func(int) error {
			if below(100) < failing {
				return errors.New("boom")
			}
			return nil
		},
	}
	opts := pool.Options[int]{
		Load: s.load, Discard: s.discard, MaxItemAge: maxAge,
		LoadConcurrency: 1 + int(below(8)), MinDepth: 1 + int(below(5)), MaxDepth: 5 + int(below(20)),
	}
	q, stop := run(t, opts)
	used := map[int]int{}
	var all sync.WaitGroup
	for range 1 + below(8) {
		pause := 1 + below(300*time.Millisecond)
		all.Go(func() {
			for range below(100) {
				ctx, cancel := context.WithTimeout(t.Context(), below(time.Second))
				v, err := q.Get(ctx)
				cancel()
				if err == nil {
					s.mu.Lock()
					used[v]++
					if age := time.Since(s.born[v]); age >= maxAge {
						t.Errorf("got an item %v old, at most %v is allowed", age, maxAge)
					}
					s.mu.Unlock()
				}
				time.Sleep(below(pause))
			}
		})
	}
	if below(2) == 0 {
		all.Wait()
	}
	stop()
	all.Wait()
	if s.highest > opts.LoadConcurrency {
		t.Errorf("%d loads at once, at most %d are allowed", s.highest, opts.LoadConcurrency)
	}
	for v := range s.born {
		if used[v]+s.discarded[v] != 1 {
			t.Errorf("item %d handed out %d times and discarded %d times", v, used[v], s.discarded[v])
		}
	}
	st := q.Stats()
	want := pool.Stats{
		Loaded: uint64(len(s.born)), HandedOut: uint64(len(used)),
		DiscardedAged: st.DiscardedAged, DiscardedClosed: uint64(len(s.discarded)) - st.DiscardedAged,
		LoadErrors: st.LoadErrors, LastError: st.LastError, LastErrorTime: st.LastErrorTime,
	}
	if st != want {
		t.Errorf("stats %+v, want %+v", st, want)
	}
}

func TestMetrics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reg := prometheus.NewPedanticRegistry()
		s := &source{}
		q, stop := run(t, pool.Options[int]{Load: s.load, Registerer: reg, MaxItemAge: time.Minute})
		time.Sleep(61 * time.Second)
		get(t, q)
		time.Sleep(time.Second)
		stop()
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
		loaded := float64(len(s.born))
		want := map[string]float64{
			"walbridge_pool_depth": 0, "walbridge_pool_target": 0, "walbridge_pool_loading": 0, "walbridge_pool_waiting": 0,
			"walbridge_pool_loaded_total": loaded, "walbridge_pool_load_seconds": loaded,
			"walbridge_pool_handed_out_total": 1, "walbridge_pool_wait_seconds": 1, "walbridge_pool_load_errors_total": 0,
			"walbridge_pool_discarded_total aged": 4, "walbridge_pool_discarded_total closed": loaded - 5,
		}
		if !maps.Equal(got, want) {
			t.Errorf("got  %v\nwant %v", got, want)
		}
	})
}

// seeded returns a source of randomness and prints its seed; WALBRIDGE_SEED gives one.
func seeded(t *testing.T) *rand.Rand {
	t.Helper()
	seed := rand.Uint64()
	if s := os.Getenv("WALBRIDGE_SEED"); s != "" {
		var err error
		if seed, err = strconv.ParseUint(s, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("WALBRIDGE_SEED=%d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}
