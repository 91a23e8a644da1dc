package main

import (
	"slices"
	"time"
)

// minBlocks is how many blocks of each side a comparison has at least.
const minBlocks = 7

// interleave runs a and b in blocks A B B A A B B A …, so that what drifts on the machine hits both alike.
func interleave(blocks int, a, b func() error) error {
	for i := range blocks {
		first, second := a, b
		if i%2 == 1 {
			first, second = b, a
		}
		if err := first(); err != nil {
			return err
		}
		if err := second(); err != nil {
			return err
		}
	}
	return nil
}

func median(v []float64) float64 { return quantile(v, 0.5) }

// quantile returns the q-quantile by the nearest rank.
func quantile(v []float64, q float64) float64 {
	if len(v) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(v))
	return s[min(int(q*float64(len(s))), len(s)-1)]
}

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
