package daemon

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/walbridge/walbridge/server/combine"
)

type fixedBeats struct{ all []combine.Heartbeat }

func (f *fixedBeats) Heartbeats() []combine.Heartbeat { return f.all }

// Signs of life end when a lane is stuck, not when it is busy or idle, and come back with it.
func TestSignsOfLife(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		signs := 0
		opts := Options{Alive: func() { signs++ }, AlivePeriod: time.Second, Logger: slog.New(slog.DiscardHandler)}
		opts.Combine.FrameTimeout = 10 * time.Second
		lanes := &fixedBeats{all: []combine.Heartbeat{{State: combine.Idle, Since: time.Now()}, {State: combine.Appending, Since: time.Now()}}}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			signsOfLife(ctx, lanes, opts)
		}()
		time.Sleep(15*time.Second + 500*time.Millisecond)
		if signs != 16 {
			t.Errorf("%d signs in 15 s of a busy lane, want 16", signs)
		}
		time.Sleep(time.Minute)
		if signs != 16 {
			t.Errorf("%d signs while a lane is stuck", signs-16)
		}
		lanes.all[1] = combine.Heartbeat{State: combine.Idle, Since: time.Now()}
		time.Sleep(10 * time.Second)
		if signs != 26 {
			t.Errorf("%d signs in the 10 s after, want 10", signs-16)
		}
		cancel()
		<-done
	})
}
