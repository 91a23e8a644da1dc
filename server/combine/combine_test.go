package combine_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/walbridge/walbridge/backends"
	"github.com/walbridge/walbridge/backends/faulty"
	"github.com/walbridge/walbridge/backends/mem"
	"github.com/walbridge/walbridge/server/combine"
	"github.com/walbridge/walbridge/server/frame"
)

const ms = time.Millisecond

func TestCopiesShareAFrame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, mem.New(mem.Options{}), combine.Options{Linger: 10 * ms})
		defer r.stop()
		began := time.Now()
		extents := make([]frame.Extent, 20)
		var all sync.WaitGroup
		for i := range extents {
			all.Go(func() {
				sections := []frame.Section{section(2*i, 100+i), section(2*i+1, 200)}
				result, err := r.Copy(t.Context(), sections, 0)
				if err != nil {
					t.Error(err)
					return
				}
				r.checkStored(result, sections...)
				extents[i] = result.Extent
			})
			time.Sleep(ms / 4)
		}
		all.Wait()
		if d := time.Since(began); d != 10*ms {
			t.Errorf("answered after %v, want the linger of the first", d)
		}
		for _, x := range extents {
			if x != extents[0] {
				t.Errorf("extents %v and %v, want one frame", x, extents[0])
			}
		}
		if n := r.plan.Count(faulty.Append); n != 1 {
			t.Errorf("%d appends for copies within one linger", n)
		}
		synctest.Wait()
		if s := r.Stats(); s.Frames != 1 || s.Copies != 20 || s.Bytes != uint64(extents[0].Length) || s.Busy != 0 {
			t.Errorf("stats %+v", s)
		}
	})
}

// Lanes that have nothing to do must not take what one of them is gathering.
func TestFreeLanesDoNotMakeSmallFrames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, mem.New(mem.Options{}), combine.Options{Linger: 10 * ms, Lanes: 16})
		defer r.stop()
		var all sync.WaitGroup
		for i := range 1000 {
			all.Go(func() { r.copy(section(i, 50)) })
			time.Sleep(ms)
		}
		all.Wait()
		if n := r.plan.Count(faulty.Append); n > 101 {
			t.Errorf("%d appends in one second, the linger is 10 ms", n)
		}
	})
}

func TestWhatACopyHasWaitedBeforeCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, mem.New(mem.Options{}), combine.Options{Linger: 10 * ms})
		defer r.stop()
		for waited, want := range map[time.Duration]time.Duration{4 * ms: 6 * ms, 10 * ms: 0, time.Hour: 0} {
			began := time.Now()
			if _, err := r.Copy(t.Context(), []frame.Section{section(0, 50)}, waited); err != nil {
				t.Error(err)
			}
			if d := time.Since(began); d != want {
				t.Errorf("waited %v before: answered after %v, want %v", waited, d, want)
			}
		}
	})
}

// One that has waited longest takes those along that came before it.
func TestTheOldestCopyEndsTheLinger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, mem.New(mem.Options{}), combine.Options{Linger: 10 * ms})
		defer r.stop()
		began := time.Now()
		var all sync.WaitGroup
		all.Go(func() { r.copy(section(0, 50)) })
		time.Sleep(2 * ms)
		if _, err := r.Copy(t.Context(), []frame.Section{section(1, 50)}, 7*ms); err != nil {
			t.Error(err)
		}
		all.Wait()
		if d, n := time.Since(began), r.plan.Count(faulty.Append); d != 5*ms || n != 1 {
			t.Errorf("%d appends after %v, want one after 5 ms", n, d)
		}
	})
}

func TestWithoutLingerACopyGoesAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, mem.New(mem.Options{}), combine.Options{Lanes: 2})
		defer r.stop()
		r.plan.Set(faulty.Faults{Latency: faulty.Constant(5 * ms)}, faulty.Append)
		began := time.Now()
		r.copy(section(0, 50))
		if d := time.Since(began); d != 5*ms {
			t.Errorf("answered after %v, an append takes 5 ms", d)
		}
		// While all lanes are busy copies gather, and go together as soon as one is free.
		var all sync.WaitGroup
		for i := range 40 {
			all.Go(func() { r.copy(section(i, 50)) })
			synctest.Wait()
		}
		all.Wait()
		if n := r.plan.Count(faulty.Append); n != 1+3 {
			t.Errorf("%d appends, want 1 for the first copy, 2 for those that found a lane, 1 for the rest", n)
		}
	})
}

func TestFullFrameDoesNotLinger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const limit = 4000
		r := start(t, mem.New(mem.Options{}), combine.Options{Linger: time.Second, MaxFrameBytes: limit})
		defer r.stop()
		r.plan.Set(faulty.Faults{Latency: faulty.Constant(100 * ms)}, faulty.Append)
		began := time.Now()
		var all sync.WaitGroup
		for i := range 10 { // 3 in each frame, and one that is left for another lane.
			all.Go(func() {
				if x := r.copy(section(i, 1200)).Extent; x.Length > limit {
					t.Errorf("frame of %d bytes, at most %d are wanted", x.Length, limit)
				}
			})
			synctest.Wait()
		}
		if n := r.plan.Count(faulty.Append); n != 3 {
			t.Errorf("%d appends before the linger has passed, want 3", n)
		}
		r.plan.Set(faulty.Faults{}, faulty.Append)
		all.Wait()
		if d := time.Since(began); d != time.Second {
			t.Errorf("answered after %v, want the linger of the last", d)
		}
		if n := r.plan.Count(faulty.Append); n != 4 {
			t.Errorf("%d appends, want 4", n)
		}
		began = time.Now()
		r.copy(section(0, 2*limit))
		if d := time.Since(began); d != 0 {
			t.Errorf("a copy larger than a frame lingered %v", d)
		}
	})
}

func TestCopyRefusesWhatCannotBeStored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, mem.New(mem.Options{MaxAppend: 5000}), combine.Options{Linger: 10 * ms, MaxCopyBytes: 8000})
		defer r.stop()
		var all sync.WaitGroup
		all.Go(func() { r.copy(section(0, 100)) })
		synctest.Wait()
		wrongLength := section(1, 100)
		wrongLength.Chunks = wrongLength.Chunks[:1]
		noTopic := section(1, 100)
		noTopic.Entry.Topic = ""
		for what, sections := range map[string][]frame.Section{
			"no sections": nil, "a length that is not the chunks'": {wrongLength}, "no topic": {section(2, 10), noTopic},
		} {
			if _, err := r.Copy(t.Context(), sections, 0); err == nil {
				t.Errorf("a copy with %s succeeded", what)
			}
		}
		for _, sections := range [][]frame.Section{
			{section(1, 4000), section(2, 4001)}, // More than a copy may have.
			{section(1, 4950)},                   // With its index more than an append takes.
		} {
			if _, err := r.Copy(t.Context(), sections, 0); !errors.Is(err, backends.ErrTooLarge) {
				t.Errorf("a copy that is too large: %v, want ErrTooLarge", err)
			}
		}
		all.Wait()
		if n := r.plan.Count(faulty.Append); n != 1 {
			t.Errorf("%d appends, want 1", n)
		}
	})
}

func TestQueueIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, mem.New(mem.Options{}), combine.Options{Lanes: 1, MaxQueued: 3})
		defer r.stop()
		r.plan.Set(faulty.Faults{Latency: faulty.Constant(time.Second)}, faulty.Append)
		var all sync.WaitGroup
		for i := range 4 {
			all.Go(func() { r.copy(section(i, 50)) })
			synctest.Wait()
		}
		if s := r.Stats(); s.Busy != 1 || s.Queued != 3 {
			t.Errorf("stats %+v, want 1 lane busy and 3 copies queued", s)
		}
		if _, err := r.Copy(t.Context(), []frame.Section{section(9, 50)}, 0); !errors.Is(err, combine.ErrFull) {
			t.Errorf("copy to a full queue: %v, want ErrFull", err)
		}
		all.Wait()
	})
}

func TestCallerThatLeavesNeitherLosesNorBlocksTheOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, mem.New(mem.Options{}), combine.Options{Lanes: 1, Linger: 10 * ms})
		defer r.stop()
		r.plan.Set(faulty.Faults{Latency: faulty.Constant(100 * ms)}, faulty.Append)
		for _, leave := range []time.Duration{5 * ms, 50 * ms} { // While it lingers, while it is appended.
			began := time.Now()
			var all sync.WaitGroup
			for i := range 5 {
				all.Go(func() { r.copy(section(i, 50)) })
			}
			all.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), leave)
				defer cancel()
				_, err := r.Copy(ctx, []frame.Section{section(9, 50)}, 0)
				if !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != leave {
					t.Errorf("the one that leaves after %v: %v after %v", leave, err, time.Since(began))
				}
			})
			all.Wait()
			if d := time.Since(began); d != 110*ms {
				t.Errorf("the others were answered after %v", d)
			}
		}
		if n := r.plan.Count(faulty.Append); n != 2 {
			t.Errorf("%d appends, want 2", n)
		}
	})
}

// A caller that leaves the queue leaves room in it, and nothing to write.
func TestCallerThatLeavesTheQueueIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, mem.New(mem.Options{}), combine.Options{Lanes: 1, MaxQueued: 1})
		defer r.stop()
		r.plan.Set(faulty.Faults{Latency: faulty.Constant(time.Second)}, faulty.Append)
		var all sync.WaitGroup
		all.Go(func() { r.copy(section(0, 50)) })
		synctest.Wait()
		for range 3 {
			ctx, cancel := context.WithTimeout(t.Context(), 10*ms)
			if _, err := r.Copy(ctx, []frame.Section{section(1, 50)}, 0); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("copy that waits for a lane: %v", err)
			}
			cancel()
		}
		all.Wait()
		time.Sleep(2 * time.Second)
		if n := r.plan.Count(faulty.Append); n != 1 {
			t.Errorf("%d appends, want none of what nobody waits for", n)
		}
		if err := r.Drain(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// An append goes on when its callers leave, for the sake of the object.
func TestCallerThatLeavesDoesNotSpoilTheObject(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, mem.New(mem.Options{}), combine.Options{Lanes: 1, Rotation: combine.Rotation{Appends: 100}})
		defer r.stop()
		r.plan.Set(faulty.Faults{Latency: faulty.Constant(100 * ms)}, faulty.Append)
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(50*ms, cancel)
		if _, err := r.Copy(ctx, []frame.Section{section(0, 50)}, 0); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		r.copy(section(1, 50))
		if n := r.plan.Count(faulty.Create); n != 1 {
			t.Errorf("%d objects, want the second frame behind the one that nobody waited for", n)
		}
	})
}

// never is a source without objects.
type never struct{}

func (never) Get(ctx context.Context) (combine.Object, error) {
	<-ctx.Done()
	return combine.Object{}, ctx.Err()
}

func TestLaneIsFreeWhenEveryoneHasLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, mem.New(mem.Options{}), combine.Options{Lanes: 1, Linger: ms, Objects: never{}})
		defer r.stop()
		var leave [2]context.CancelFunc
		for i := range leave {
			var ctx context.Context
			ctx, leave[i] = context.WithCancel(t.Context())
			go func() {
				if _, err := r.Copy(ctx, []frame.Section{section(0, 50)}, 0); !errors.Is(err, context.Canceled) {
					t.Errorf("copied without an object: %v", err)
				}
			}()
		}
		time.Sleep(2 * ms)
		leave[0]()
		synctest.Wait()
		if b := r.Heartbeats()[0]; b.State != combine.Opening || time.Since(b.Since) != ms {
			t.Errorf("lane %v for %v, want opening for 1 ms while one caller waits", b.State, time.Since(b.Since))
		}
		leave[1]()
		synctest.Wait()
		if b := r.Heartbeats()[0]; b.State != combine.Idle || time.Since(b.Since) != 0 {
			t.Errorf("lane %v for %v, want idle when everyone has left", b.State, time.Since(b.Since))
		}
	})
}

func TestDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, mem.New(mem.Options{}), combine.Options{Lanes: 1, Linger: time.Minute})
		defer r.stop()
		r.plan.Set(faulty.Faults{Latency: faulty.Constant(100 * ms)}, faulty.Append)
		var all sync.WaitGroup
		for i := range 5 {
			all.Go(func() { r.copy(section(i, 50)) })
		}
		synctest.Wait()
		short, cancel := context.WithTimeout(t.Context(), ms)
		defer cancel()
		if err := r.Drain(short); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Drain that had too little time: %v", err)
		}
		if _, err := r.Copy(t.Context(), []frame.Section{section(9, 50)}, 0); !errors.Is(err, combine.ErrClosed) {
			t.Errorf("copy after Drain: %v, want ErrClosed", err)
		}
		began := time.Now()
		if err := r.Drain(t.Context()); err != nil || time.Since(began) != 99*ms {
			t.Errorf("Drain: %v after %v, want it to wait for the append and not for the linger", err, time.Since(began))
		}
		all.Wait()
	})
}

func TestEndOfRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, mem.New(mem.Options{}), combine.Options{Lanes: 1})
		r.plan.Set(faulty.Faults{Hang: 1}, faulty.Append)
		var all sync.WaitGroup
		for i := range 2 { // One is being appended, one is queued.
			all.Go(func() {
				if _, err := r.Copy(t.Context(), []frame.Section{section(i, 50)}, 0); !errors.Is(err, combine.ErrClosed) {
					t.Errorf("copy cut off by the end: %v, want ErrClosed", err)
				}
			})
			synctest.Wait()
		}
		r.stop()
		all.Wait()
		if _, err := r.Copy(t.Context(), []frame.Section{section(9, 50)}, 0); !errors.Is(err, combine.ErrClosed) {
			t.Errorf("copy after the end: %v, want ErrClosed", err)
		}
		if err := r.Drain(t.Context()); err != nil {
			t.Errorf("Drain after the end: %v", err)
		}
	})
}
