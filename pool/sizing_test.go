package pool

import (
	"math"
	"testing"
	"time"
)

func TestDepth(t *testing.T) {
	for _, tc := range []struct {
		rate    float64
		latency time.Duration
		want    int
	}{
		{0, 80 * time.Millisecond, 4},
		{100, 80 * time.Millisecond, 4 + 16},
		{1, 80 * time.Millisecond, 4 + 1},
		{100, time.Second, 4 + 200},
		{1000, time.Second, 256},
		{math.Inf(1), time.Second, 256},
	} {
		if got := depth(tc.rate, tc.latency, 4, 256); got != tc.want {
			t.Errorf("depth(%v/s, %v) = %d, want %d", tc.rate, tc.latency, got, tc.want)
		}
	}
}

func TestDrainRate(t *testing.T) {
	var d drain
	now := time.Now()
	if r := d.rate(now); r != 0 {
		t.Errorf("rate %v before the first Get", r)
	}
	for range 1000 {
		now = now.Add(10 * time.Millisecond)
		d.add(now, 80*time.Millisecond)
	}
	if r := d.rate(now); r < 95 || r > 110 {
		t.Errorf("rate %v, 100 Gets per second", r)
	}
	if r := d.rate(now.Add(5 * time.Second)); r < 70 {
		t.Errorf("rate %v: forgot the peak within 5 seconds", r)
	}
	if r := d.rate(now.Add(10 * time.Minute)); r != 0 {
		t.Errorf("rate %v after 10 idle minutes", r)
	}
}

func TestLatencyFollowsTheStoreAndIgnoresAnOutlier(t *testing.T) {
	var l latency
	for range 10 {
		l.add(80 * time.Millisecond)
	}
	l.add(10 * time.Second)
	if m := l.mean(); m > 120*time.Millisecond {
		t.Errorf("mean %v after one load of 10 s among those of 80 ms", m)
	}
	for range 50 {
		l.add(800 * time.Millisecond)
	}
	if m := l.mean(); m < 700*time.Millisecond {
		t.Errorf("mean %v after 50 loads of 800 ms", m)
	}
}

func TestBackoffIsBounded(t *testing.T) {
	for n := 1; n < 2000; n++ {
		low, high := backoff(n, 0), backoff(n, 0.999)
		if low < 10*time.Millisecond || high > time.Second || low > high {
			t.Fatalf("after %d failures %v to %v", n, low, high)
		}
	}
	if backoff(1, 0.999) > 20*time.Millisecond || backoff(20, 0) < 500*time.Millisecond {
		t.Error("backoff does not grow")
	}
}
