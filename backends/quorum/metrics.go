package quorum

import (
	"context"
	"errors"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/walbridge/walbridge/backends"
)

// metrics are what a Bucket counts.
type metrics struct {
	appends    *prometheus.CounterVec
	copies     *prometheus.CounterVec
	closes     *prometheus.CounterVec
	reads      *prometheus.CounterVec
	hedges     prometheus.Counter
	collectors []prometheus.Collector
}

func newMetrics(b *Bucket) *metrics {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: "walbridge_quorum_" + name, Help: help}, labels)
	}
	m := &metrics{
		appends: counter("appends_total", "Appends by result: committed, lost, or left by the caller.", "result"),
		copies:  counter("abandoned_copies_total", "Objects that a zone lacks or has not all of.", "zone", "reason"),
		closes:  counter("closes_total", "Zone writers closed in the background.", "zone", "result"),
		reads:   counter("reads_total", "Reads of zones.", "zone", "result"),
		hedges: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "walbridge_quorum_hedged_reads_total",
			Help: "Zones that were read because another one was slow.",
		}),
	}
	m.collectors = []prometheus.Collector{
		m.appends, m.copies, m.closes, m.reads, m.hedges,
		prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "walbridge_quorum_under_replicated_frames_total",
			Help: "Frames acknowledged that not all zones hold.",
		}, func() float64 { return float64(b.underReplicated.Load()) }),
	}
	return m
}

// register registers the metrics with r, or does nothing if r is nil.
func (m *metrics) register(r prometheus.Registerer) error {
	if r == nil {
		return nil
	}
	for _, c := range m.collectors {
		if err := r.Register(c); err != nil {
			return err
		}
	}
	return nil
}

// appended counts an append of a writer.
func (m *metrics) appended(ctx context.Context, err error) {
	switch {
	case err == nil:
		m.appends.WithLabelValues("committed").Inc()
	case ctx.Err() != nil && errors.Is(err, ctx.Err()):
		m.appends.WithLabelValues("left").Inc()
	default:
		m.appends.WithLabelValues("lost").Inc()
	}
}

// zoneMetrics are a zone's part of the metrics.
type zoneMetrics struct {
	copies map[string]prometheus.Counter // by reason
	closes map[string]prometheus.Counter // by result
	reads  map[string]prometheus.Counter // by result
}

// The results of closes and reads.
const (
	resultOK       = "ok"
	resultError    = "error"
	resultTimeout  = "timeout"
	resultAbsent   = "absent"
	resultChecksum = "checksum"
	resultCanceled = "canceled"
	resultBusy     = "busy" // it was not asked
)

var results = []string{
	resultOK, resultError, resultTimeout, resultAbsent, resultChecksum, resultCanceled, resultBusy,
}

// ofZone returns the metrics of the zone, all of them present from the start.
func (m *metrics) ofZone(z *zone) *zoneMetrics {
	curry := func(vec *prometheus.CounterVec, values ...string) map[string]prometheus.Counter {
		counters := make(map[string]prometheus.Counter, len(values))
		for _, value := range values {
			counters[value] = vec.WithLabelValues(z.name, value)
		}
		return counters
	}
	gauge := func(name, help string, value func(ZoneStatus) float64) {
		m.collectors = append(m.collectors, prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "walbridge_quorum_" + name, Help: help, ConstLabels: prometheus.Labels{"zone": z.name},
		}, func() float64 { return value(z.status()) }))
	}
	gauge("breaker_open", "1 where the zone failed too often and gets no writes.", func(s ZoneStatus) float64 {
		if s.Down {
			return 1
		}
		return 0
	})
	gauge("late_bytes", "Bytes held for the zone's operations that outlive their callers.",
		func(s ZoneStatus) float64 { return float64(s.LateBytes) })
	gauge("late_ops", "The zone's operations that outlive their callers.",
		func(s ZoneStatus) float64 { return float64(s.LateOps) })
	gauge("stuck_ops", "The zone's operations that were not answered in time and still are not.",
		func(s ZoneStatus) float64 { return float64(s.StuckOps) })
	return &zoneMetrics{
		copies: curry(m.copies, reasons...),
		closes: curry(m.closes, results...),
		reads:  curry(m.reads, results...),
	}
}

// abandoned counts a copy that the zone lacks or has not all of.
func (m *zoneMetrics) abandoned(reason string) { m.copies[reason].Inc() }

// closed counts a zone writer that was closed, or not.
func (m *zoneMetrics) closed(err error) { m.closes[resultOf(err)].Inc() }

// read counts a read of the zone.
func (m *zoneMetrics) read(err error) { m.reads[resultOf(err)].Inc() }

func resultOf(err error) string {
	switch {
	case err == nil:
		return resultOK
	case errors.Is(err, errTimeout):
		return resultTimeout
	case errors.Is(err, backends.ErrNotFound), errors.Is(err, backends.ErrRange):
		return resultAbsent
	case errors.Is(err, backends.ErrChecksum):
		return resultChecksum
	case errors.Is(err, errBusy):
		return resultBusy
	case errors.Is(err, context.Canceled):
		return resultCanceled
	}
	return resultError
}
