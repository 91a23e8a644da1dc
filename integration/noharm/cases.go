package noharm

import (
	"context"
	"fmt"
	"time"
)

// Case is one thing that must do no harm, or must work while the broker runs.
type Case struct {
	Name string
	Run  func(context.Context, *Rig) error
}

// Cases are all there are, in the order that they need: each leaves the daemon reachable and the upload on.
var Cases = append(append([]Case{}, conditions...), operations...)

// records is how many a case produces.
const records = 6_000

// conditions are what may become of a daemon.
var conditions = []Case{
	{"healthy", func(ctx context.Context, r *Rig) error { return r.serves(ctx, records) }},
	{"down", func(ctx context.Context, r *Rig) error {
		r.target.Down()
		return r.storesNothing(ctx)
	}},
	{"mute", with(mute())},
	{"hung", with(answering(hung))},
	{"full", with(answering(full))},
	{"noise", with(noise())},
	{"rubbish", with(answering(rubbish))},
	{"fields_missing", with(answering(empty))},
	{"old_version", with(unimplemented())},
	{"slow", slowly},
	{"restarted", restarted},
	{"caught_up", caughtUp},
}

// with is the case of a daemon that stores nothing.
func with(s server) func(context.Context, *Rig) error {
	return func(ctx context.Context, r *Rig) error {
		if err := r.target.Serve(s); err != nil {
			return err
		}
		return r.storesNothing(ctx)
	}
}

// storesNothing has the broker serve without a daemon to speak of, and wants none of it to count as stored.
func (r *Rig) storesNothing(ctx context.Context) error {
	before, err := r.jmx(ctx)
	if err != nil {
		return err
	}
	if err := r.serves(ctx, records); err != nil {
		return err
	}
	after, err := r.jmx(ctx)
	if err != nil {
		return err
	}
	if after.Records != before.Records {
		return fmt.Errorf("%d records count as stored", after.Records-before.Records)
	}
	return nil
}

// slowly has every answer of the daemon come late; some are in time all the same.
func slowly(ctx context.Context, r *Rig) error {
	r.target.Down()
	before, err := r.jmx(ctx)
	if err != nil {
		return err
	}
	if err := r.target.Serve(relay(r.daemon.Socket(), 300*time.Millisecond)); err != nil {
		return err
	}
	if err := r.serves(ctx, records); err != nil {
		return err
	}
	return r.metric(ctx, "records-total", func(now float64) bool { return now > float64(before.Records) })
}

// restarted has the daemon stopped, killed and started while records are produced.
func restarted(ctx context.Context, r *Rig) error {
	if err := r.healthy(); err != nil {
		return err
	}
	served := make(chan error, 1)
	go func() { served <- r.serves(ctx, 3*records) }()
	err := func() error {
		for range 2 {
			if err := r.daemon.Stop(ctx); err != nil {
				return err
			}
			if err := r.daemon.Start(ctx); err != nil {
				return err
			}
			r.daemon.Kill()
			if err := r.daemon.Start(ctx); err != nil {
				return err
			}
		}
		return nil
	}()
	if served := <-served; served != nil {
		return served
	}
	return err
}

// caughtUp wants everything that the cases before have produced to a single replica in the WAL, and the replicated
// partitions without a lag.
func caughtUp(ctx context.Context, r *Rig) error {
	if err := r.caughtUp(ctx, single); err != nil {
		return err
	}
	return r.metric(ctx, "lag-records", is(0))
}
