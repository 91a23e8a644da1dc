package hostile

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"
)

// Options say how an attack is measured.
type Options struct {
	Target
	// PID is the daemon's.
	PID int
	// Window is the length of one calm and of one attacked stretch; there are Blocks of both, in turn.
	Window time.Duration
	Blocks int
}

// Result is what one attack did.
type Result struct {
	// Copies were made honestly, calm ones too; Failures of them failed.
	Copies   int    `json:"copies"`
	Failures int    `json:"failures"`
	Failure  string `json:"failure,omitempty"`
	// CalmP99 and AttackedP99 are the medians of the windows' 99th percentiles.
	CalmP99     float64 `json:"calm_p99_ms"`
	AttackedP99 float64 `json:"attacked_p99_ms"`
	// PeakRSS is the daemon's during the attack.
	PeakRSS int64 `json:"peak_rss_bytes"`
}

// Load of the honest broker: copies of so many bytes, one each period. A broker that sends 6 MB/s.
const (
	copyBytes  = 64 << 10
	copyPeriod = 10 * time.Millisecond
)

// Measure attacks the daemon while an honest broker copies over a connection that it had before. It fails where the
// attack found the daemon taking what is wrong.
func Measure(ctx context.Context, o Options, a Attack) (r Result, err error) {
	conn, err := o.dial()
	if err != nil {
		return r, err
	}
	defer conn.Close()
	honest := &load{o: o, conn: conn, body: make([]byte, copyBytes)}
	if _, err := honest.run(ctx, o.Window/4); err != nil { // Warms up, and is connected before the attack.
		return r, err
	}
	if err := resetPeak(o.PID); err != nil {
		return r, err
	}
	var calm, attacked []time.Duration
	for range o.Blocks {
		p99, err := honest.run(ctx, o.Window)
		if err != nil {
			return r, err
		}
		calm = append(calm, p99)
		attack, stop := context.WithCancel(ctx)
		done := make(chan error, 1)
		go func() { done <- a.Run(attack, o.Target) }()
		p99, err = honest.run(ctx, o.Window)
		stop()
		if err := errors.Join(err, <-done); err != nil {
			return r, fmt.Errorf("%s: %w", a.Name, err)
		}
		attacked = append(attacked, p99)
	}
	r = Result{
		Copies: honest.copies, Failures: honest.failures, CalmP99: median(calm), AttackedP99: median(attacked),
	}
	if honest.failure != nil {
		r.Failure = honest.failure.Error()
	}
	r.PeakRSS, err = peak(o.PID)
	return r, err
}

// load is an honest broker.
type load struct {
	o    Options
	conn *grpc.ClientConn
	body []byte

	mu               sync.Mutex
	took             []time.Duration
	copies, failures int
	failure          error
}

// run copies for as long as d and returns the 99th percentile of the copies' times.
func (l *load) run(ctx context.Context, d time.Duration) (p99 time.Duration, err error) {
	l.took = nil
	var all sync.WaitGroup
	tick := time.NewTicker(copyPeriod)
	defer tick.Stop()
	for end := time.Now().Add(d); time.Now().Before(end); {
		select {
		case <-tick.C:
			all.Go(func() { l.copy(ctx) })
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
	all.Wait()
	if len(l.took) == 0 {
		return 0, fmt.Errorf("no honest copy in %v: %w", d, l.failure)
	}
	slices.Sort(l.took)
	return l.took[len(l.took)*99/100], nil
}

func (l *load) copy(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	began := time.Now()
	err := HonestCopy(ctx, l.conn, l.o.Cluster, l.o.Broker, l.body)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.copies++
	if err != nil {
		l.failures++
		l.failure = err
		return
	}
	l.took = append(l.took, time.Since(began))
}

func median(d []time.Duration) (ms float64) {
	slices.Sort(d)
	return float64(d[len(d)/2].Microseconds()) / 1000
}

// resetPeak has the kernel forget a process's peak; see proc(5), clear_refs.
func resetPeak(pid int) error {
	return os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte("5"), 0)
}

// peak is the most memory that the process had resident.
func peak(pid int) (bytes int64, err error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kib, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 10, 64)
			return kib << 10, err
		}
	}
	return 0, errors.New("the kernel does not tell VmHWM")
}
