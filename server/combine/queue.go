package combine

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/walbridge/walbridge/server/frame"
)

// request is one copy on its way.
type request struct {
	ctx      context.Context
	sections []frame.Section
	entries  int // how many sections
	// size is what the sections add to a frame: their bytes and their part of the index.
	size int64
	due  time.Time // when it has lingered long enough
	// done is closed once result and err are set.
	done   chan struct{}
	result Result
	err    error
	// setback is why the last attempt failed, for the caller that leaves before there is another one.
	setback atomic.Pointer[error]
}

// queue holds the copies that no lane has taken yet, first come, first served.
type queue struct {
	full int64 // bytes of a full frame
	max  int
	// watching is held by the one lane that waits for copies; the next one first looks at what it left.
	watching chan struct{}
	// changed wakes that lane when there is a copy that is due first, enough for a full frame, or no more to come.
	changed chan struct{}
	drained chan struct{}

	mu      sync.Mutex
	waiting []*request
	bytes   int64 // of all waiting
	open    int   // accepted and not answered
	closed  bool
}

func newQueue(full int64, limit int) *queue {
	return &queue{
		full: full, max: limit,
		watching: make(chan struct{}, 1), changed: make(chan struct{}, 1), drained: make(chan struct{}),
	}
}

func (q *queue) put(r *request) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.closed:
		return ErrClosed
	case len(q.waiting) >= q.max:
		return ErrFull
	}
	first := len(q.waiting) == 0 || r.due.Before(q.due())
	q.waiting = append(q.waiting, r)
	q.bytes += r.size
	q.open++
	if first || q.bytes >= q.full {
		q.wake()
	}
	return nil
}

// remove forgets r, whose caller has left, unless a lane has taken it.
func (q *queue) remove(r *request) {
	q.mu.Lock()
	i := slices.Index(q.waiting, r)
	if i >= 0 {
		q.waiting = slices.Delete(q.waiting, i, i+1)
		q.bytes -= r.size
	}
	q.mu.Unlock()
	if i >= 0 {
		q.finish()
	}
}

// due is when the first of the waiting has lingered long enough. There must be one.
func (q *queue) due() time.Time {
	return slices.MinFunc(q.waiting, func(a, b *request) int { return a.due.Compare(b.due) }).due
}

// next returns the copies of the next frame, at least one. It waits for a copy until ctx ends, and from then on, for
// others to come, until one has lingered long enough or the frame is full.
func (q *queue) next(ctx context.Context) ([]*request, error) {
	select {
	case q.watching <- struct{}{}:
		defer func() { <-q.watching }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	for {
		batch, due := q.take(time.Now())
		if batch != nil {
			return batch, nil
		}
		var lingered <-chan time.Time
		if !due.IsZero() {
			lingered = time.After(time.Until(due))
		}
		select {
		case <-q.changed:
		case <-lingered:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// take returns the copies of the next frame, or else when one will have lingered long enough; the zero time where there
// is none.
func (q *queue) take(now time.Time) (batch []*request, due time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) == 0 {
		return nil, time.Time{}
	}
	due = q.due()
	if now.Before(due) && q.bytes < q.full && !q.closed {
		return nil, due
	}
	n, bytes := 1, q.waiting[0].size
	for n < len(q.waiting) && bytes+q.waiting[n].size <= q.full {
		bytes += q.waiting[n].size
		n++
	}
	batch = slices.Clone(q.waiting[:n])
	q.waiting = slices.Delete(q.waiting, 0, n)
	q.bytes -= bytes
	return batch, due
}

// finish notes that an accepted copy was answered.
func (q *queue) finish() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.open--
	if q.closed && q.open == 0 {
		close(q.drained)
	}
}

// close refuses further copies; those in the queue linger no longer.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return
	}
	q.closed = true
	q.wake()
	if q.open == 0 {
		close(q.drained)
	}
}

// abandon closes the queue and empties it.
func (q *queue) abandon() []*request {
	q.close()
	q.mu.Lock()
	defer q.mu.Unlock()
	left := q.waiting
	q.waiting, q.bytes = nil, 0
	return left
}

func (q *queue) queued() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.waiting)
}

func (q *queue) unanswered() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.open
}

func (q *queue) wake() {
	select {
	case q.changed <- struct{}{}:
	default:
	}
}
