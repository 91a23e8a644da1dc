package quorum

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/walbridge/walbridge/backends"
	"github.com/walbridge/walbridge/backends/faulty"
)

// withObject runs f with three zones that all hold the object x, of one frame.
func withObject(t *testing.T, opts Options, f func(t *testing.T, z *cluster)) {
	t.Helper()
	inBubble(t, 3, opts, func(t *testing.T, z *cluster) {
		z.put("x", frame(1))
		time.Sleep(time.Second)
		f(t, z)
	})
}

func (c *cluster) readX(ctx context.Context) ([]byte, error) {
	p := make([]byte, len(frame(1)))
	return p, c.ReadAt(ctx, "x", p, 0)
}

func wantRead(t *testing.T, d time.Duration, z *cluster) {
	t.Helper()
	var p []byte
	err := took(t, d, func() (err error) {
		p, err = z.readX(t.Context())
		return err
	})
	if err != nil || !bytes.Equal(p, frame(1)) {
		t.Errorf("read %q, %v", p, err)
	}
}

func wantReads(t *testing.T, z *cluster, want ...int) {
	t.Helper()
	var got []int
	for _, plan := range z.plans {
		got = append(got, plan.Count(faulty.Read))
	}
	if !slices.Equal(got, want) {
		t.Errorf("reads of the zones: %v, want %v", got, want)
	}
}

func TestReadLocal(t *testing.T) {
	withObject(t, Options{Local: "b"}, func(t *testing.T, z *cluster) {
		wantRead(t, 5*ms, z)
		wantReads(t, z, 0, 1, 0)
		z.wantMetric(1, "reads_total", "b", "ok")
		z.wantMetric(0, "hedged_reads_total")
	})
}

func TestReadFailover(t *testing.T) {
	withObject(t, Options{}, func(t *testing.T, z *cluster) {
		z.plans[a].Set(faulty.Faults{Fail: 1, Latency: faulty.Constant(3 * ms)})
		z.plans[b].Set(faulty.Faults{Fail: 1, Latency: faulty.Constant(3 * ms)})
		wantRead(t, 11*ms, z)
		wantReads(t, z, 1, 1, 1)
	})
}

func TestReadHedged(t *testing.T) {
	withObject(t, Options{}, func(t *testing.T, z *cluster) {
		z.plans[a].Set(takes(100*ms), faulty.Read)
		wantRead(t, 25*ms, z)
		z.wantMetric(1, "hedged_reads_total")
		z.plans[b].Set(hangs, faulty.Read)
		wantRead(t, 45*ms, z)
		wantReads(t, z, 2, 2, 1)
		z.wantMetric(3, "hedged_reads_total")
	})
	withObject(t, Options{HedgeDelay: -1}, func(t *testing.T, z *cluster) {
		z.plans[a].Set(takes(100*ms), faulty.Read)
		wantRead(t, 100*ms, z)
		z.plans[a].Set(hangs, faulty.Read)
		wantRead(t, 1005*ms, z)
		z.plans[a].Set(faulty.Faults{Stuck: 1, StuckFor: time.Minute}, faulty.Read)
		wantRead(t, 1255*ms, z)
		time.Sleep(time.Minute)
	})
}

// A zone that is slow writes nothing into the caller's buffer once the read is over.
func TestReadLoser(t *testing.T) {
	withObject(t, Options{}, func(t *testing.T, z *cluster) {
		z.plans[a].Set(faulty.Faults{Stuck: 1, StuckFor: 100 * ms}, faulty.Read)
		p, err := z.readX(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		clear(p)
		z.wantMetric(float64(len(p)), "late_bytes", "a")
		time.Sleep(time.Second)
		if !bytes.Equal(p, make([]byte, len(p))) {
			t.Errorf("a slow zone wrote %q", p)
		}
		z.wantMetric(0, "late_bytes", "a")
	})
}

// Zones that are broken are read last, but are read. A zone that hangs on reads alone breaks as well.
func TestReadBroken(t *testing.T) {
	withObject(t, Options{}, func(t *testing.T, z *cluster) {
		z.plans[a].Outage(hangs)
		for range 5 {
			wantRead(t, 25*ms, z)
		}
		time.Sleep(2 * time.Second)
		if !z.Status().Zones[a].Down {
			t.Fatal("zone a is not down")
		}
		wantRead(t, 5*ms, z)
		wantReads(t, z, 5, 6, 0)
		z.plans[a].Recover()
		z.plans[b].Set(dead)
		z.plans[c].Set(dead)
		wantRead(t, 5*ms, z)
	})
}

func TestReadLeft(t *testing.T) {
	withObject(t, Options{HedgeDelay: -1}, func(t *testing.T, z *cluster) {
		z.plans[a].Set(hangs, faulty.Read)
		ctx, cancel := context.WithTimeout(t.Context(), 100*ms)
		defer cancel()
		wantError(t, took(t, 100*ms, func() error {
			_, err := z.readX(ctx)
			return err
		}), context.DeadlineExceeded)
		synctest.Wait()
		z.wantMetric(0, "late_bytes", "a") // what nobody needs is cancelled
		if err := z.Status().Zones[a].LastError; err != nil {
			t.Errorf("the end of a caller's ctx counts against its zone: %v", err)
		}
	})
}

func TestReadChecked(t *testing.T) {
	withObject(t, Options{}, func(t *testing.T, z *cluster) {
		lies := faulty.Faults{Corrupt: 1}
		read := func(crc uint32) error {
			p := make([]byte, len(frame(1)))
			err := z.ReadChecked(t.Context(), "x", p, 0, crc)
			if err == nil && !bytes.Equal(p, frame(1)) {
				t.Errorf("read %q", p)
			}
			return err
		}
		right := backends.Checksum(frame(1))
		z.plans[a].Set(lies, faulty.Read)
		if err := read(right); err != nil {
			t.Error(err)
		}
		wantReads(t, z, 1, 1, 0)
		z.wantMetric(1, "reads_total", "a", "checksum")
		z.plans[b].Set(lies, faulty.Read)
		if err := read(right); err != nil {
			t.Error(err)
		}
		z.plans[c].Set(dead, faulty.Read)
		wantPlain(t, read(right)) // c may have it
		z.plans[c].Set(lies, faulty.Read)
		wantError(t, read(right), backends.ErrChecksum)
		for i := range 3 {
			z.plans[i].Set(takes(0))
		}
		wantError(t, read(right^1), backends.ErrChecksum)
		for _, status := range z.Status().Zones {
			if status.Down {
				t.Errorf("wrong bytes break zone %s", status.Name)
			}
		}
	})
}

// What a zone does not have is read from another, and what no quorum can have is said to be nowhere.
func TestReadAbsent(t *testing.T) {
	inBubble(t, 3, Options{MaxLag: -1}, func(t *testing.T, z *cluster) {
		z.plans[a].Set(dead, faulty.Create)
		w := z.create("x")
		time.Sleep(time.Second)
		mustAppend(t, w, frame(1))
		mustClose(t, w)
		wantRead(t, 10*ms, z)
		z.plans[b].Set(dead, faulty.Read)
		wantRead(t, 10*ms, z)

		long := make([]byte, 100)
		z.plans[b].Set(takes(0))
		wantError(t, z.ReadAt(t.Context(), "x", long, 0), backends.ErrRange)
		wantError(t, z.ReadAt(t.Context(), "y", long, 0), backends.ErrNotFound)
		z.plans[c].Outage(dead)
		wantError(t, z.ReadAt(t.Context(), "x", long, 0), backends.ErrRange)
		wantError(t, z.ReadAt(t.Context(), "y", long, 0), backends.ErrNotFound)
		z.plans[b].Outage(hangs)
		wantPlain(t, z.ReadAt(t.Context(), "x", long, 0)) // both may have it
		wantPlain(t, z.ReadAt(t.Context(), "y", long, 0))
		if _, err := z.readX(t.Context()); err == nil {
			t.Error("read of two zones that do not answer, and one without the object, succeeds")
		}
		z.plans[a].Outage(faulty.Faults{Fail: 1, Err: backends.ErrDenied})
		z.plans[b].Outage(faulty.Faults{Fail: 1, Err: backends.ErrDenied})
		z.plans[c].Outage(faulty.Faults{Fail: 1, Err: backends.ErrDenied})
		_, err := z.readX(t.Context())
		wantError(t, err, backends.ErrDenied)
	})
}

func (c *cluster) list(ctx context.Context, dir string) (map[string]int64, error) {
	sizes := make(map[string]int64)
	var last error
	for o, err := range c.List(ctx, dir) {
		if last != nil {
			c.t.Error("the listing goes on after its error")
		}
		if last = err; err == nil {
			if _, twice := sizes[o.Name]; twice {
				c.t.Errorf("%s is listed twice", o.Name)
			}
			sizes[o.Name] = o.Size
		}
	}
	return sizes, last
}

func TestList(t *testing.T) {
	inBubble(t, 3, Options{MaxLag: -1}, func(t *testing.T, z *cluster) {
		const n = 30
		for i := range n {
			z.plans[i%3].Set(faulty.Faults{Torn: 1}, faulty.Append) // each is whole in two zones
			w := z.create(fmt.Sprintf("dir/%d", i))
			time.Sleep(10 * ms)
			mustAppend(t, w, frame(1))
			mustClose(t, w)
			z.plans[i%3].Set(takes(5 * ms))
			time.Sleep(time.Second)
		}
		want := func(d time.Duration) {
			t.Helper()
			var sizes map[string]int64
			if err := took(t, d, func() (err error) {
				sizes, err = z.list(t.Context(), "dir")
				return err
			}); err != nil {
				t.Error(err)
			}
			if len(sizes) != n {
				t.Errorf("%d objects listed, want %d", len(sizes), n)
			}
			for name, size := range sizes {
				if size != int64(len(frame(1))) {
					t.Errorf("%s is listed with size %d, want %d", name, size, len(frame(1)))
				}
			}
		}
		want(5 * ms)
		z.plans[b].Set(faulty.Faults{Torn: 1}, faulty.List)
		want(5 * ms)
		z.plans[b].Set(hangs, faulty.List)
		want(2005 * ms)
		z.plans[b].Set(faulty.Faults{Stuck: 1, StuckFor: time.Minute}, faulty.List)
		want(2005 * ms)
		time.Sleep(time.Minute)

		z.plans[b].Set(dead, faulty.List)
		z.plans[c].Set(faulty.Faults{Torn: 1}, faulty.List)
		sizes, err := z.list(t.Context(), "dir")
		wantPlain(t, err)
		if len(sizes) != n {
			t.Errorf("%d objects listed of the one zone that lists, want %d", len(sizes), n)
		}
		z.plans[c].Set(hangs, faulty.List)
		wantPlain(t, took(t, 30*time.Second, func() error {
			_, err := z.list(t.Context(), "dir")
			return err
		}))
		ctx, cancel := context.WithTimeout(t.Context(), 100*ms)
		defer cancel()
		_, err = z.list(ctx, "dir")
		wantError(t, err, context.DeadlineExceeded)
	})
}

func TestDelete(t *testing.T) {
	inBubble(t, 3, Options{}, func(t *testing.T, z *cluster) {
		names := []string{"x", "y", "z", "never"}
		for _, name := range names[:3] {
			z.put(name, frame(1))
		}
		time.Sleep(time.Second)
		z.plans[c].Outage(dead)
		deleted, err := z.Delete(t.Context(), names)
		wantPlain(t, err)
		if len(deleted) != 0 {
			t.Errorf("Delete confirms %q while a zone is dead", deleted)
		}
		z.wantStored(a, "x")
		z.wantStored(c, "x", 1)
		wantError(t, func() error { _, err := z.readX(t.Context()); return err }(), backends.ErrNotFound)
		z.plans[c].Recover()

		// Confirmed is what every zone confirms.
		z.plans[c].Set(faulty.Faults{Torn: 1, Err: backends.ErrThrottled}, faulty.Delete)
		confirmed := make(map[string]bool)
		for range 10 {
			deleted, err = z.Delete(t.Context(), names)
			wantError(t, err, backends.ErrThrottled)
			for _, name := range deleted {
				confirmed[name] = true
			}
			for _, name := range names[:3] {
				if confirmed[name] {
					z.wantStored(c, name)
				}
			}
		}
		if !confirmed["x"] {
			t.Error("a zone that is throttled makes no progress")
		}
		z.plans[c].Set(takes(5*ms), faulty.Delete)
		if deleted, err = z.Delete(t.Context(), names); err != nil || !slices.Equal(deleted, names) {
			t.Errorf("Delete = %q, %v", deleted, err)
		}

		z.plans[c].Set(hangs, faulty.Delete)
		ctx, cancel := context.WithTimeout(t.Context(), 100*ms)
		defer cancel()
		_, err = z.Delete(ctx, names)
		wantError(t, err, context.DeadlineExceeded)
		wantPlain(t, took(t, 30*time.Second, func() error {
			_, err := z.Delete(t.Context(), names)
			return err
		}))
		// A broken zone is not waited for.
		z.plans[c].Outage(dead)
		for i := range 5 {
			z.put(fmt.Sprintf("dead/%d", i), frame(i))
		}
		z.plans[c].Outage(hangs)
		wantPlain(t, took(t, 5*ms, func() error {
			_, err := z.Delete(t.Context(), names)
			return err
		}))
	})
}
