package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/walbridge/walbridge/server/frame"
)

// lagReport is what a daemon prints of each frame that a quorum of its zones holds.
type lagReport struct {
	Lags  []float64 // Of the probe's record batches in it.
	Error string    `json:",omitempty"`
}

// lagReporter sees when a quorum of the zones holds a record batch of the probe's topic, and compares that with when
// the broker appended it, which LogAppendTime says in the batch itself. Times are in ms, rounded up by at most one.
type lagReporter struct {
	mu sync.Mutex
	// zones counts the zones that hold a frame, by its first byte: all are handed the same buffer.
	zones map[*byte]int
	out   *json.Encoder
}

// printLags has the zones report, a line a frame.
func printLags(zones []*discard, out io.Writer) {
	r := &lagReporter{zones: map[*byte]int{}, out: json.NewEncoder(out)}
	for _, z := range zones {
		z.appended = func(_ string, b []byte, _ time.Duration) { r.appended(b, len(zones)) }
	}
}

func (r *lagReporter) appended(b []byte, zones int) {
	now := time.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.zones[&b[0]]++
	switch r.zones[&b[0]] {
	case zones/2 + 1:
		if _, err := frame.DecodeHeader(b); err != nil {
			return // What the daemon writes when it starts is no frame.
		}
		lags, err := lagsOf(b, now)
		report := lagReport{Lags: lags}
		if err != nil {
			report.Error = err.Error()
		}
		_ = r.out.Encode(report) // Whoever reads it sees that it ends.
	case zones:
		delete(r.zones, &b[0])
	}
}

func lagsOf(b []byte, now time.Time) ([]float64, error) {
	f, err := frame.DecodeIndex(b)
	if err != nil {
		return nil, err
	}
	f.Bytes = b
	var lags []float64
	for i, e := range f.Index.Entries {
		if e.Topic != probeTopic {
			continue
		}
		// A record batch: its length at 8, counted from 12, and its largest timestamp at 35.
		for batches := f.Entry(i); len(batches) > 0; batches = batches[12+binary.BigEndian.Uint32(batches[8:]):] {
			appended := time.UnixMilli(int64(binary.BigEndian.Uint64(batches[35:])))
			lags = append(lags, millis(now.Sub(appended)))
		}
	}
	return lags, nil
}

// lagProbe collects what a daemon reports.
type lagProbe struct {
	mu   sync.Mutex
	lags []float64
	last time.Time
	err  error
}

// newLagProbe reads reports until they end, as they do with the daemon.
func newLagProbe(reports *bufio.Scanner) *lagProbe {
	p := &lagProbe{}
	go func() {
		for reports.Scan() {
			p.reported(reports.Bytes())
		}
	}()
	return p
}

func (p *lagProbe) reported(line []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last = time.Now()
	var report lagReport
	switch err := json.Unmarshal(line, &report); {
	case err != nil:
		p.err = errors.Join(p.err, fmt.Errorf("the daemon prints %q: %w", line, err))
	case report.Error != "":
		p.err = errors.Join(p.err, errors.New(report.Error))
	}
	p.lags = append(p.lags, report.Lags...)
}

// take returns the lags since the last call.
func (p *lagProbe) take() ([]float64, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	lags, err := p.lags, p.err
	p.lags, p.err = nil, nil
	return lags, err
}

// settled waits until nothing has arrived for a moment, and takes. It fails if that takes longer than ten seconds.
func (p *lagProbe) settled(ctx context.Context) ([]float64, error) {
	const quiet, patience = 200 * time.Millisecond, 10 * time.Second
	began := time.Now()
	for {
		p.mu.Lock()
		since := min(time.Since(p.last), time.Since(began))
		p.mu.Unlock()
		switch {
		case since > quiet:
			return p.take()
		case time.Since(began) > patience:
			return nil, errors.New("the upload does not come to an end")
		}
		select {
		case <-time.After(quiet / 4):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}
