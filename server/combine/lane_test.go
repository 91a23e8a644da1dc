package combine_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/walbridge/walbridge/backends"
	"github.com/walbridge/walbridge/backends/faulty"
	"github.com/walbridge/walbridge/backends/mem"
	"github.com/walbridge/walbridge/server/combine"
	"github.com/walbridge/walbridge/server/frame"
)

// An append of which nobody knows whether it happened is done again, with the same bytes, in another object.
func TestUncertainAppendIsRepeatedElsewhere(t *testing.T) {
	for what, faults := range map[string]faulty.Faults{
		"answer lost": {LostAck: 1},
		"torn":        {Torn: 1},
		"failed":      {Fail: 1},
		"throttled":   {Fail: 1, Err: backends.ErrThrottled},
		"checksum":    {Fail: 1, Err: backends.ErrChecksum},
		"exists":      {Fail: 1, Err: backends.ErrExists},
		"hangs":       {Hang: 1},
		"mute":        {Mute: 1},
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := start(t, mem.New(mem.Options{}), combine.Options{Rotation: combine.Rotation{Appends: 100}})
				defer r.stop()
				r.copy(section(0, 50)) // The lane has an object with a frame in it.
				r.plan.Set(faults, faulty.Append)
				ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
				defer cancel()
				go func() {
					time.Sleep(ms)
					r.plan.Set(faulty.Faults{}, faulty.Append)
				}()
				s := section(1, 60)
				result, err := r.Copy(ctx, []frame.Section{s}, 0)
				if err != nil {
					t.Fatal(err)
				}
				r.checkStored(result, s)
				if result.Extent.Position != 0 {
					t.Errorf("extent %v, want the start of another object", result.Extent)
				}
				if n := r.Stats().Retries; n == 0 {
					t.Error("no retry is counted")
				}
				whole := map[string]bool{}
				for object, size := range r.objects() {
					for f, err := range frame.Scan(object, func(p []byte, off int64, _ func([]byte) error) error {
						return r.store.ReadAt(t.Context(), object, p, off)
					}, frame.Whole) {
						if _, ok := errors.AsType[*frame.CorruptError](err); ok && what == "torn" {
							continue
						}
						if err != nil {
							t.Fatal(err)
						}
						if f.Index.Entries[0].Partition == 1 {
							whole[string(f.Bytes)] = true
						}
					}
					if object == name(result) && size != int64(result.Extent.Length) {
						t.Errorf("object of %d bytes, the frame has %d", size, result.Extent.Length)
					}
				}
				if len(whole) != 1 {
					t.Errorf("%d different frames with the section, want identical ones", len(whole))
				}
			})
		})
	}
}

func TestWhatIsNotRepeated(t *testing.T) {
	for _, err := range []error{backends.ErrFenced, backends.ErrDenied, backends.ErrTooLarge, backends.ErrName} {
		synctest.Test(t, func(t *testing.T) {
			r := start(t, mem.New(mem.Options{}), combine.Options{})
			defer r.stop()
			r.plan.Set(faulty.Faults{Fail: 1, Err: err}, faulty.Append)
			began := time.Now()
			if _, got := r.Copy(t.Context(), []frame.Section{section(0, 50)}, 0); !errors.Is(got, err) {
				t.Errorf("got %v, want %v", got, err)
			}
			if n, d := r.plan.Count(faulty.Append), time.Since(began); n != 1 || d != 0 {
				t.Errorf("%v: %d appends in %v, want 1", err, n, d)
			}
		})
	}
}

func TestBytesDamagedHereAreNotRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, mem.New(mem.Options{}), combine.Options{})
		defer r.stop()
		s := section(0, 50)
		s.Chunks[0][3] ^= 1
		if _, err := r.Copy(t.Context(), []frame.Section{s}, 0); !errors.Is(err, backends.ErrChecksum) {
			t.Errorf("copy of damaged bytes: %v, want ErrChecksum", err)
		}
		if n := r.plan.Count(faulty.Append); n != 1 {
			t.Errorf("%d appends, want 1", n)
		}
		r.copy(section(0, 50))
	})
}

// However little time the caller has, a first append that hangs leaves room for a second one.
func TestRepeatedWithinTheDeadline(t *testing.T) {
	for _, limit := range []time.Duration{300 * ms, time.Second, 5 * time.Second, time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			r := start(t, mem.New(mem.Options{}), combine.Options{})
			defer r.stop()
			r.plan.Set(faulty.Faults{Hang: 1}, faulty.Append)
			time.AfterFunc(ms, func() { r.plan.Set(faulty.Faults{}, faulty.Append) })
			ctx, cancel := context.WithTimeout(t.Context(), limit)
			defer cancel()
			if _, err := r.Copy(ctx, []frame.Section{section(0, 50)}, 0); err != nil {
				t.Errorf("with %v: %v", limit, err)
			}
		})
	}
}

func TestDeadlineTellsWhatWentWrong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, mem.New(mem.Options{}), combine.Options{})
		defer r.stop()
		boom := errors.New("boom")
		r.plan.Set(faulty.Faults{Fail: 1, Err: boom}, faulty.Append)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		_, err := r.Copy(ctx, []frame.Section{section(0, 50)}, 0)
		if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, boom) {
			t.Errorf("got %v, want the deadline and why the last append failed", err)
		}
		if n := r.plan.Count(faulty.Append); n < 15 || n > 60 {
			t.Errorf("%d attempts in 10 seconds", n)
		}
		synctest.Wait()
		if s := r.Stats(); s.FailedFrames != 1 || s.Frames != 0 || s.Busy != 0 {
			t.Errorf("stats %+v", s)
		}
	})
}

func TestWithoutDeadlineAFrameIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, mem.New(mem.Options{}), combine.Options{FrameTimeout: 20 * time.Second})
		defer r.stop()
		r.plan.Set(faulty.Faults{Hang: 1}, faulty.Append)
		began := time.Now()
		if _, err := r.Copy(t.Context(), []frame.Section{section(0, 50)}, 0); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want a timeout", err)
		}
		if d := time.Since(began); d < 15*time.Second || d > 20*time.Second {
			t.Errorf("given up after %v", d)
		}
	})
}

func TestRotation(t *testing.T) {
	const size = 1000
	for what, tc := range map[string]struct {
		store    mem.Options
		rotation combine.Rotation
		pause    time.Duration
		want     []int // frames in each object
	}{
		"default":       {want: []int{1, 1, 1, 1, 1, 1}},
		"appends":       {rotation: combine.Rotation{Appends: 4}, want: []int{2, 4}},
		"bytes":         {rotation: combine.Rotation{Appends: 100, Bytes: 2 * size}, want: []int{2, 2, 2}},
		"age":           {rotation: combine.Rotation{Appends: 100, Age: 25 * ms}, pause: 10 * ms, want: []int{3, 3}},
		"store's limit": {store: mem.Options{Appends: 3}, rotation: combine.Rotation{Appends: 100}, want: []int{3, 3}},
		"one-shot store": {
			store: mem.Options{Appends: 1, CreateOnAppend: true}, rotation: combine.Rotation{Appends: 100},
			want: []int{1, 1, 1, 1, 1, 1},
		},
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := start(t, mem.New(tc.store), combine.Options{Lanes: 1, Rotation: tc.rotation})
				frames, ends := map[string]int{}, map[string]int64{}
				for i := range 6 {
					x := r.copy(section(i, size)).Extent
					object := x.Object.Name(identity.ClusterID)
					if x.Position != ends[object] {
						t.Errorf("frame at %d of an object of %d bytes", x.Position, ends[object])
					}
					frames[object]++
					ends[object] += int64(x.Length)
					time.Sleep(tc.pause)
				}
				if got := slices.Sorted(maps.Values(frames)); !slices.Equal(got, tc.want) {
					t.Errorf("objects with %v frames, want %v", got, tc.want)
				}
				r.stop()
				if opened, closed := r.plan.Count(faulty.Create), r.plan.Count(faulty.CloseWriter); opened != closed {
					t.Errorf("%d objects opened, %d closed", opened, closed)
				}
			})
		})
	}
}

func TestIdleLaneLeavesItsObjectWhenItIsOld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, mem.New(mem.Options{}), combine.Options{
			Lanes: 3, Rotation: combine.Rotation{Appends: 100, Age: time.Second},
		})
		defer r.stop()
		r.plan.Set(faulty.Faults{Latency: faulty.Constant(ms)}, faulty.Append)
		var all sync.WaitGroup
		for i := range 3 {
			all.Go(func() { r.copy(section(i, 50)) })
			synctest.Wait()
		}
		all.Wait()
		time.Sleep(998 * ms)
		if n := r.plan.Count(faulty.CloseWriter); n != 0 {
			t.Errorf("%d objects closed before their time", n)
		}
		time.Sleep(5 * ms)
		if n := r.plan.Count(faulty.CloseWriter); n != 3 {
			t.Errorf("%d objects closed at their age, want 3", n)
		}
	})
}

// Closing is no part of a copy: one that hangs costs no time, until very many do.
func TestCloseIsInTheBackground(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, mem.New(mem.Options{}), combine.Options{Lanes: 1})
		defer r.stop()
		r.plan.Set(faulty.Faults{Hang: 1}, faulty.CloseWriter)
		began := time.Now()
		for i := range 256 {
			r.copy(section(i, 50))
		}
		if d := time.Since(began); d != 0 {
			t.Errorf("copies waited %v for objects to be closed", d)
		}
		r.copy(section(0, 50))
		if d := time.Since(began); d != 5*time.Second {
			t.Errorf("with 256 objects being closed a copy waited %v, want the timeout of a close", d)
		}
	})
}

func TestNewRefusesABucketThatTakesNothing(t *testing.T) {
	for _, caps := range []backends.Caps{{}, {Appends: 1}, {MaxAppend: 1}} {
		if _, err := combine.New(combine.Options{Identity: identity, Objects: never{}, Caps: caps}); err == nil {
			t.Errorf("accepts %+v", caps)
		}
	}
	_, err := combine.New(combine.Options{Objects: never{}, Caps: backends.Caps{Appends: 1, MaxAppend: 1 << 20}})
	if err == nil {
		t.Error("accepts no identity")
	}
}

func TestOpenerNamesAndDiscards(t *testing.T) {
	store := mem.New(mem.Options{})
	r := &rig{t: t, store: store}
	o := &opener{combine.Opener{Bucket: store, Identity: identity}}
	names := map[string]bool{}
	for range 100 {
		object, err := o.Open(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		n := object.ID.Name(identity.ClusterID)
		if cluster, id, err := frame.ParseName(n); err != nil || cluster != identity.ClusterID || id != object.ID {
			t.Fatalf("name %s: %v", n, err)
		}
		if object.ID.Broker != identity.BrokerID || object.ID.Incarnation != identity.Incarnation {
			t.Fatalf("name %s of another daemon", n)
		}
		if _, ok := r.objects()[n]; !ok || names[n] {
			t.Fatalf("%s is not a new object of the store", n)
		}
		names[n] = true
		o.Discard(t.Context(), object)
		if len(r.objects()) != 0 {
			t.Fatalf("discarded, but there is %v", r.objects())
		}
		if err := object.Writer.Append(t.Context(), []byte("x"), backends.Checksum([]byte("x"))); err == nil {
			t.Fatal("discarded, but takes an append")
		}
	}
}

func TestMetrics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reg := prometheus.NewPedanticRegistry()
		r := start(t, mem.New(mem.Options{}), combine.Options{Lanes: 1, Registerer: reg})
		defer r.stop()
		r.copy(section(0, 50))
		r.plan.Set(faulty.Faults{Fail: 1, Err: backends.ErrThrottled}, faulty.Append)
		time.AfterFunc(ms, func() {
			r.plan.Set(faulty.Faults{Fail: 1, Err: backends.ErrDenied}, faulty.Append)
		})
		if _, err := r.Copy(t.Context(), []frame.Section{section(0, 50)}, 0); !errors.Is(err, backends.ErrDenied) {
			t.Error(err)
		}
		synctest.Wait()
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
		want := map[string]float64{
			"walbridge_combine_frame_bytes": 1, "walbridge_combine_frame_copies": 1,
			"walbridge_combine_append_seconds ok": 1, "walbridge_combine_append_seconds error": 2,
			"walbridge_combine_retries_total throttled": 1, "walbridge_combine_frames_failed_total denied": 1,
			"walbridge_combine_lanes_busy": 0, "walbridge_combine_copies_queued": 0,
		}
		if !maps.Equal(got, want) {
			t.Errorf("got  %v\nwant %v", got, want)
		}
	})
}
