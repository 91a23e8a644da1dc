package faulty

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// The n-th Append's luck depends on the seed and n alone.
func TestDeterminism(t *testing.T) {
	faults := Faults{Torn: 0.2, Hang: 0.1, Corrupt: 0.3, Latency: Exponential(time.Second)}
	draw := func(seed uint64, between func(*Plan)) (calls []call) {
		p := NewPlan(seed)
		p.Set(faults, Append)
		for range 100 {
			between(p)
			calls = append(calls, p.draw(Append, "a"))
		}
		return calls
	}
	want := draw(1, func(*Plan) {})
	same := draw(1, func(p *Plan) {
		p.Set(faults, Read)
		p.draw(Read, "b")
	})
	if !slices.Equal(want, same) {
		t.Error("other operations in between change the luck of the Appends")
	}
	if slices.Equal(want, draw(2, func(*Plan) {})) {
		t.Error("another seed gives the same luck")
	}
}

func TestProbabilities(t *testing.T) {
	const n = 100_000
	p := NewPlan(1)
	p.Set(Faults{Fail: 0.01, Torn: 0.02, LostAck: 0.04, Hang: 0.08, Mute: 0.05, Stuck: 0.1, Corrupt: 0.2})
	seen := make(map[fate]float64)
	for range n {
		seen[p.draw(Append, "a").fate]++
	}
	for f, want := range map[fate]float64{
		none: 0.5, fail: 0.01, torn: 0.02, lostAck: 0.04, hang: 0.08, mute: 0.05, stuck: 0.1, corrupt: 0.2,
	} {
		if got := seen[f] / n; math.Abs(got-want) > 0.005 {
			t.Errorf("fate %d befalls %.4f of the operations, want %.2f", f, got, want)
		}
	}
}

func TestLatency(t *testing.T) {
	for _, l := range []struct {
		name                 string
		latency              Latency
		least, mid, p99, end time.Duration
	}{
		{"constant", Constant(5), 5, 5, 5, 5},
		{"uniform", Uniform(1000, 3000), 1000, 2000, 2980, 3000},
		{"exponential", Exponential(1000), 0, 693, 4605, math.MaxInt64},
		{"log-normal", LogNormal(2000, 3300), 1, 2000, 3300, math.MaxInt64},
	} {
		r := rand.New(rand.NewPCG(1, 1))
		all := make([]time.Duration, 100_000)
		for i := range all {
			all[i] = l.latency(r)
		}
		slices.Sort(all)
		if all[0] < l.least || all[len(all)-1] > l.end {
			t.Errorf("%s: from %v to %v, want %v to %v", l.name, all[0], all[len(all)-1], l.least, l.end)
		}
		for q, want := range map[float64]time.Duration{0.5: l.mid, 0.99: l.p99} {
			got := all[int(q*float64(len(all)))]
			if math.Abs(float64(got-want)) > 0.03*float64(want) {
				t.Errorf("%s: quantile %v is %v, want %v", l.name, q, got, want)
			}
		}
	}
}
