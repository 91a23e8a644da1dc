package server

import (
	"fmt"
	"slices"
	"sync"
)

// inflight bounds the bytes of copies accepted and not yet answered. It never waits: who finds it full is told so at
// once, and has the data still. Room is shared fairly between connections: where it is full, a copy takes the place of
// one that is still coming in over the connection that holds the most that way, if that is more than its own. So one
// connection that announces much and sends nothing does not shut the others out.
type inflight struct {
	max int64

	mu  sync.Mutex
	now int64
	// incoming are the connections with copies that are coming in.
	incoming map[*connection]struct{}
}

// reservation is the room of one copy.
type reservation struct {
	bytes int64
	from  *connection
	// evict ends the copy whose place another one takes.
	evict func(error)
	// gone: the room was given back. arrived: the copy has come in, and nobody takes its place.
	gone, arrived bool
}

func newInflight(limit int64) *inflight {
	return &inflight{max: limit, incoming: map[*connection]struct{}{}}
}

// reserve makes room for n bytes that come in over from, or returns nil.
func (f *inflight) reserve(from *connection, n int64, evict func(error)) *reservation {
	f.mu.Lock()
	defer f.mu.Unlock()
	for f.now+n > f.max {
		victim := f.greediest()
		if victim == nil || victim == from || victim.incomingBytes <= from.incomingBytes+n {
			return nil
		}
		oldest := victim.incoming[0]
		f.leave(oldest)
		oldest.evict(fmt.Errorf("%w: the copy came in too slowly and another one took its place", errFull))
	}
	r := &reservation{bytes: n, from: from, evict: evict}
	f.now += n
	from.incoming = append(from.incoming, r)
	from.incomingBytes += n
	f.incoming[from] = struct{}{}
	return r
}

func (f *inflight) greediest() (most *connection) {
	for c := range f.incoming {
		if most == nil || c.incomingBytes > most.incomingBytes {
			most = c
		}
	}
	return most
}

// arrive keeps the place of a copy that has come in.
func (f *inflight) arrive(r *reservation) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.settle(r)
}

// release gives the room back. A nil r had none.
func (f *inflight) release(r *reservation) {
	if r == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.leave(r)
}

func (f *inflight) leave(r *reservation) {
	f.settle(r)
	if !r.gone {
		r.gone = true
		f.now -= r.bytes
	}
}

// settle takes r from those that are coming in.
func (f *inflight) settle(r *reservation) {
	if r.arrived {
		return
	}
	r.arrived = true
	c := r.from
	c.incoming = slices.DeleteFunc(c.incoming, func(o *reservation) bool { return o == r })
	if c.incomingBytes -= r.bytes; len(c.incoming) == 0 {
		delete(f.incoming, c)
	}
}

func (f *inflight) used() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.now
}

// InflightBytes is the length of the copies accepted and not yet answered.
func (s *Service) InflightBytes() int64 { return s.inflight.used() }
