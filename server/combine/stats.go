package combine

import (
	"sync"
	"time"

	"github.com/walbridge/walbridge/server/frame"
)

// Stats tells how a Combiner is and what it did since it was made.
type Stats struct {
	// Lanes there are, Busy ones have a frame to write; Queued copies wait for a lane.
	Lanes, Busy, Queued int
	// Frames were made durable, with Bytes in all, for so many Copies. FailedFrames were not, as far as is known.
	Frames, Bytes, Copies, FailedFrames uint64
	// Retries counts attempts after the first.
	Retries uint64
}

// State is what a lane does.
type State int

// The states of a lane.
const (
	Idle       State = iota // waits for copies
	Encoding                // makes a frame of them
	Opening                 // waits for an open object
	Appending               // appends the frame
	BackingOff              // waits before the next attempt
)

func (s State) String() string {
	return [...]string{"idle", "encoding", "opening", "appending", "backing off"}[s]
}

// Heartbeat is what a lane does and since when. No state but Idle lasts longer than FrameTimeout: a lane that it does
// is stuck in a store that does not heed its context.
type Heartbeat struct {
	State State
	Since time.Time
}

// Heartbeats returns that of every lane.
func (c *Combiner) Heartbeats() []Heartbeat {
	beats := make([]Heartbeat, len(c.lanes))
	for i, l := range c.lanes {
		beats[i] = l.heartbeat()
	}
	return beats
}

// Stats returns the present state.
func (c *Combiner) Stats() Stats {
	s := c.totals.load()
	s.Lanes, s.Queued = len(c.lanes), c.queue.queued()
	for _, b := range c.Heartbeats() {
		if b.State != Idle {
			s.Busy++
		}
	}
	return s
}

// totals are the counts of Stats.
type totals struct {
	mu    sync.Mutex
	stats Stats
}

func (t *totals) written(f *frame.Frame, copies int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stats.Frames++
	t.stats.Bytes += uint64(f.Size())
	t.stats.Copies += uint64(copies)
}

func (t *totals) failed() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stats.FailedFrames++
}

func (t *totals) retried() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stats.Retries++
}

func (t *totals) load() Stats {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.stats
}
