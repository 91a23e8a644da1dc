package pool

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// Stats tells how a queue is and what it did since it was made.
type Stats struct {
	// Depth items are ready, Loading are being made, Waiting Gets find none; Target is the sum that the queue aims at.
	Depth, Target, Loading, Waiting int
	// Of the Loaded items, each was HandedOut, discarded for its age or because the queue closed, or is ready.
	Loaded, HandedOut, DiscardedAged, DiscardedClosed uint64
	// LoadErrors counts failed loads; LastError is the last of them, nil if there was none.
	LoadErrors    uint64
	LastError     error
	LastErrorTime time.Time
}

// Stats returns the present state.
func (q *LoadingQueue[T]) Stats() Stats {
	q.mu.Lock()
	defer q.mu.Unlock()
	s := q.stats
	s.Depth, s.Loading, s.Waiting = len(q.ready), len(q.loading), len(q.waiters)
	if !q.closed {
		s.Target = q.target(time.Now())
	}
	return s
}

type metrics struct{ wait, load prometheus.Histogram }

// newMetrics registers what Stats tells, and two histograms. A nil Registerer registers nothing.
func newMetrics(reg prometheus.Registerer, stats func() Stats) *metrics {
	auto := promauto.With(reg)
	gauge := func(name, help string, value func(Stats) int) {
		auto.NewGaugeFunc(prometheus.GaugeOpts{Name: "walbridge_pool_" + name, Help: help},
			func() float64 { return float64(value(stats())) })
	}
	counter := func(name, help string, labels prometheus.Labels, value func(Stats) uint64) {
		auto.NewCounterFunc(prometheus.CounterOpts{Name: "walbridge_pool_" + name, Help: help, ConstLabels: labels},
			func() float64 { return float64(value(stats())) })
	}
	gauge("depth", "Items ready.", func(s Stats) int { return s.Depth })
	gauge("target", "Items that the pool aims at, ready or being loaded.", func(s Stats) int { return s.Target })
	gauge("loading", "Items being loaded.", func(s Stats) int { return s.Loading })
	gauge("waiting", "Gets that find no item ready.", func(s Stats) int { return s.Waiting })
	counter("loaded_total", "Items loaded.", nil, func(s Stats) uint64 { return s.Loaded })
	counter("handed_out_total", "Items handed out.", nil, func(s Stats) uint64 { return s.HandedOut })
	counter("load_errors_total", "Failed loads.", nil, func(s Stats) uint64 { return s.LoadErrors })
	const discarded, help = "discarded_total", "Items made and not used."
	counter(discarded, help, prometheus.Labels{"reason": "aged"}, func(s Stats) uint64 { return s.DiscardedAged })
	counter(discarded, help, prometheus.Labels{"reason": "closed"}, func(s Stats) uint64 { return s.DiscardedClosed })
	seconds := []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5}
	return &metrics{
		wait: auto.NewHistogram(prometheus.HistogramOpts{
			Name: "walbridge_pool_wait_seconds", Help: "Time that a Get waited for its item.", Buckets: seconds,
		}),
		load: auto.NewHistogram(prometheus.HistogramOpts{
			Name: "walbridge_pool_load_seconds", Help: "Time of a successful load.", Buckets: seconds,
		}),
	}
}
