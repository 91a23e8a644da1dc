package combine

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/walbridge/walbridge/server/frame"
)

type metrics struct {
	frameBytes, frameCopies prometheus.Histogram
	appendSeconds           *prometheus.HistogramVec
	retries, failures       *prometheus.CounterVec
}

// newMetrics registers the package's metrics. A nil Registerer registers nothing.
func newMetrics(reg prometheus.Registerer, stats func() Stats) *metrics {
	auto := promauto.With(reg)
	gauge := func(name, help string, value func(Stats) int) {
		auto.NewGaugeFunc(prometheus.GaugeOpts{Name: "walbridge_combine_" + name, Help: help},
			func() float64 { return float64(value(stats())) })
	}
	gauge("lanes_busy", "Lanes that have a frame to write.", func(s Stats) int { return s.Busy })
	gauge("copies_queued", "Copies that wait for a lane.", func(s Stats) int { return s.Queued })
	return &metrics{
		frameBytes: auto.NewHistogram(prometheus.HistogramOpts{
			Name: "walbridge_combine_frame_bytes", Help: "Bytes of a durable frame.",
			Buckets: prometheus.ExponentialBuckets(1<<10, 4, 9),
		}),
		frameCopies: auto.NewHistogram(prometheus.HistogramOpts{
			Name: "walbridge_combine_frame_copies", Help: "Copies that shared a durable frame.",
			Buckets: prometheus.ExponentialBuckets(1, 2, 9),
		}),
		appendSeconds: auto.NewHistogramVec(prometheus.HistogramOpts{
			Name: "walbridge_combine_append_seconds", Help: "Time of one attempt to append a frame.",
			Buckets: []float64{.0005, .001, .002, .004, .006, .008, .01, .015, .02, .03, .05, .1, .25, .5, 1, 2.5, 5},
		}, []string{"result"}),
		retries: auto.NewCounterVec(prometheus.CounterOpts{
			Name: "walbridge_combine_retries_total", Help: "Attempts that failed and were followed by another, by why.",
		}, []string{"reason"}),
		failures: auto.NewCounterVec(prometheus.CounterOpts{
			Name: "walbridge_combine_frames_failed_total", Help: "Frames not known to be durable, by why.",
		}, []string{"reason"}),
	}
}

func (m *metrics) frame(f *frame.Frame, copies int) {
	m.frameBytes.Observe(float64(f.Size()))
	m.frameCopies.Observe(float64(copies))
}

func (m *metrics) append(took time.Duration, err error) {
	result := "ok"
	if err != nil {
		result = "error"
	}
	m.appendSeconds.WithLabelValues(result).Observe(took.Seconds())
}
