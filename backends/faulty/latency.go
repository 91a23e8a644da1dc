package faulty

import (
	"math"
	"math/rand/v2"
	"time"
)

// Latency draws how long an operation takes. It is called under the Plan's lock: it draws and returns.
type Latency func(*rand.Rand) time.Duration

// Constant is d, always.
func Constant(d time.Duration) Latency {
	return func(*rand.Rand) time.Duration { return d }
}

// Uniform is anything from least to most, most included.
func Uniform(least, most time.Duration) Latency {
	return func(r *rand.Rand) time.Duration { return least + time.Duration(r.Int64N(int64(most-least)+1)) }
}

// Exponential has a mean, no minimum, and a tail: one in a hundred takes 4.6 times the mean.
func Exponential(mean time.Duration) Latency {
	return func(r *rand.Rand) time.Duration { return time.Duration(r.ExpFloat64() * float64(mean)) }
}

// LogNormal is what object stores look like, given by the two numbers that they are described with: half take longer
// than median, and one in a hundred takes longer than p99.
func LogNormal(median, p99 time.Duration) Latency {
	const z99 = 2.3263478740408408 // the standard normal distribution's 99th percentile
	sigma := math.Log(float64(p99)/float64(median)) / z99
	return func(r *rand.Rand) time.Duration {
		return time.Duration(float64(median) * math.Exp(sigma*r.NormFloat64()))
	}
}
