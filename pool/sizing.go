package pool

import (
	"math"
	"time"
)

// What the sizing assumes. safety covers what a mean does not: loads slower than the mean and Gets that come in bunches.
const (
	safety = 2
	// shortestWindow keeps a single Get from looking like thousands per second where a load takes microseconds.
	shortestWindow = 10 * time.Millisecond
	// peakWindow is how fast a past peak is forgotten: bursts that come again find the queue prepared. Remembering
	// costs little, since items that are not used are made once per MaxItemAge.
	peakWindow = 20 * time.Second
	// firstLatency stands for a load's time until one has been seen.
	firstLatency = 100 * time.Millisecond
)

// depth returns how many items should be ready or on their way: minDepth, and as many as are taken, at rate per second,
// during a load of that latency, times safety; at most maxDepth.
func depth(rate float64, latency time.Duration, minDepth, maxDepth int) int {
	during := safety * rate * latency.Seconds()
	// Compared as floats: a large one does not fit an int.
	if during >= float64(maxDepth-minDepth) {
		return maxDepth
	}
	return minDepth + int(math.Ceil(during))
}

func (q *LoadingQueue[T]) target(now time.Time) int {
	return depth(q.drain.rate(now), q.latency.mean(), q.opts.MinDepth, q.opts.MaxDepth)
}

// drain estimates how many Gets there are per second: the recent rate, or what is left of the last peak.
type drain struct {
	recent, peak float64
	at           time.Time
	// window is how far back recent looks.
	window time.Duration
}

// add counts a Get. The window to look back is the time of a load: what is taken during a load has to be ready before.
func (d *drain) add(now time.Time, window time.Duration) {
	recent, peak := d.decayed(now)
	window = max(window, shortestWindow)
	recent += 1 / window.Seconds()
	*d = drain{recent: recent, peak: max(recent, peak), at: now, window: window}
}

func (d *drain) rate(now time.Time) float64 {
	_, peak := d.decayed(now)
	if peak < 0.01 {
		return 0 // Or one Get of long ago would keep an item more than an idle queue has.
	}
	return peak
}

func (d *drain) decayed(now time.Time) (recent, peak float64) {
	if d.window == 0 {
		return 0, 0
	}
	past := now.Sub(d.at).Seconds()
	return d.recent * math.Exp(-past/d.window.Seconds()), d.peak * math.Exp(-past/peakWindow.Seconds())
}

// latency estimates how long a load takes: a moving mean of the last few. The zero value is firstLatency.
type latency struct{ value time.Duration }

func (l *latency) add(took time.Duration) {
	if l.value == 0 {
		l.value = max(took, 1)
		return
	}
	// One outlier must not swell the queue; a store that really slowed down gets through in a few loads.
	l.value = max(l.value+(min(took, l.patience())-l.value)/8, 1)
}

func (l *latency) mean() time.Duration {
	if l.value == 0 {
		return firstLatency
	}
	return l.value
}

// patience is how long a load is counted on: beyond it, it hangs rather than lasts.
func (l *latency) patience() time.Duration { return max(4*l.mean(), 10*time.Millisecond) }

// ahead is how long before its end an item is replaced. The bound keeps replacing ahead from costing more than 1 item
// in 64.
func (l *latency) ahead(maxAge time.Duration) time.Duration { return min(l.patience(), maxAge/64) }

// backoff returns how long to wait after so many failed loads in a row, where jitter is in [0, 1).
func backoff(failures int, jitter float64) time.Duration {
	const first, longest = 20 * time.Millisecond, time.Second
	d := longest
	if failures < 7 {
		d = min(first<<(failures-1), longest)
	}
	return d/2 + time.Duration(jitter*float64(d/2))
}
