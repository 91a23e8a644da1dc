package main

import (
	"context"
	"encoding/binary"
	"errors"
	"sync"
	"time"

	"github.com/walbridge/walbridge/server/frame"
)

// lagProbe sees when a quorum of the zones holds a record batch of the probe's topic, and compares that with when the
// broker appended it, which LogAppendTime says in the batch itself. Times are in ms, rounded up by at most one.
type lagProbe struct {
	mu sync.Mutex
	// zones counts the zones that hold a frame, by its first byte: all are handed the same buffer.
	zones map[*byte]int
	lags  []float64
	last  time.Time
	err   error
}

// newLagProbe has the zones tell the probe what they hold.
func newLagProbe(zones []*discard) *lagProbe {
	p := &lagProbe{zones: map[*byte]int{}}
	for _, z := range zones {
		z.appended = func(_ string, b []byte, _ time.Duration) { p.appended(b, len(zones)) }
	}
	return p
}

func (p *lagProbe) appended(b []byte, zones int) {
	now := time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last = now
	p.zones[&b[0]]++
	switch p.zones[&b[0]] {
	case zones/2 + 1:
		p.err = errors.Join(p.err, p.durable(b, now))
	case zones:
		delete(p.zones, &b[0])
	}
}

func (p *lagProbe) durable(b []byte, now time.Time) error {
	if _, err := frame.DecodeHeader(b); err != nil {
		return nil // What the daemon writes when it starts is no frame.
	}
	f, err := frame.DecodeIndex(b)
	if err != nil {
		return err
	}
	f.Bytes = b
	for i, e := range f.Index.Entries {
		if e.Topic != probeTopic {
			continue
		}
		// A record batch: its length at 8, counted from 12, and its largest timestamp at 35.
		for batches := f.Entry(i); len(batches) > 0; batches = batches[12+binary.BigEndian.Uint32(batches[8:]):] {
			appended := time.UnixMilli(int64(binary.BigEndian.Uint64(batches[35:])))
			p.lags = append(p.lags, millis(now.Sub(appended)))
		}
	}
	return nil
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
