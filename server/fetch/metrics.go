package fetch

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

type metrics struct {
	hits, joins, misses prometheus.Counter
	loadingBytes        prometheus.Gauge
	readSeconds         *prometheus.HistogramVec
}

// newMetrics registers the package's metrics. A nil Registerer registers nothing.
func newMetrics(reg prometheus.Registerer, cacheBytes func() int64) *metrics {
	auto := promauto.With(reg)
	frames := auto.NewCounterVec(prometheus.CounterOpts{
		Name: "walbridge_fetch_frames_total",
		Help: "Frames asked for: found in the cache (hit), being read already (joined), read from the store (miss).",
	}, []string{"result"})
	auto.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "walbridge_fetch_cache_bytes", Help: "Memory that cached frames take.",
	}, func() float64 { return float64(cacheBytes()) })
	return &metrics{
		hits:   frames.WithLabelValues("hit"),
		joins:  frames.WithLabelValues("joined"),
		misses: frames.WithLabelValues("miss"),
		loadingBytes: auto.NewGauge(prometheus.GaugeOpts{
			Name: "walbridge_fetch_loading_bytes", Help: "Bytes being read from the store.",
		}),
		readSeconds: auto.NewHistogramVec(prometheus.HistogramOpts{
			Name: "walbridge_fetch_read_seconds", Help: "Time to read one extent from the store.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .02, .04, .08, .15, .3, .6, 1, 2.5, 5},
		}, []string{"result"}),
	}
}

func (m *metrics) read(took time.Duration, err error) {
	result := "ok"
	if err != nil {
		result = "error"
	}
	m.readSeconds.WithLabelValues(result).Observe(took.Seconds())
}
