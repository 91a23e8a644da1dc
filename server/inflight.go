package server

import "sync/atomic"

// inflight bounds the bytes of copies accepted and not yet answered. It never waits: who finds it full is told so at
// once, and has the data still.
type inflight struct {
	max int64
	now atomic.Int64
}

func (f *inflight) reserve(n int64) bool {
	if f.now.Add(n) > f.max {
		f.now.Add(-n)
		return false
	}
	return true
}

func (f *inflight) release(n int64) { f.now.Add(-n) }

func (f *inflight) used() int64 { return f.now.Load() }

// InflightBytes is the length of the copies accepted and not yet answered.
func (s *Service) InflightBytes() int64 { return s.inflight.used() }
