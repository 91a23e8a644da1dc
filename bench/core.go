package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/walbridge/walbridge/pool"
	walbridgev1 "github.com/walbridge/walbridge/proto/walbridge/v1"
)

const copyBytes = 300 << 10

// core measures the heart of the daemon on zones that keep nothing.
func core(ctx context.Context) ([]Row, error) {
	var rows []Row
	for _, part := range []struct {
		names []string
		run   func(context.Context) ([]Row, error)
	}{
		{[]string{"core.copy_throughput"}, coreThroughput},
		{[]string{"core.copy_added_p50", "core.copy_added_p99"}, coreAdded},
		{[]string{"core.pool_wait_p99", "core.pool_churn"}, corePool},
		{[]string{"core.slow_zone"}, coreSlowZone},
		{[]string{"core.requests"}, coreRequests},
		{[]string{"core.rss"}, coreRSS},
	} {
		if !wanted(part.names...) {
			continue
		}
		got, err := part.run(ctx)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", strings.Join(part.names, ", "), err)
		}
		rows = append(rows, got...)
	}
	return rows, nil
}

func threeZones(create, appending time.Duration) []*discard {
	return []*discard{
		{create: create, append: appending}, {create: create, append: appending}, {create: create, append: appending},
	}
}

// coreThroughput keeps 32 copies of 300 KiB in flight, against a bare stream of the same bytes.
func coreThroughput(ctx context.Context) ([]Row, error) {
	product, err := startStack(threeZones(0, 0), 0)
	if err != nil {
		return nil, err
	}
	baseline, err := startDrop()
	if err != nil {
		return nil, err
	}
	p, err := newPayload(copyBytes, 30)
	if err != nil {
		return nil, err
	}
	var mbps [2][]float64
	block := func(i int, s *stack) func() error {
		return func() error {
			v, err := throughput(ctx, s, p, time.Second)
			mbps[i] = append(mbps[i], v)
			return err
		}
	}
	for _, s := range []*stack{product, baseline} { // Warm up both.
		if _, err := throughput(ctx, s, p, time.Second/2); err != nil {
			return nil, err
		}
	}
	if err := interleave(minBlocks, block(0, product), block(1, baseline)); err != nil {
		return nil, err
	}
	err = errors.Join(product.stop(), baseline.stop())
	return []Row{compare("core.copy_throughput", "MB/s", median(mbps[0]), median(mbps[1]), ">=", 0.8)}, err
}

func throughput(ctx context.Context, s *stack, p payload, d time.Duration) (mbps float64, err error) {
	const inflight = 32
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var bytes atomic.Int64
	var failed atomic.Pointer[error]
	var group sync.WaitGroup
	start := time.Now()
	for range inflight {
		group.Go(func() {
			for time.Since(start) < d {
				if err := s.copy(ctx, p); err != nil {
					failed.Store(&err)
					return
				}
				bytes.Add(int64(p.bytes))
			}
		})
	}
	group.Wait()
	if e := failed.Load(); e != nil {
		return 0, *e
	}
	return float64(bytes.Load()) / 1e6 / time.Since(start).Seconds(), nil
}

// paced starts rate copies a second, whatever becomes of the earlier ones, and returns each one's time.
func paced(ctx context.Context, s *stack, p payload, rate int, d time.Duration) ([]float64, error) {
	answers, err := pacedAnswers(ctx, s, p, rate, d)
	times := make([]float64, len(answers))
	for i, a := range answers {
		times[i] = a.millis
	}
	return times, err
}

// answer is what a copy got, and after how long.
type answer struct {
	*walbridgev1.CopyLogSegmentDataResponse
	millis float64
}

func pacedAnswers(ctx context.Context, s *stack, p payload, rate int, d time.Duration) ([]answer, error) {
	n := int(d.Seconds() * float64(rate))
	answers := make([]answer, n)
	errs := make([]error, n)
	var group sync.WaitGroup
	start := time.Now()
	for i := range n {
		due := start.Add(time.Duration(i) * time.Second / time.Duration(rate))
		time.Sleep(time.Until(due))
		group.Go(func() {
			// From when it is sent: that a timer of this program fires late is not the daemon's time.
			sent := time.Now()
			answers[i].CopyLogSegmentDataResponse, errs[i] = s.copyEncoded(ctx, p)
			answers[i].millis = millis(time.Since(sent))
		})
	}
	group.Wait()
	return answers, errors.Join(errs...)
}

// coreAdded measures what the daemon adds to an append that takes 5 ms.
func coreAdded(ctx context.Context) ([]Row, error) {
	const appending = 5 * time.Millisecond
	zones := threeZones(appending, appending)
	z := newZoneTimes(zones)
	s, err := startStack(zones, 0)
	if err != nil {
		return nil, err
	}
	p, err := newPayload(copyBytes, 30)
	if err != nil {
		return nil, err
	}
	if _, err := paced(ctx, s, p, 100, 2*time.Second); err != nil { // Warm up.
		return nil, err
	}
	var p50, p99, zone []float64
	for range minBlocks {
		answers, err := pacedAnswers(ctx, s, p, 100, 4*time.Second)
		if err != nil {
			return nil, err
		}
		appends := make([]float64, len(answers))
		added := make([]float64, len(answers))
		for i, a := range answers {
			if appends[i], err = z.millis(a.GetExtent()); err != nil {
				return nil, err
			}
			added[i] = a.millis - appends[i]
		}
		p50, p99, zone = append(p50, quantile(added, 0.5)), append(p99, quantile(added, 0.99)), append(zone, median(appends))
	}
	fmt.Fprintf(os.Stderr, "bench: core.copy_added: the appends took %.2f ms\n", median(zone))
	return []Row{
		measure("core.copy_added_p50", "ms", median(p50), 1),
		measure("core.copy_added_p99", "ms", median(p99), 3),
	}, s.stop()
}

// corePool drains a pool of objects that take 80 ms to open, 100 times a second.
func corePool(ctx context.Context) ([]Row, error) {
	const rate, opening = 100, 80 * time.Millisecond
	q := pool.New(pool.Options[int]{Load: func(ctx context.Context) (int, error) {
		select {
		case <-time.After(opening):
			return 0, nil
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}})
	running, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		q.Run(running)
	}()
	drain := func(n int) ([]float64, error) {
		waits := make([]float64, n)
		start := time.Now()
		for i := range n {
			time.Sleep(time.Until(start.Add(time.Duration(i) * time.Second / rate)))
			asked := time.Now()
			if _, err := q.Get(ctx); err != nil {
				return nil, err
			}
			waits[i] = millis(time.Since(asked))
		}
		return waits, nil
	}
	if _, err := drain(3 * rate); err != nil { // Warm up.
		return nil, err
	}
	waits, err := drain(20 * rate)
	if err != nil {
		return nil, err
	}
	stats := q.Stats()
	cancel()
	<-done
	return []Row{
		measure("core.pool_wait_p99", "ms", quantile(waits, 0.99), 1),
		measure("core.pool_churn", "created/used", float64(stats.Loaded)/float64(stats.HandedOut), 1.2),
	}, nil
}

// coreSlowZone compares the p99 while one of three zones answers nothing with that of three healthy ones.
func coreSlowZone(ctx context.Context) ([]Row, error) {
	const appending = 5 * time.Millisecond
	var hang atomic.Bool
	zones := threeZones(appending, appending)
	zones[2].hang = &hang
	s, err := startStack(zones, 0)
	if err != nil {
		return nil, err
	}
	p, err := newPayload(copyBytes, 30)
	if err != nil {
		return nil, err
	}
	if _, err := paced(ctx, s, p, 100, 2*time.Second); err != nil {
		return nil, err
	}
	var p99 [2][]float64
	block := func(i int, hanging bool) func() error {
		return func() error {
			hang.Store(hanging)
			if !hanging {
				// Let the probe bring the zone back, so that the baseline is three healthy zones.
				time.Sleep(2500 * time.Millisecond)
			}
			times, err := paced(ctx, s, p, 100, 4*time.Second)
			p99[i] = append(p99[i], quantile(times, 0.99))
			return err
		}
	}
	if err := interleave(minBlocks, block(0, true), block(1, false)); err != nil {
		return nil, err
	}
	return []Row{compare("core.slow_zone", "ms", median(p99[0]), median(p99[1]), "<=", 1.5)}, s.stop()
}

// coreRequests compares the appends a second at 10,000 partitions with those at 10, for the same bytes a second.
func coreRequests(ctx context.Context) ([]Row, error) {
	count := func(partitions int, counts *[]float64) func() error {
		return func() error {
			zones := threeZones(time.Millisecond, 2*time.Millisecond)
			p, err := newPayload(copyBytes, min(partitions, 1000))
			if err != nil {
				return err
			}
			s, err := startStack(zones, 10*time.Millisecond)
			if err != nil {
				return err
			}
			// The agent sends what is queued: at 10 partitions a copy has them all, at 10,000 a part of them.
			if _, err := paced(ctx, s, p, 100, 3*time.Second); err != nil {
				return err
			}
			total := int64(0)
			for _, z := range zones {
				total += z.appends.Load()
			}
			*counts = append(*counts, float64(total)/3)
			return s.stop()
		}
	}
	var many, few []float64
	if err := interleave(minBlocks, count(10000, &many), count(10, &few)); err != nil {
		return nil, err
	}
	return []Row{compare("core.requests", "1/s", median(many), median(few), "<=", 1.05)}, nil
}

// coreRSS measures the peak of a daemon process over 60 s at 30 MB/s.
func coreRSS(ctx context.Context) ([]Row, error) {
	d, err := startDaemon(ctx, daemonSettings{
		Cluster: clusterID, Create: time.Millisecond, Append: 2 * time.Millisecond, Linger: 10 * time.Millisecond,
	})
	if err != nil {
		return nil, err
	}
	p, err := newPayload(copyBytes, 1000)
	if err != nil {
		return nil, err
	}
	times, err := paced(ctx, d.stack, p, 100, time.Minute)
	if err != nil {
		return nil, err
	}
	peak, err := peakRSS(d.process.Process.Pid)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(os.Stderr, "bench: core.rss: %d copies, p99 %.1f ms\n", len(times), quantile(slices.Clone(times), 0.99))
	return []Row{measure("core.rss", "MiB", peak, 256)}, d.stop()
}

// peakRSS is the most memory, in MiB, that the process ever had resident.
func peakRSS(pid int) (float64, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(b)) {
		var kib float64
		if n, _ := fmt.Sscanf(line, "VmHWM: %f kB", &kib); n == 1 {
			return kib / 1024, nil
		}
	}
	return 0, errors.New("no VmHWM: this figure needs Linux")
}
