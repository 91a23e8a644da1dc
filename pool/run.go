package pool

import (
	"context"
	"math/rand/v2"
	"time"
)

// load is one call of Load.
type load struct {
	started time.Time
	// failures is the queue's count at the start, so that loads which fail together count once.
	failures int
}

// Run keeps the queue filled until ctx ends. Then it fails every Get with ErrClosed, discards what it holds, also items
// whose load ends only now, and returns when nothing of it runs any more. It is called once.
func (q *LoadingQueue[T]) Run(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for ctx.Err() == nil {
		timer.Reset(time.Until(q.step(ctx, time.Now())))
		select {
		case <-ctx.Done():
		case <-q.kick:
		case <-timer.C:
		}
	}
	q.close()
	q.background.Wait()
}

// step discards what is too old, starts the loads that are wanted, and returns when to look again at the latest.
func (q *LoadingQueue[T]) step(ctx context.Context, now time.Time) (next time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.discardAged(now)
	next = now.Add(q.opts.MaxItemAge)
	expected := 0
	// count counts what there will be for the next Gets until it ends, and looks again then.
	count := func(end time.Time) {
		if now.Before(end) {
			expected++
			next = earlier(next, end)
		}
	}
	for _, i := range q.ready {
		next = earlier(next, i.born.Add(q.opts.MaxItemAge))
		// One near its end is replaced ahead, or a queue filled at once would be empty at once.
		count(i.born.Add(q.opts.MaxItemAge - q.latency.ahead(q.opts.MaxItemAge)))
	}
	for l := range q.loading {
		// One that takes much longer than usual may hang: another one takes its place.
		count(l.started.Add(q.latency.patience()))
	}
	for want := q.target(now) + len(q.waiters); expected < want && len(q.loading) < q.opts.LoadConcurrency; expected++ {
		if now.Before(q.retryAt) {
			return earlier(next, q.retryAt)
		}
		if q.failures > 0 {
			q.retryAt = now.Add(backoff(q.failures, rand.Float64()))
		}
		l := &load{started: now, failures: q.failures}
		q.loading[l] = struct{}{}
		q.background.Go(func() { q.load(ctx, l) })
		next = earlier(next, now.Add(q.latency.patience()))
	}
	return next
}

func (q *LoadingQueue[T]) load(ctx context.Context, l *load) {
	loadCtx, cancel := context.WithTimeout(ctx, q.opts.LoadTimeout)
	defer cancel()
	v, err := q.opts.Load(loadCtx)

	q.mu.Lock()
	defer q.mu.Unlock()
	defer q.wake()
	delete(q.loading, l)
	now := time.Now()
	if err != nil {
		if ctx.Err() == nil { // Otherwise it failed because the queue closes.
			q.failed(l, err, now)
		}
		return
	}
	q.stats.Loaded++
	q.latency.add(now.Sub(l.started))
	q.metrics.load.Observe(now.Sub(l.started).Seconds())
	q.failures, q.retryAt = 0, time.Time{}
	switch i := (item[T]{v, l.started}); {
	case q.closed:
		q.discard(v, &q.stats.DiscardedClosed)
	case q.aged(i, now):
		q.discard(v, &q.stats.DiscardedAged)
	case len(q.waiters) > 0:
		q.waiters[0].items <- v
		q.waiters = q.waiters[1:]
		q.stats.HandedOut++
	default:
		q.ready = append(q.ready, i)
	}
}

func (q *LoadingQueue[T]) failed(l *load, err error, now time.Time) {
	q.stats.LoadErrors++
	q.stats.LastError, q.stats.LastErrorTime = err, now
	if l.failures < q.failures {
		return
	}
	q.failures++
	q.retryAt = now.Add(backoff(q.failures, rand.Float64()))
}

func (q *LoadingQueue[T]) aged(i item[T], now time.Time) bool {
	return now.Sub(i.born) >= q.opts.MaxItemAge
}

// discardAged takes out of ready what is too old. Loads end in any order, so that it may lie anywhere.
func (q *LoadingQueue[T]) discardAged(now time.Time) {
	kept := q.ready[:0]
	for _, i := range q.ready {
		if q.aged(i, now) {
			q.discard(i.value, &q.stats.DiscardedAged)
		} else {
			kept = append(kept, i)
		}
	}
	clear(q.ready[len(kept):])
	q.ready = kept
}

// discard gets rid of v in the background, also while the queue closes.
func (q *LoadingQueue[T]) discard(v T, counter *uint64) {
	*counter++
	q.background.Go(func() {
		q.discarding <- struct{}{}
		defer func() { <-q.discarding }()
		ctx, cancel := context.WithTimeout(context.Background(), q.opts.DiscardTimeout)
		defer cancel()
		q.opts.Discard(ctx, v)
	})
}

func (q *LoadingQueue[T]) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	for _, w := range q.waiters {
		close(w.items)
	}
	for _, i := range q.ready {
		q.discard(i.value, &q.stats.DiscardedClosed)
	}
	q.waiters, q.ready = nil, nil
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
