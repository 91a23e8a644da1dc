package metered

import (
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// buckets, in seconds: from an append to a local disk to a store that is as good as gone. A server that takes native
// histograms gets those, with buckets 10 % apart, and needs none of these.
var buckets = []float64{.0005, .001, .002, .003, .005, .0075, .01, .015, .02, .03, .05, .1, .2, .5, 1, 2, 5, 10}

// metrics are those of all the zones of a registry.
type metrics struct {
	seconds                         *prometheus.HistogramVec
	inFlight                        *prometheus.GaugeVec
	appended, read, listed, deleted *prometheus.CounterVec
}

// zone is one zone's share of metrics.
type zone struct {
	seconds                         prometheus.ObserverVec
	inFlight                        *prometheus.GaugeVec
	appended, read, listed, deleted prometheus.Counter
}

func newMetrics(reg prometheus.Registerer) metrics {
	counter := func(name, help string) *prometheus.CounterVec {
		return register(reg, prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: "walbridge", Subsystem: "backends", Name: name, Help: help,
		}, []string{"zone"}))
	}
	return metrics{
		seconds: register(reg, prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: "walbridge", Subsystem: "backends", Name: "operation_seconds",
			Help:                            "How long a zone's store took for an operation, and what came of it.",
			Buckets:                         buckets,
			NativeHistogramBucketFactor:     1.1,
			NativeHistogramMaxBucketNumber:  160,
			NativeHistogramMinResetDuration: time.Hour,
		}, []string{"zone", "op", "result"})),
		inFlight: register(reg, prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Namespace: "walbridge", Subsystem: "backends", Name: "operations_in_flight",
			Help: "Operations that a zone's store has not answered yet.",
		}, []string{"zone", "op"})),
		appended: counter("appended_bytes_total", "Bytes that a zone's store confirmed as durable."),
		read:     counter("read_bytes_total", "Bytes read from a zone's store."),
		listed:   counter("listed_objects_total", "Objects that listings of a zone's store yielded."),
		deleted:  counter("deleted_objects_total", "Names whose absence a zone's store confirmed after a delete."),
	}
}

// register returns c or, where another zone has come first, that zone's.
func register[C prometheus.Collector](reg prometheus.Registerer, c C) C {
	err := reg.Register(c)
	if already := (prometheus.AlreadyRegisteredError{}); errors.As(err, &already) {
		return already.ExistingCollector.(C)
	}
	if err != nil {
		panic(err)
	}
	return c
}

// of returns the zone's metrics, which show from now on, be they 0.
func (m metrics) of(name string) zone {
	labels := prometheus.Labels{"zone": name}
	z := zone{
		seconds:  m.seconds.MustCurryWith(labels),
		inFlight: m.inFlight.MustCurryWith(labels),
		appended: m.appended.WithLabelValues(name),
		read:     m.read.WithLabelValues(name),
		listed:   m.listed.WithLabelValues(name),
		deleted:  m.deleted.WithLabelValues(name),
	}
	for _, op := range []string{"create", "append", "close", "read", "list", "delete"} {
		z.inFlight.WithLabelValues(op)
	}
	return z
}

// start counts an operation in; what it returns counts it out.
func (z zone) start(op string) func(error) { return z.startWithout(op, new(time.Duration)) }

// startWithout is start for an operation of which some time is not the store's.
func (z zone) startWithout(op string, outside *time.Duration) func(error) {
	inFlight := z.inFlight.WithLabelValues(op)
	inFlight.Inc()
	started := time.Now()
	return func(err error) {
		inFlight.Dec()
		z.seconds.WithLabelValues(op, result(err)).Observe((time.Since(started) - *outside).Seconds())
	}
}
