package quorum

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/walbridge/walbridge/backends"
	"github.com/walbridge/walbridge/backends/faulty"
	"github.com/walbridge/walbridge/backends/mem"
)

func zonesOf(names ...string) []Zone {
	var zones []Zone
	for i, name := range names {
		zones = append(zones, Zone{Name: name, Bucket: mem.New(mem.Options{Appends: 10 - i, MaxAppend: int64(100 + i)})})
	}
	return zones
}

func TestNew(t *testing.T) {
	many := make([]string, MaxZones+1)
	for i := range many {
		many[i] = fmt.Sprint("zone", i)
	}
	for _, bad := range []struct {
		zones []string
		opts  Options
		want  string
	}{
		{nil, Options{}, "0 zones"},
		{many, Options{}, "65 zones"},
		{[]string{"a", "b", "a"}, Options{}, "two zones are named a"},
		{[]string{"a", ""}, Options{}, "no name"},
		{[]string{"a", "b", "c"}, Options{Quorum: 1}, "1 of 3"},
		{[]string{"a", "b", "c", "d"}, Options{Quorum: 2}, "2 of 4"},
		{[]string{"a", "b", "c"}, Options{Quorum: 4}, "4 of 3"},
		{[]string{"a", "b", "c"}, Options{Quorum: -2}, "-2 of 3"},
		{[]string{"a"}, Options{Local: "b"}, "local zone b"},
		{[]string{"a"}, Options{ProbeDir: "../a"}, "probe directory"},
		{[]string{"a"}, Options{ZoneTimeout: -1}, "ZoneTimeout"},
		{[]string{"a"}, Options{MaxOps: -1}, "MaxOps"},
	} {
		if _, err := New(zonesOf(bad.zones...), bad.opts); err == nil || !strings.Contains(err.Error(), bad.want) {
			t.Errorf("New(%d zones, %+v): error %v, want one with %q", len(bad.zones), bad.opts, err, bad.want)
		}
	}
	for n := 1; n <= 6; n++ {
		var log bytes.Buffer
		b, err := New(zonesOf(many[:n]...), Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
		if err != nil {
			t.Fatal(err)
		}
		if got, want := b.Status().Quorum, n/2+1; got != want {
			t.Errorf("quorum %d of %d, want %d", got, n, want)
		}
		if got, want := b.Caps(), (backends.Caps{Appends: 10 - n + 1, MaxAppend: 100}); got != want {
			t.Errorf("Caps() of %d zones = %+v, want %+v", n, got, want)
		}
		if warned := strings.Contains(log.String(), "no zone may be lost"); warned != (n == 2) {
			t.Errorf("%d zones: the log says %q", n, log.String())
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
	registry := prometheus.NewRegistry()
	if _, err := New(zonesOf("a"), Options{Registerer: registry}); err != nil {
		t.Error(err)
	}
	if _, err := New(zonesOf("a"), Options{Registerer: registry}); err == nil {
		t.Error("metrics are registered twice")
	}
}

// Many daemons race for one name, through zones that are slow and lose answers: at most one of them gets it, and a
// quorum of zones holds its bytes.
func TestCreateExcludes(t *testing.T) {
	seed := testSeed(t)
	r := rand.New(rand.NewPCG(seed, 0))
	won := 0
	for round := range 500 {
		synctest.Test(t, func(t *testing.T) {
			n := 1 + r.IntN(5)
			quorum := n/2 + 1 + r.IntN(n-n/2)
			onAppend := r.IntN(2) == 0
			real := make([]backends.Bucket, n)
			for i := range real {
				real[i] = mem.New(mem.Options{CreateOnAppend: onAppend})
			}
			creators := 1 + r.IntN(4)
			results := make(chan error, creators)
			var winners [][]byte
			for i := range creators {
				var stores []backends.Bucket
				for z := range n {
					plan := faulty.NewPlan(r.Uint64())
					plan.Set(faulty.Faults{
						Latency: faulty.Exponential(ms), Fail: 0.05, LostAck: 0.1, Mute: 0.02, Hang: 0.02,
					}, faulty.Create, faulty.Append)
					stores = append(stores, faulty.Wrap(real[z], plan))
				}
				b := newTest(t, Options{Quorum: quorum}, stores...)
				p := fmt.Appendf(nil, "creator %d", i)
				go func() {
					w, err := b.Create(t.Context(), "claim")
					if err == nil {
						err = appendTo(t.Context(), w, p)
						mustClose(t, w)
					}
					if closing := b.Close(); closing != nil {
						t.Error(closing)
					}
					if err == nil {
						winners = append(winners, p)
					}
					results <- err
				}()
			}
			for range creators {
				<-results
			}
			if len(winners) > 1 {
				t.Errorf("round %d: %d creators won", round, len(winners))
			}
			won += len(winners)
			for _, p := range winners {
				copies := 0
				for _, b := range real {
					if bytes.Equal(stored(t, b.(*mem.Bucket), "claim"), p) {
						copies++
					}
				}
				if copies < quorum {
					t.Errorf("round %d: %d zones hold what the winner wrote, want %d of %d", round, copies, quorum, n)
				}
			}
		})
	}
	if won < 100 {
		t.Errorf("%d of 500 rounds had a winner: the test shows nothing", won)
	}
}

// Creators of one name in one process do not split the zones: one of them always wins.
func TestCreateInOneProcess(t *testing.T) {
	inBubble(t, 3, Options{}, func(t *testing.T, z *cluster) {
		for i := range 3 {
			z.plans[i].Set(faulty.Faults{Latency: faulty.Exponential(ms)})
		}
		for round := range 100 {
			name := fmt.Sprintf("x/%d", round)
			results := make(chan error, 4)
			for range 4 {
				go func() {
					w, err := z.Create(t.Context(), name)
					if err == nil {
						mustClose(t, w)
					}
					results <- err
				}()
			}
			won := 0
			for range 4 {
				switch err := <-results; {
				case err == nil:
					won++
				case !errors.Is(err, backends.ErrExists):
					t.Error(err)
				}
			}
			if won != 1 {
				t.Fatalf("%d of 4 creators won", won)
			}
			time.Sleep(time.Second)
			if _, err := z.Create(t.Context(), name); !errors.Is(err, backends.ErrExists) {
				t.Fatalf("Create of what is there: error %v, want ErrExists", err)
			}
		}
	})
}

// ErrChecksum tells that the caller's bytes were wrong, not that they were damaged on their way to a zone.
func TestAppendChecksum(t *testing.T) {
	inBubble(t, 3, Options{}, func(t *testing.T, z *cluster) {
		w := z.create("wrong")
		wantError(t, w.Append(t.Context(), frame(1), backends.Checksum(frame(1))^1), backends.ErrChecksum)
		mustClose(t, w)
		w = z.create("damaged")
		for i := range 3 {
			z.plans[i].Set(faulty.Faults{Fail: 1, Err: backends.ErrChecksum}, faulty.Append)
		}
		wantPlain(t, appendTo(t.Context(), w, frame(1)))
		mustClose(t, w)
		for i := range 3 {
			z.plans[i].Set(faulty.Faults{Fail: 1, Err: backends.ErrFenced}, faulty.Append)
		}
		w = z.create("fenced")
		wantError(t, appendTo(t.Context(), w, frame(1)), backends.ErrFenced)
		mustClose(t, w)
		synctest.Wait() // two zones decide, and the third one fails as well
		z.wantMetric(3, "abandoned_copies_total", "a", "disagree")
	})
}
