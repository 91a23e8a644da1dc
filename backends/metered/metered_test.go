package metered_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/walbridge/walbridge/backends"
	"github.com/walbridge/walbridge/backends/backendtest"
	"github.com/walbridge/walbridge/backends/faulty"
	"github.com/walbridge/walbridge/backends/mem"
	"github.com/walbridge/walbridge/backends/metered"
)

func TestConformance(t *testing.T) {
	reg := prometheus.NewRegistry() // one for all, as zones share it
	backendtest.Run(t, func(t *testing.T) backends.Bucket {
		return metered.Wrap(mem.New(mem.Options{}), t.Name(), reg)
	})
}

var content = []byte("0123456789")

func put(ctx context.Context, b backends.Bucket, name string) error {
	w, err := b.Create(ctx, name)
	if err != nil {
		return err
	}
	return errors.Join(w.Append(ctx, content, backends.Checksum(content)), w.Close(ctx))
}

// sample is a metric's value; of a histogram, its sum and its count.
type sample struct {
	value float64
	count uint64
}

// gather returns the metrics of this package, by what follows walbridge_backends_: read_bytes_total{zone=a}.
func gather(t *testing.T, reg prometheus.Gatherer) map[string]sample {
	t.Helper()
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	samples := make(map[string]sample)
	for _, f := range families {
		for _, m := range f.GetMetric() {
			var labels []string
			for _, l := range m.GetLabel() {
				labels = append(labels, l.GetName()+"="+l.GetValue())
			}
			name := strings.TrimPrefix(f.GetName(), "walbridge_backends_")
			samples[name+"{"+strings.Join(labels, ",")+"}"] = sample{
				value: m.GetCounter().GetValue() + m.GetGauge().GetValue() + m.GetHistogram().GetSampleSum(),
				count: m.GetHistogram().GetSampleCount(),
			}
		}
	}
	return samples
}

// Each operation of each zone is timed, without the time that the caller of a List takes.
func TestSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reg, plan := prometheus.NewRegistry(), faulty.NewPlan(1)
		a := metered.Wrap(faulty.Wrap(mem.New(mem.Options{}), plan), "a", reg)
		b := metered.Wrap(mem.New(mem.Options{}), "b", reg)
		for i, op := range []faulty.Op{
			faulty.Create, faulty.Append, faulty.CloseWriter, faulty.Read, faulty.List, faulty.Delete,
		} {
			plan.Set(faulty.Faults{Latency: faulty.Constant(time.Duration(i+1) * time.Second)}, op)
		}
		for i := range 3 {
			if err := put(t.Context(), a, fmt.Sprintf("dir/%d", i)); err != nil {
				t.Fatal(err)
			}
		}
		if err := put(t.Context(), b, "dir/0"); err != nil {
			t.Fatal(err)
		}
		if err := a.ReadAt(t.Context(), "dir/0", make([]byte, 10), 0); err != nil {
			t.Fatal(err)
		}
		for _, err := range a.List(t.Context(), "dir") {
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Hour)
		}
		if _, err := a.Delete(t.Context(), []string{"dir/0"}); err != nil {
			t.Fatal(err)
		}
		got := gather(t, reg)
		for labels, want := range map[string]sample{
			"op=create,result=ok,zone=a": {3, 3},
			"op=append,result=ok,zone=a": {6, 3},
			"op=close,result=ok,zone=a":  {9, 3},
			"op=read,result=ok,zone=a":   {4, 1},
			"op=list,result=ok,zone=a":   {5, 1},
			"op=delete,result=ok,zone=a": {6, 1},
			"op=create,result=ok,zone=b": {0, 1},
			"op=append,result=ok,zone=b": {0, 1},
			"op=read,result=ok,zone=b":   {0, 0},
		} {
			if got := got["operation_seconds{"+labels+"}"]; got != want {
				t.Errorf("%s: %d operations in %v s, want %d in %v s", labels, got.count, got.value, want.count, want.value)
			}
		}
	})
}

func TestResults(t *testing.T) {
	for want, err := range map[string]error{
		"exists":    backends.ErrExists,
		"not_found": backends.ErrNotFound,
		"range":     backends.ErrRange,
		"checksum":  backends.ErrChecksum,
		"throttled": fmt.Errorf("%w: %w", context.DeadlineExceeded, backends.ErrThrottled),
		"denied":    backends.ErrDenied,
		"fenced":    backends.ErrFenced,
		"timeout":   context.DeadlineExceeded,
		"canceled":  context.Canceled,
		"error":     errors.New("something else"),
	} {
		reg, plan := prometheus.NewRegistry(), faulty.NewPlan(1)
		b := metered.Wrap(faulty.Wrap(mem.New(mem.Options{}), plan), "a", reg)
		w, err2 := b.Create(t.Context(), "dir/open")
		if err2 != nil {
			t.Fatal(err2)
		}
		plan.Set(faulty.Faults{Fail: 1, Err: err})
		if err := put(t.Context(), b, "dir/0"); err == nil {
			t.Fatal("Create succeeds")
		}
		w.Append(t.Context(), content, backends.Checksum(content))
		w.Close(t.Context())
		b.ReadAt(t.Context(), "dir/open", make([]byte, 1), 0)
		b.Delete(t.Context(), []string{"dir/open"})
		for range b.List(t.Context(), "dir") {
		}
		got := gather(t, reg)
		for _, op := range []string{"create", "append", "close", "read", "list", "delete"} {
			labels := fmt.Sprintf("op=%s,result=%s,zone=a", op, want)
			if n := got["operation_seconds{"+labels+"}"].count; n != 1 {
				t.Errorf("%s that ends with %q: %d with the labels %s, want 1", op, err, n, labels)
			}
		}
		for _, name := range []string{"appended_bytes_total", "read_bytes_total", "deleted_objects_total"} {
			if got := got[name+"{zone=a}"].value; got != 0 {
				t.Errorf("%s is %v after failures, want 0", name, got)
			}
		}
	}
}

func TestCounters(t *testing.T) {
	reg := prometheus.NewRegistry()
	b := metered.Wrap(mem.New(mem.Options{}), "a", reg)
	metered.Wrap(mem.New(mem.Options{}), "b", reg)
	for i := range 3 {
		if err := put(t.Context(), b, fmt.Sprintf("dir/%d", i)); err != nil {
			t.Fatal(err)
		}
	}
	for _, off := range []int64{0, 4, 5} { // the last is out of range
		b.ReadAt(t.Context(), "dir/0", make([]byte, 6), off)
	}
	for range b.List(t.Context(), "dir") {
		break
	}
	for range b.List(t.Context(), "dir") {
	}
	b.Delete(t.Context(), []string{"dir/0", "dir/never"})
	got := gather(t, reg)
	for name, want := range map[string]float64{
		"appended_bytes_total": 30, "read_bytes_total": 12, "listed_objects_total": 4, "deleted_objects_total": 2,
	} {
		if got := got[name+"{zone=a}"].value; got != want {
			t.Errorf("%s of zone a is %v, want %v", name, got, want)
		}
		if got, ok := got[name+"{zone=b}"]; got.value != 0 || !ok {
			t.Errorf("%s of zone b is %v, shown: %v, want 0, shown", name, got.value, ok)
		}
	}
}

// A store that does not answer shows in the gauge before any deadline ends.
func TestInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reg, plan := prometheus.NewRegistry(), faulty.NewPlan(1)
		b := metered.Wrap(faulty.Wrap(mem.New(mem.Options{}), plan), "a", reg)
		plan.Set(faulty.Faults{Hang: 1}, faulty.Read)
		ctx, cancel := context.WithCancel(t.Context())
		for range 3 {
			go b.ReadAt(ctx, "dir/0", make([]byte, 1), 0)
		}
		synctest.Wait()
		if n := gather(t, reg)["operations_in_flight{op=read,zone=a}"].value; n != 3 {
			t.Errorf("%v reads in flight, want 3", n)
		}
		cancel()
		synctest.Wait()
		got := gather(t, reg)
		if n := got["operations_in_flight{op=read,zone=a}"].value; n != 0 {
			t.Errorf("%v reads in flight after their end, want 0", n)
		}
		if n := got["operation_seconds{op=read,result=canceled,zone=a}"].count; n != 3 {
			t.Errorf("%d reads canceled, want 3", n)
		}
	})
}
