package quorum

import (
	"context"
	"crypto/rand"
	"errors"
	"path"
	"sync"
	"time"

	"github.com/walbridge/walbridge/backends"
)

// Run tries broken zones every ProbeInterval and returns, after what it started, when ctx ends. Without it everything
// works but this: a broken zone is then tried with real writes, once ProbeInterval has passed.
func (b *Bucket) Run(ctx context.Context) error {
	var probers sync.WaitGroup
	for _, z := range b.zones {
		// One name per zone and process: a probe that was cut off leaves one object, which the next one deletes.
		name := path.Join(b.opts.ProbeDir, rand.Text())
		probers.Go(func() { z.probeWhenBroken(ctx, name) })
	}
	probers.Wait()
	return nil
}

// probeWhenBroken probes the zone whenever it is broken, until ctx ends.
func (z *zone) probeWhenBroken(ctx context.Context, name string) {
	for {
		wait, broken := z.probeDue()
		if !broken {
			select {
			case <-z.broke:
				continue
			case <-ctx.Done():
				return
			}
		}
		due := time.NewTimer(wait)
		select {
		case <-due.C:
			z.leaveAloneFrom(time.Now().Add(z.opts.ZoneTimeout + z.opts.Grace))
			_ = z.call(ctx, opWrite, "probe "+name, z.opts.ZoneTimeout, func(ctx context.Context) error {
				return probe(ctx, z.bucket, name)
			}) // The zone has taken note of the outcome.
			z.leaveAloneFrom(time.Now())
		case <-ctx.Done():
			due.Stop()
			return
		}
	}
}

// probeDue tells how long it is until the next probe, and whether there is need for one.
func (z *zone) probeDue() (time.Duration, bool) {
	z.mu.Lock()
	defer z.mu.Unlock()
	now, rule := time.Now(), z.opts.breakerRule()
	return z.breaker.due(now, rule), z.breaker.state(now, rule) != closed
}

// leaveAloneFrom has the zone, if it is broken, left alone for an interval from t on: real writes do not go where a
// probe is under way.
func (z *zone) leaveAloneFrom(t time.Time) {
	z.mu.Lock()
	defer z.mu.Unlock()
	z.breaker = z.breaker.leaveAloneFrom(t)
}

// probe writes a small object and deletes it. Less proves less: a zone that lists may be full or read-only, and some
// stores create an object only with its first bytes.
func probe(ctx context.Context, bucket backends.Bucket, name string) error {
	if _, err := bucket.Delete(ctx, []string{name}); err != nil {
		return err
	}
	w, err := bucket.Create(ctx, name)
	if err != nil {
		return err
	}
	p := []byte("probe")
	if err := errors.Join(w.Append(ctx, p, backends.Checksum(p)), w.Close(ctx)); err != nil {
		return err
	}
	_, err = bucket.Delete(ctx, []string{name})
	return err
}
