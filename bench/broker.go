package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sync/errgroup"
)

// What the fixed rate is made of: at most 30 MB/s, the KIP's, and at most half of what the stock broker can do here.
const (
	kipRate      = 30e6
	warmRound    = 10 * time.Second
	rateBlock    = 4 * time.Second
	maximumBlock = 2 * time.Second
	idleBlock    = 5 * time.Second
)

// brokerGroup compares a broker that has the agent with a stock one, both alive, the load on one at a time.
func brokerGroup(ctx context.Context) ([]Row, error) {
	b, err := startBrokers(ctx)
	if err != nil {
		return nil, err
	}
	defer b.close()
	if err := errors.Join(b.chooseRate(ctx), b.warmUp(ctx), b.ended()); err != nil {
		return nil, err
	}
	var rows []Row
	for _, part := range []struct {
		names []string
		run   func(context.Context, *brokers) ([]Row, error)
	}{
		{[]string{"broker.produce_p99", "broker.cpu", "broker.wal_lag_p99"}, brokerRate},
		{[]string{"broker.idle_cpu"}, brokerIdle},
		{[]string{"broker.throughput_max"}, brokerMaximum},
	} {
		if !wanted(part.names...) {
			continue
		}
		got, err := part.run(ctx, b)
		if err != nil {
			return nil, errors.Join(err, b.ended())
		}
		rows = append(rows, got...)
	}
	return rows, nil
}

// chooseRate is before the warm-up, since a broker at its limit has its JVM compile what a steady rate does not need.
func (b *brokers) chooseRate(ctx context.Context) error {
	if _, err := b.stock.load.paced(ctx, kipRate, warmRound); err != nil {
		return err
	}
	maximum, err := b.stock.load.maximum(ctx, maximumBlock)
	if err != nil {
		return err
	}
	b.rate = min(kipRate, maximum/2)
	fmt.Fprintf(os.Stderr, "bench: broker: %.1f MB/s of at most %.0f MB/s\n", b.rate/1e6, maximum/1e6)
	return nil
}

// warmUp loads both at once until their JVMs compile next to nothing any more: a broker that runs for weeks does not
// either. It takes minutes: what is called once for each copy, less than a hundred times a second, is compiled for good
// after 5,000 to 15,000 calls.
func (b *brokers) warmUp(ctx context.Context) error {
	const atLeast, atMost, share = 14, 20, 0.02
	for round := range atMost {
		group, ctx := errgroup.WithContext(ctx)
		var warm [2]bool
		for i, s := range []*side{b.wal, b.stock} {
			group.Go(func() error {
				used, compiled, err := s.used(func() error {
					_, err := s.load.paced(ctx, b.rate, warmRound)
					return err
				})
				if err != nil {
					return fmt.Errorf("warm-up of the %s broker: %w", s.name, err)
				}
				warm[i] = compiled.Seconds() < share*used.Seconds()
				return nil
			})
		}
		if err := group.Wait(); err != nil {
			return err
		}
		if warm[0] && warm[1] && round >= atLeast {
			break
		}
	}
	return nil
}

// used is the CPU time that the broker and its compilers use during f.
func (s *side) used(f func() error) (all, compilers time.Duration, err error) {
	pid := s.broker.PID()
	before, err := cpuTime(pid)
	if err != nil {
		return 0, 0, err
	}
	compiledBefore, err := compilerTime(pid)
	if err != nil {
		return 0, 0, err
	}
	if err := f(); err != nil {
		return 0, 0, err
	}
	after, err := cpuTime(pid)
	if err != nil {
		return 0, 0, err
	}
	compiledAfter, err := compilerTime(pid)
	return after - before, compiledAfter - compiledBefore, err
}

// brokerRate produces at the same fixed rate to both.
func brokerRate(ctx context.Context, b *brokers) ([]Row, error) {
	var p99, cpu [2][]float64
	var lag []float64
	block := func(i int, s *side) func() error {
		return func() error {
			if _, err := b.lag.take(); err != nil {
				return err
			}
			var times, lags []float64
			used, _, err := s.used(func() (err error) {
				if times, err = s.load.paced(ctx, b.rate, rateBlock); err == nil {
					lags, err = b.lag.settled(ctx)
				}
				return err
			})
			if err != nil {
				return fmt.Errorf("%s broker: %w", s.name, err)
			}
			if s == b.wal {
				if len(lags) == 0 {
					return errors.New("nothing that the broker was sent came to the WAL")
				}
				lag = append(lag, quantile(lags, 0.99))
			}
			p99[i] = append(p99[i], quantile(times, 0.99))
			cpu[i] = append(cpu[i], used.Seconds()/(float64(len(times))*float64(len(s.load.batch))/1e9))
			return nil
		}
	}
	if err := interleave(minBlocks, block(0, b.wal), block(1, b.stock)); err != nil {
		return nil, err
	}
	latency := compare("broker.produce_p99", "ms", median(p99[0]), median(p99[1]), "<=", 1.1)
	latency.Want += " or within 1 ms"
	latency.OK = latency.OK || latency.Value <= *latency.Baseline+1
	return []Row{
		latency,
		compare("broker.cpu", "CPU-s/GB", median(cpu[0]), median(cpu[1]), "<=", 1.15),
		measure("broker.wal_lag_p99", "ms", median(lag), 30),
	}, nil
}

// brokerIdle measures both at the same time, since neither has anything to do.
func brokerIdle(ctx context.Context, b *brokers) ([]Row, error) {
	var percent [2][]float64
	for range minBlocks {
		var before [2]time.Duration
		began := time.Now()
		for i, s := range []*side{b.wal, b.stock} {
			var err error
			if before[i], err = cpuTime(s.broker.PID()); err != nil {
				return nil, err
			}
		}
		select {
		case <-time.After(idleBlock):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		for i, s := range []*side{b.wal, b.stock} {
			after, err := cpuTime(s.broker.PID())
			if err != nil {
				return nil, err
			}
			percent[i] = append(percent[i], 100*(after-before[i]).Seconds()/time.Since(began).Seconds())
		}
	}
	return []Row{
		compare("broker.idle_cpu", "% of a core", median(percent[0]), median(percent[1]), "<=", 1.1),
	}, nil
}

// brokerMaximum produces as fast as the brokers take it.
func brokerMaximum(ctx context.Context, b *brokers) ([]Row, error) {
	var mbps [2][]float64
	block := func(i int, s *side) func() error {
		return func() error {
			bytes, err := s.load.maximum(ctx, maximumBlock)
			mbps[i] = append(mbps[i], bytes/1e6)
			if err == nil {
				_, err = b.lag.settled(ctx) // What is still to be uploaded is not the stock broker's load.
			}
			return err
		}
	}
	if err := interleave(minBlocks, block(0, b.wal), block(1, b.stock)); err != nil {
		return nil, err
	}
	return []Row{report("broker.throughput_max", "MB/s", median(mbps[0]), median(mbps[1]))}, nil
}
