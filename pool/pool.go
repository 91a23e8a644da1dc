// Package pool keeps things ready that are slow to make: objects opened in every zone, before anyone needs them.
//
// A [LoadingQueue] is a FIFO queue that fills itself. It aims at a depth that follows from how fast it is drained and
// how long a load takes (sizing.go), so that it neither runs dry in a burst nor makes things only to throw them away.
package pool

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// ErrClosed is returned by Get when the queue's Run has ended.
var ErrClosed = errors.New("pool closed")

// Options say how a LoadingQueue works. The zero value of a field is its default.
type Options[T any] struct {
	// Load makes one item. Required. It is called by up to LoadConcurrency goroutines at once and must return soon
	// after its ctx ends.
	Load func(ctx context.Context) (T, error)
	// Discard gets rid of an item that will not be handed out, exactly once for each. Default: nothing to do. It must
	// return soon after its ctx ends; at most LoadConcurrency calls run at once.
	Discard func(ctx context.Context, item T)

	// MaxItemAge is the age, counted from the start of its load, beyond which an item is discarded rather than handed
	// out. Default 2 minutes.
	MaxItemAge time.Duration
	// LoadTimeout bounds one load. Default 5 seconds; at most MaxItemAge.
	LoadTimeout time.Duration
	// DiscardTimeout bounds one discard. Default 5 seconds.
	DiscardTimeout time.Duration
	// LoadConcurrency is the most loads that run at once. It bounds how fast the queue can be drained:
	// LoadConcurrency / the time of one load. Default 16.
	LoadConcurrency int
	// MinDepth is how many items stand ready in an idle queue: what a burst finds. Default 4.
	MinDepth int
	// MaxDepth is the most items that are ready or being loaded for a future Get. Default 256.
	MaxDepth int

	// Registerer gets the walbridge_pool_* metrics. Default: none.
	Registerer prometheus.Registerer
}

func (o Options[T]) withDefaults() Options[T] {
	def(&o.MaxItemAge, 2*time.Minute)
	def(&o.LoadTimeout, 5*time.Second)
	o.LoadTimeout = min(o.LoadTimeout, o.MaxItemAge)
	def(&o.DiscardTimeout, 5*time.Second)
	def(&o.LoadConcurrency, 16)
	def(&o.MinDepth, 4)
	def(&o.MaxDepth, 256)
	o.MaxDepth = max(o.MaxDepth, o.MinDepth)
	if o.Discard == nil {
		o.Discard = func(context.Context, T) {}
	}
	return o
}

func def[V int | time.Duration](v *V, d V) {
	if *v == 0 {
		*v = d
	}
}

// LoadingQueue is a FIFO queue that fills itself by calling Load. All methods are safe for concurrent use.
type LoadingQueue[T any] struct {
	opts Options[T]
	// kick wakes Run after a change that may call for more loads.
	kick       chan struct{}
	background sync.WaitGroup
	discarding chan struct{}
	metrics    *metrics

	mu sync.Mutex
	// ready are the items in the order in which they were loaded; empty while someone waits.
	ready   []item[T]
	waiters []*waiter[T]
	loading map[*load]struct{}
	drain   drain
	latency latency
	// failures counts failed loads since the last successful one; no load starts before retryAt.
	failures int
	retryAt  time.Time
	closed   bool
	stats    Stats
}

type item[T any] struct {
	value T
	born  time.Time
}

// waiter is one blocked Get. Its channel has room for the item, so that who delivers never blocks; it is closed when
// the queue is.
type waiter[T any] struct{ items chan T }

// New returns a queue that starts to fill when Run is called.
func New[T any](opts Options[T]) *LoadingQueue[T] {
	opts = opts.withDefaults()
	q := &LoadingQueue[T]{
		opts:       opts,
		kick:       make(chan struct{}, 1),
		discarding: make(chan struct{}, opts.LoadConcurrency),
		loading:    map[*load]struct{}{},
	}
	q.metrics = newMetrics(opts.Registerer, q.Stats)
	return q
}

// Get takes the oldest item, which is the caller's from now on, and waits for one where there is none. Those who wait
// are served in the order in which they came. It fails when ctx ends, with an error that wraps ctx's and that of the
// last load if that failed, and with ErrClosed once the queue's Run has ended.
func (q *LoadingQueue[T]) Get(ctx context.Context) (T, error) {
	start := time.Now()
	v, w, err := q.take(ctx, start)
	if w != nil {
		v, err = q.wait(ctx, w)
	}
	if err == nil {
		q.metrics.wait.Observe(time.Since(start).Seconds())
	}
	return v, err
}

// take returns an item, or else the waiter to wait for one.
func (q *LoadingQueue[T]) take(ctx context.Context, now time.Time) (v T, w *waiter[T], err error) {
	if err := ctx.Err(); err != nil {
		return v, nil, fmt.Errorf("pool: %w", err)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return v, nil, ErrClosed
	}
	defer q.wake()
	q.drain.add(now, q.latency.mean())
	q.discardAged(now)
	if len(q.ready) == 0 {
		w = &waiter[T]{items: make(chan T, 1)}
		q.waiters = append(q.waiters, w)
		return v, w, nil
	}
	v = q.ready[0].value
	q.ready = slices.Delete(q.ready, 0, 1)
	q.stats.HandedOut++
	return v, nil, nil
}

func (q *LoadingQueue[T]) wait(ctx context.Context, w *waiter[T]) (T, error) {
	select {
	case v, ok := <-w.items:
		if !ok {
			return v, ErrClosed
		}
		return v, nil
	case <-ctx.Done():
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if i := slices.Index(q.waiters, w); i >= 0 {
		q.waiters = slices.Delete(q.waiters, i, i+1)
		var none T
		if q.failures > 0 {
			return none, fmt.Errorf("pool: %w; last load: %w", ctx.Err(), q.stats.LastError)
		}
		return none, fmt.Errorf("pool: %w", ctx.Err())
	}
	// Served or closed at the very moment: an item is the caller's now.
	v, ok := <-w.items
	if !ok {
		return v, ErrClosed
	}
	return v, nil
}

func (q *LoadingQueue[T]) wake() {
	select {
	case q.kick <- struct{}{}:
	default:
	}
}
