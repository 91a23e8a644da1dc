package daemon

import (
	"context"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/walbridge/walbridge/server/combine"
)

// fixedBeats are one idle lane and one that the test decides.
type fixedBeats struct {
	second atomic.Pointer[combine.Heartbeat]
}

func (f *fixedBeats) Heartbeats() []combine.Heartbeat {
	return []combine.Heartbeat{{State: combine.Idle}, *f.second.Load()}
}

// Signs of life end when a lane is stuck, not when it is busy or idle, and come back with it.
func TestSignsOfLife(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var signs atomic.Int64
		opts := Options{Alive: func() { signs.Add(1) }, AlivePeriod: time.Second, Logger: slog.New(slog.DiscardHandler)}
		opts.Combine.FrameTimeout = 10 * time.Second
		lanes := &fixedBeats{}
		lanes.second.Store(&combine.Heartbeat{State: combine.Appending, Since: time.Now()})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			signsOfLife(ctx, lanes, opts)
		}()
		time.Sleep(15*time.Second + 500*time.Millisecond)
		if n := signs.Load(); n != 16 {
			t.Errorf("%d signs in 15 s of a busy lane, want 16", n)
		}
		time.Sleep(time.Minute)
		if n := signs.Load(); n != 16 {
			t.Errorf("%d signs while a lane is stuck", n-16)
		}
		lanes.second.Store(&combine.Heartbeat{State: combine.Idle, Since: time.Now()})
		time.Sleep(10 * time.Second)
		if n := signs.Load(); n != 26 {
			t.Errorf("%d signs in the 10 s after, want 10", n-16)
		}
		cancel()
		<-done
	})
}
