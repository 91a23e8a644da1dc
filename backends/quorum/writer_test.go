package quorum

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/walbridge/walbridge/backends"
	"github.com/walbridge/walbridge/backends/faulty"
)

const (
	a = iota
	b
	c
)

func TestAckAtQuorum(t *testing.T) {
	inBubble(t, 3, Options{}, func(t *testing.T, z *cluster) {
		z.plans[b].Set(takes(10*ms), faulty.Append)
		z.plans[c].Set(takes(time.Second), faulty.Append)
		w := z.create("x")
		time.Sleep(100 * ms)
		if err := took(t, 10*ms, func() error { return appendTo(t.Context(), w, frame(1)) }); err != nil {
			t.Fatal(err)
		}
		z.wantStored(a, "x", 1)
		z.wantStored(b, "x", 1)
		z.wantStored(c, "x")
		z.wantMetric(float64(len(frame(1))), "late_bytes", "c")
		z.wantMetric(1, "late_ops", "c")
		if err := took(t, 0, func() error { return w.Close(t.Context()) }); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Second)
		z.wantStored(c, "x", 1)
		z.wantMetric(0, "late_bytes", "c")
		z.wantMetric(0, "under_replicated_frames_total")
		z.wantMetric(1, "appends_total", "committed")
		z.wantMetric(1, "closes_total", "c", "ok")
	})
}

func TestCreateAtQuorum(t *testing.T) {
	inBubble(t, 3, Options{}, func(t *testing.T, z *cluster) {
		z.plans[a].Set(hangs, faulty.Create)
		z.plans[b].Set(takes(10*ms), faulty.Create)
		start := time.Now()
		w := z.create("x")
		if d := time.Since(start); d != 10*ms {
			t.Errorf("Create took %v, want 10 ms", d)
		}
		mustClose(t, w)
	})
}

// An append that cannot reach its quorum any more does not wait for the zones that are left.
func TestLostEarly(t *testing.T) {
	inBubble(t, 3, Options{}, func(t *testing.T, z *cluster) {
		w := z.create("x")
		z.plans[a].Set(dead, faulty.Append)
		z.plans[b].Set(faulty.Faults{Torn: 1, Latency: faulty.Constant(5 * ms)}, faulty.Append)
		z.plans[c].Set(hangs, faulty.Append)
		wantPlain(t, took(t, 5*ms, func() error { return appendTo(t.Context(), w, frame(1)) }))
		wantError(t, took(t, 0, func() error { return appendTo(t.Context(), w, frame(2)) }), backends.ErrClosed)
		mustClose(t, w)
		z.wantMetric(2, "appends_total", "lost")
		z.wantMetric(0, "under_replicated_frames_total")
	})
}

// A zone that does not even end with its ctx decides nothing for longer than its timeout and the grace.
func TestLostToDeaf(t *testing.T) {
	inBubble(t, 3, Options{}, func(t *testing.T, z *cluster) {
		w := z.create("x")
		z.plans[a].Set(hangs, faulty.Append)
		z.plans[b].Set(faulty.Faults{Stuck: 1, StuckFor: 4 * time.Second}, faulty.Append)
		wantPlain(t, took(t, 2250*ms, func() error { return appendTo(t.Context(), w, frame(1)) }))
		mustClose(t, w)
		z.wantMetric(1, "stuck_ops", "b")
		z.wantMetric(1, "abandoned_copies_total", "a", "timeout")
		z.wantMetric(1, "abandoned_copies_total", "b", "timeout")
		time.Sleep(2 * time.Second)
		z.wantMetric(0, "stuck_ops", "b")
		z.wantMetric(0, "late_bytes", "b")
	})
}

func TestAppendLeft(t *testing.T) {
	inBubble(t, 3, Options{}, func(t *testing.T, z *cluster) {
		w := z.create("x")
		z.plans[a].Set(takes(time.Second), faulty.Append)
		z.plans[b].Set(takes(time.Second), faulty.Append)
		ctx, cancel := context.WithTimeout(t.Context(), 100*ms)
		defer cancel()
		err := took(t, 100*ms, func() error { return appendTo(ctx, w, frame(1)) })
		wantError(t, err, context.DeadlineExceeded)
		wantError(t, appendTo(t.Context(), w, frame(2)), backends.ErrClosed)
		mustClose(t, w)
		time.Sleep(time.Second)
		z.wantStored(a, "x", 1) // it was under way
		z.wantMetric(1, "appends_total", "left")
		z.wantMetric(0, "under_replicated_frames_total")
	})
}

func TestCreateLeft(t *testing.T) {
	inBubble(t, 3, Options{}, func(t *testing.T, z *cluster) {
		z.plans[a].Set(takes(time.Second), faulty.Create)
		z.plans[b].Set(hangs, faulty.Create)
		ctx, cancel := context.WithTimeout(t.Context(), 100*ms)
		defer cancel()
		_, err := z.Create(ctx, "x")
		wantError(t, err, context.DeadlineExceeded)
		time.Sleep(3 * time.Second)
		if n := z.plans[a].Count(faulty.CloseWriter); n != 1 {
			t.Errorf("the Writer that zone a opened late was closed %d times", n)
		}
	})
}

// A zone that is not done with a frame when the next one comes gets nothing more.
func TestLag(t *testing.T) {
	inBubble(t, 3, Options{MaxLag: -1}, func(t *testing.T, z *cluster) {
		w := z.create("x")
		time.Sleep(time.Second)
		z.plans[c].Set(takes(6*ms), faulty.Append)
		for n := range 3 {
			mustAppend(t, w, frame(n))
			if n > 0 {
				time.Sleep(time.Second)
			}
		}
		mustClose(t, w)
		z.wantStored(a, "x", 0, 1, 2)
		z.wantStored(b, "x", 0, 1, 2)
		z.wantStored(c, "x", 0)
		z.wantMetric(1, "abandoned_copies_total", "c", "lag")
		z.wantMetric(2, "under_replicated_frames_total") // the first one it has
	})
}

func TestMaxLag(t *testing.T) {
	inBubble(t, 3, Options{MaxLag: 5 * ms}, func(t *testing.T, z *cluster) {
		w := z.create("x")
		time.Sleep(time.Second)
		z.plans[c].Set(takes(9*ms), faulty.Append)
		mustAppend(t, w, frame(0))
		// It waits the 4 ms that c needs, no more.
		if err := took(t, 9*ms, func() error { return appendTo(t.Context(), w, frame(1)) }); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		z.plans[c].Set(hangs, faulty.Append)
		mustAppend(t, w, frame(2))
		time.Sleep(2 * ms)
		// c may be 5 ms late, of which 2 are over.
		if err := took(t, 8*ms, func() error { return appendTo(t.Context(), w, frame(3)) }); err != nil {
			t.Fatal(err)
		}
		if err := took(t, 5*ms, func() error { return appendTo(t.Context(), w, frame(4)) }); err != nil {
			t.Fatal(err)
		}
		mustClose(t, w)
		z.wantStored(c, "x", 0, 1)
		z.wantMetric(1, "abandoned_copies_total", "c", "lag")
	})
}

// A zone that opens late joins, but not after the first append.
func TestLateOpening(t *testing.T) {
	inBubble(t, 3, Options{}, func(t *testing.T, z *cluster) {
		z.plans[c].Set(takes(50*ms), faulty.Create)
		early, late := z.create("early"), z.create("late")
		mustAppend(t, early, frame(1))
		time.Sleep(100 * ms)
		mustAppend(t, early, frame(2))
		mustAppend(t, late, frame(1))
		time.Sleep(100 * ms)
		mustClose(t, early)
		mustClose(t, late)
		z.wantStored(b, "early", 1, 2)
		z.wantStored(c, "early") // it was created, and stays empty
		z.wantStored(c, "late", 1)
		z.wantMetric(2, "under_replicated_frames_total")
	})
}

// A Writer with too few zones left touches none.
func TestTooFewLeft(t *testing.T) {
	inBubble(t, 3, Options{MaxLag: -1}, func(t *testing.T, z *cluster) {
		w := z.create("x")
		time.Sleep(100 * ms)
		z.plans[b].Set(faulty.Faults{Torn: 1}, faulty.Append)
		mustAppend(t, w, frame(1)) // by a and c
		z.plans[c].Set(dead, faulty.Append)
		wantPlain(t, appendTo(t.Context(), w, frame(2)))
		time.Sleep(10 * ms) // a does its part
		before := z.plans[a].Count(faulty.Append)
		wantError(t, appendTo(t.Context(), w, frame(3)), backends.ErrClosed)
		mustClose(t, w)
		time.Sleep(10 * ms)
		if n := z.plans[a].Count(faulty.Append); n != before {
			t.Errorf("%d appends in zone a, want %d", n, before)
		}
		z.wantStored(a, "x", 1, 2)
		z.wantStored(c, "x", 1)
	})
}

// A zone that hangs costs nothing, is left out once it is broken, and comes back by itself.
func TestBreaker(t *testing.T) {
	inBubble(t, 3, Options{}, func(t *testing.T, z *cluster) {
		z.running(t)
		z.plans[c].Outage(hangs)
		for i := range 400 {
			w := z.create(fmt.Sprintf("dead/%d", i))
			time.Sleep(20 * ms) // in the pool
			if err := took(t, 5*ms, func() error { return appendTo(t.Context(), w, frame(i)) }); err != nil {
				t.Fatal(err)
			}
			mustClose(t, w)
		}
		before := z.plans[c].Count(faulty.Create)
		if status := z.Status(); !status.Zones[c].Down || status.Zones[c].LastError == nil || status.Zones[a].Down {
			t.Fatalf("status %+v, want zone c down, with an error", status)
		}
		z.wantMetric(1, "breaker_open", "c")
		for i := range 100 {
			z.put(fmt.Sprintf("down/%d", i), frame(i))
		}
		if n := z.plans[c].Count(faulty.Create) - before; n > 1 { // one may come at the very moment of a probe
			t.Errorf("a broken zone was asked to create %d times", n)
		}
		z.wantMetric(0, "late_bytes", "c")
		time.Sleep(10 * time.Second)
		z.plans[c].Recover()
		time.Sleep(3300 * ms) // a probe may just have begun to hang: 2 s, the interval, and a probe
		if status := z.Status(); status.Zones[c].Down || status.Zones[c].LastError != nil {
			t.Fatalf("status %+v, want zone c back", status)
		}
		z.put("back", frame(1))
		time.Sleep(time.Second)
		z.wantStored(c, "back", 1)
		for o, err := range z.real[c].List(t.Context(), "probe") {
			t.Errorf("a probe left %s (%v)", o.Name, err)
		}
	})
}

// Without Run a broken zone is tried with real writes.
func TestBreakerWithoutRun(t *testing.T) {
	inBubble(t, 3, Options{}, func(t *testing.T, z *cluster) {
		z.plans[c].Outage(dead)
		for i := range 10 {
			z.put(fmt.Sprintf("dead/%d", i), frame(i))
		}
		if !z.Status().Zones[c].Down {
			t.Fatal("zone c is not down")
		}
		z.plans[c].Recover()
		z.put("early", frame(1))
		time.Sleep(time.Second)
		z.put("late", frame(1))
		time.Sleep(time.Second)
		z.wantStored(c, "early")
		z.wantStored(c, "late", 1)
		if z.Status().Zones[c].Down {
			t.Error("zone c is still down")
		}
	})
}

// Only appends prove a zone well: one that opens, closes and reads is broken all the same if it stores nothing.
func TestBreakerEvidence(t *testing.T) {
	inBubble(t, 3, Options{Local: "c"}, func(t *testing.T, z *cluster) {
		z.put("old", frame(1))
		time.Sleep(time.Second)
		z.plans[c].Set(dead, faulty.Append)
		for i := range 5 {
			if z.Status().Zones[0].Down {
				t.Fatalf("zone c is down after %d failures", i)
			}
			z.put(fmt.Sprintf("x/%d", i), frame(i))
			if err := z.ReadAt(t.Context(), "old", make([]byte, 5), 0); err != nil {
				t.Error(err)
			}
			time.Sleep(100 * ms)
		}
		if s := z.Status().Zones[0]; s.Name != "c" || !s.Down {
			t.Errorf("status %+v, want zone c down", s)
		}
	})
}

// Zones that are broken are asked where there is no quorum without them.
func TestAllBroken(t *testing.T) {
	inBubble(t, 3, Options{}, func(t *testing.T, z *cluster) {
		for i := range 3 {
			z.plans[i].Outage(dead)
		}
		for i := range 10 {
			_, err := z.Create(t.Context(), fmt.Sprintf("dead/%d", i))
			wantPlain(t, err)
		}
		synctest.Wait() // two zones decide, and the third one fails as well
		for _, status := range z.Status().Zones {
			if !status.Down {
				t.Fatalf("%+v is not down", status)
			}
		}
		z.plans[b].Recover()
		z.plans[c].Recover()
		z.put("x", frame(1))
		z.wantStored(b, "x", 1)
		z.wantStored(c, "x", 1)
	})
}

// A pre-warmed object whose zone broke meanwhile does without that zone, and with it where there is no other.
func TestBrokenSincePreWarmed(t *testing.T) {
	inBubble(t, 3, Options{}, func(t *testing.T, z *cluster) {
		first, second := z.create("first"), z.create("second")
		time.Sleep(time.Second)
		z.plans[c].Outage(dead)
		for i := range 10 {
			z.put(fmt.Sprintf("dead/%d", i), frame(i))
		}
		z.plans[c].Recover()
		appends, abandoned := z.plans[c].Count(faulty.Append), z.metric("abandoned_copies_total", "c", "breaker")
		mustAppend(t, first, frame(1))
		if n := z.plans[c].Count(faulty.Append); n != appends {
			t.Errorf("a broken zone got an append")
		}
		z.wantMetric(abandoned+1, "abandoned_copies_total", "c", "breaker")
		z.plans[a].Set(dead, faulty.Append)
		mustAppend(t, second, frame(1)) // a fails, and c is asked then
		z.wantStored(c, "second", 1)
		mustClose(t, first)
		mustClose(t, second)
	})
}

// A store that answers nothing and ignores its ctx keeps a bounded number of goroutines, and bytes.
func TestDeafZone(t *testing.T) {
	const limit = 20
	inBubble(t, 3, Options{MaxOps: limit, BreakerFailures: 1 << 30}, func(t *testing.T, z *cluster) {
		z.plans[c].Set(faulty.Faults{Stuck: 1, StuckFor: time.Minute})
		for i := range 10 * limit {
			w := z.create(fmt.Sprint("x/", i))
			mustAppend(t, w, frame(i))
			mustClose(t, w)
		}
		time.Sleep(3 * time.Second)
		if n := z.plans[c].Count(faulty.Create); n != limit {
			t.Errorf("%d operations in a zone that answers nothing, want %d", n, limit)
		}
		if s := z.Status().Zones[c]; s.StuckOps != limit || s.LateOps != limit {
			t.Errorf("status %+v, want %d stuck", s, limit)
		}
		z.wantMetric(9*limit, "abandoned_copies_total", "c", "busy")
		z.plans[c].Set(takes(0))
		time.Sleep(time.Minute)
		z.put("back", frame(1))
		time.Sleep(time.Second)
		z.wantStored(c, "back", 1)
		z.wantMetric(0, "stuck_ops", "c")
	})
}

// The bound holds as well where the zones that answer nothing are needed.
func TestDeafZones(t *testing.T) {
	const limit = 20
	inBubble(t, 3, Options{MaxOps: limit}, func(t *testing.T, z *cluster) {
		for _, i := range []int{b, c} {
			z.plans[i].Outage(faulty.Faults{Stuck: 1, StuckFor: 10 * time.Minute})
		}
		for i := range 2 * limit {
			_, err := z.Create(t.Context(), fmt.Sprint("x/", i))
			wantPlain(t, err)
			z.ReadAt(t.Context(), "y", nil, 0)
		}
		for _, i := range []int{b, c} {
			if s := z.Status().Zones[i]; s.StuckOps != limit {
				t.Errorf("status %+v, want %d stuck", s, limit)
			}
			z.plans[i].Recover()
		}
		time.Sleep(10 * time.Minute)
	})
}

// The bytes that are held for a zone that hangs are bounded; beyond the bound its copies are abandoned.
func TestLateBytes(t *testing.T) {
	const size, limit = 100, 1000
	inBubble(t, 3, Options{MaxLateBytes: limit, BreakerFailures: 1 << 30}, func(t *testing.T, z *cluster) {
		z.plans[c].Set(hangs, faulty.Append)
		for i := range 50 {
			w := z.create(fmt.Sprint("x/", i))
			time.Sleep(10 * ms)
			mustAppend(t, w, make([]byte, size))
			mustClose(t, w)
			if held := z.Status().Zones[c].LateBytes; held > limit {
				t.Fatalf("%d bytes held, want at most %d", held, limit)
			}
		}
		if n := z.plans[c].Count(faulty.Append); n != limit/size {
			t.Errorf("%d appends in zone c, want %d", n, limit/size)
		}
		z.wantMetric(50-limit/size, "abandoned_copies_total", "c", "late_bytes")
		// Without another zone it is asked all the same, since an append that is waited for is not late.
		z.plans[a].Outage(dead)
		z.plans[c].Set(takes(5*ms), faulty.Append)
		z.put("needed", frame(1))
		z.wantStored(c, "needed", 1)
		time.Sleep(3 * time.Second)
		z.wantMetric(0, "late_bytes", "c")
		z.wantMetric(limit/size, "abandoned_copies_total", "c", "timeout")
		z.wantMetric(51, "under_replicated_frames_total") // the last one lacks a
	})
}

// Appends that become late together exceed the bound, and are cancelled then.
func TestLateBytesCancel(t *testing.T) {
	inBubble(t, 3, Options{MaxLateBytes: 150}, func(t *testing.T, z *cluster) {
		z.plans[c].Set(hangs, faulty.Append)
		first, second := z.create("first"), z.create("second")
		time.Sleep(time.Second)
		done := make(chan error, 2)
		for _, w := range []backends.Writer{first, second} {
			go func() { done <- appendTo(t.Context(), w, make([]byte, 100)) }()
		}
		for range 2 {
			if err := <-done; err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		z.wantMetric(100, "late_bytes", "c")
		z.wantMetric(1, "abandoned_copies_total", "c", "late_bytes")
		mustClose(t, first)
		mustClose(t, second)
	})
}

// Close, then Delete leaves nothing, not even in a zone that was late for both.
func TestDiscard(t *testing.T) {
	inBubble(t, 3, Options{}, func(t *testing.T, z *cluster) {
		z.plans[b].Set(takes(300*ms), faulty.Create)
		z.plans[c].Set(takes(200*ms), faulty.Append)
		w := z.create("x")
		time.Sleep(100 * ms)
		mustAppend(t, w, frame(1))
		unused := z.create("y")
		mustClose(t, unused)
		mustClose(t, w)
		deleted, err := z.Delete(t.Context(), []string{"x", "y"})
		if err != nil || len(deleted) != 2 {
			t.Fatalf("Delete = %q, %v", deleted, err)
		}
		time.Sleep(time.Second)
		for i := range 3 {
			z.wantStored(i, "x")
			for o := range z.real[i].List(t.Context(), "") {
				t.Errorf("zone %d still has %s", i, o.Name)
			}
		}
	})
}

// A Close that hangs keeps nobody, and is counted.
func TestCloseHangs(t *testing.T) {
	inBubble(t, 3, Options{}, func(t *testing.T, z *cluster) {
		z.plans[c].Set(hangs, faulty.CloseWriter)
		w := z.create("x")
		if err := took(t, 0, func() error { return w.Close(t.Context()) }); err != nil {
			t.Fatal(err)
		}
		wantError(t, appendTo(t.Context(), w, frame(1)), backends.ErrClosed)
		time.Sleep(3 * time.Second)
		z.wantMetric(1, "closes_total", "c", "timeout")
		z.wantMetric(1, "closes_total", "a", "ok")
	})
}

// The Bucket's Close waits for what goes on, and gives up on what does not end.
func TestBucketClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		z := newCluster(t, 3, Options{})
		z.plans[c].Set(takes(time.Second), faulty.Append)
		z.put("x", frame(1))
		if err := z.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
		z.wantStored(c, "x", 1)
		if _, err := z.Create(t.Context(), "y"); err == nil {
			t.Error("Create after Close succeeds")
		}
		wantPlain(t, z.ReadAt(t.Context(), "x", nil, 0))
		if err := z.Close(); err == nil {
			t.Error("the second Close succeeds")
		}
	})
	synctest.Test(t, func(t *testing.T) {
		z := newCluster(t, 3, Options{})
		z.plans[c].Set(faulty.Faults{Stuck: 1, StuckFor: time.Minute}, faulty.Append)
		z.put("x", frame(1))
		if err := took(t, 4500*ms, z.Close); err == nil {
			t.Error("Close with a zone that does not answer succeeds")
		}
		time.Sleep(time.Minute)
	})
}

// The bytes are the caller's own, in every zone.
func TestNotCopied(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := frame(1)
		seen := make(chan *byte, 3)
		var stores []backends.Bucket
		for range 3 {
			stores = append(stores, spy{appended: func(q []byte) { seen <- &q[0] }})
		}
		z := newTest(t, Options{}, stores...)
		w, err := z.Create(t.Context(), "x")
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		mustAppend(t, w, p)
		mustClose(t, w)
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if <-seen != &p[0] {
				t.Error("a zone got a copy")
			}
		}
	})
}

// spy is a store that shows what it gets.
type spy struct {
	backends.Bucket
	appended func([]byte)
}

func (s spy) Create(context.Context, string) (backends.Writer, error) { return spyWriter(s), nil }

func (spy) Caps() backends.Caps { return backends.Caps{Appends: 1, MaxAppend: 1 << 20} }

func (spy) Close() error { return nil }

type spyWriter spy

func (w spyWriter) Append(_ context.Context, p []byte, _ uint32) error {
	w.appended(p)
	return nil
}

func (spyWriter) Close(context.Context) error { return nil }
