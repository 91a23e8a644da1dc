package main

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/walbridge/walbridge/integration/load"
)

// produce runs the load, loses a zone at a third of it and, if asked to, kills the daemon at half of it. Any record
// that the broker does not take is an error.
func produce(ctx context.Context, s *system, opts options, p *progress) error {
	var acked atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		return load.Run(ctx, load.Config{
			Brokers:    s.cluster.Addresses(),
			Partitions: s.partitions,
			Records:    opts.records,
			Seed:       opts.seed,
			Acked:      func() { acked.Add(1) },
		})
	})
	group.Go(func() error {
		await := func(records int) error { return awaitRecords(ctx, &acked, records, opts.records, p) }
		if err := await(opts.records / 3); err != nil {
			return err
		}
		lost := zones[len(zones)-1]
		if err := s.loseZone(lost); err != nil {
			return err
		}
		p.done("lost %s after %d records", lost, acked.Load())
		if err := await(opts.records / 2); err != nil {
			return err
		}
		if opts.killDaemon {
			if err := killDaemon(ctx, s, &acked, int64(opts.records), p); err != nil {
				return err
			}
		}
		return await(opts.records)
	})
	if err := group.Wait(); err != nil {
		return err
	}
	p.done("the broker took all %d records, over %d partitions", opts.records, len(s.partitions))
	return nil
}

// awaitRecords waits until so many records are acknowledged.
func awaitRecords(ctx context.Context, acked *atomic.Int64, records, all int, p *progress) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		n := acked.Load()
		if n >= int64(records) {
			return nil
		}
		p.now("producing: %d of %d records", n, all)
		select {
		case <-tick.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// killDaemon kills the daemon and starts it again when the broker has taken more records without it.
func killDaemon(ctx context.Context, s *system, acked *atomic.Int64, all int64, p *progress) error {
	s.daemon.Kill()
	killed := acked.Load()
	if killed >= all {
		return errors.New("the load was over before the daemon was killed: it takes more --records")
	}
	p.done("killed the daemon after %d records", killed)
	if err := awaitRecords(ctx, acked, int(min(all, killed+all/10)), int(all), p); err != nil {
		return fmt.Errorf("without the daemon: %w", err)
	}
	if err := s.daemon.Start(ctx); err != nil {
		return err
	}
	p.done("the daemon serves again, after %d records", acked.Load())
	return nil
}
