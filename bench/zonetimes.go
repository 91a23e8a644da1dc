package main

import (
	"fmt"
	"sync"
	"time"

	"github.com/walbridge/walbridge/server/frame"
)

// zoneTimes knows what the zones took for a copy. A timer of 5 ms fires some tenths of a millisecond late, now more and
// now less; that is not the daemon's time.
type zoneTimes struct {
	mu sync.Mutex
	of map[string][]time.Duration // by object, as the zones finished
}

// newZoneTimes has the zones tell how long each append took. Each object must get one append.
func newZoneTimes(zones []*discard) *zoneTimes {
	z := &zoneTimes{of: map[string][]time.Duration{}}
	for _, d := range zones {
		d.appended = func(object string, _ []byte, took time.Duration) {
			z.mu.Lock()
			defer z.mu.Unlock()
			z.of[object] = append(z.of[object], took)
		}
	}
	return z
}

// millis is how long the append took that made a copy durable: of three zones' the second.
func (z *zoneTimes) millis(extent []byte) (float64, error) {
	x, err := frame.ParseExtent(extent)
	if err != nil {
		return 0, err
	}
	object := x.Object.Name(clusterID)
	z.mu.Lock()
	defer z.mu.Unlock()
	if len(z.of[object]) < 2 {
		return 0, fmt.Errorf("object %s: answered after %d appends", object, len(z.of[object]))
	}
	return millis(z.of[object][1]), nil
}
