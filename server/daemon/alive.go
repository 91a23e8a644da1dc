package daemon

import (
	"context"
	"time"

	"github.com/walbridge/walbridge/server/combine"
)

// stuckAfter is how much longer than a frame may take a lane may be at it before it is stuck: in a store that does not
// heed its context, which only a restart cures.
const stuckAfter = 5 * time.Second

// beats are the lanes' heartbeats; a *combine.Combiner.
type beats interface {
	Heartbeats() []combine.Heartbeat
}

// signsOfLife calls opts.Alive every opts.AlivePeriod while no lane is stuck, until ctx ends.
func signsOfLife(ctx context.Context, lanes beats, opts Options) {
	limit := opts.Combine.FrameTimeout + stuckAfter
	tick := time.NewTicker(opts.AlivePeriod)
	defer tick.Stop()
	wasStuck := false
	for {
		lane, beat, stuck := firstStuck(lanes.Heartbeats(), limit, time.Now())
		if stuck && !wasStuck {
			opts.Logger.Error("a lane is stuck; no more signs of life", "lane", lane, "state", beat.State.String(),
				"since", beat.Since)
		}
		if wasStuck = stuck; !stuck {
			opts.Alive()
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// firstStuck returns the first lane that has been at one thing for longer than limit, if there is one.
func firstStuck(all []combine.Heartbeat, limit time.Duration, now time.Time) (lane int, b combine.Heartbeat, stuck bool) {
	for i, b := range all {
		if b.State != combine.Idle && now.Sub(b.Since) > limit {
			return i, b, true
		}
	}
	return 0, combine.Heartbeat{}, false
}
