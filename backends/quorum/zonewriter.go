package quorum

import (
	"context"

	"github.com/walbridge/walbridge/backends"
)

// zoneState is where a zone is with one writer's object.
type zoneState int

const (
	unasked   zoneState = iota
	opening             // the object is being opened
	ready               // it holds all frames so far and takes the next
	appending           // a frame is being appended
	gone                // it gets no more of the object
)

// zoneWriter is one zone's part in a writer: one goroutine that opens, appends and closes, in this order, and nothing
// else calls the store's Writer. Its fields are guarded by writer.mu.
type zoneWriter struct {
	w    *writer
	zone *zone

	state   zoneState
	running bool // the goroutine
	tasks   chan task
	// left tells why the zone left the object, and reason in one word. The first reason stays.
	left    error
	reason  string
	counted bool
}

// task is what the goroutine does next.
type task struct {
	op  *op
	p   []byte
	crc uint32
}

// do gives the zone its next task; the first is the opening and starts the goroutine. The caller holds mu.
func (zw *zoneWriter) do(t task) {
	if zw.state == ready {
		zw.state = appending
		zw.tasks <- t // There is room: the goroutine has taken the task before, or the zone would not be ready.
		return
	}
	zw.state = opening
	zw.tasks = make(chan task, 1)
	zw.running = true
	zw.w.running++
	zw.zone.running.run(func() { zw.run(t, zw.tasks) })
}

func (zw *zoneWriter) run(open task, tasks <-chan task) {
	defer zw.exit()
	store, err := zw.zone.bucket.Create(open.op.ctx, zw.w.name)
	open.op.end(err)
	if err != nil {
		return
	}
	for t := range tasks {
		t.op.end(store.Append(t.op.ctx, t.p, t.crc))
	}
	zw.close(store)
}

// close closes the store's Writer. Nobody waits for it, so it is late from the start.
func (zw *zoneWriter) close(store backends.Writer) {
	o, err := zw.zone.begin(context.Background(), opOpen, "close "+zw.w.name, 0, zw.zone.opts.ZoneTimeout,
		zw.zone.metrics.closed)
	if err != nil {
		zw.zone.metrics.closed(err)
		return
	}
	o.leave()
	o.end(store.Close(o.ctx))
}

// exit is the end of the goroutine.
func (zw *zoneWriter) exit() {
	w := zw.w
	w.mu.Lock()
	defer w.mu.Unlock()
	zw.running = false
	if w.running--; w.running == 0 {
		w.bucket.writers.remove(w)
	}
	w.wake()
}

// done takes note that the zone has done its task. The caller holds mu.
func (zw *zoneWriter) done() {
	if zw.state != gone {
		zw.state = ready
		zw.w.wake()
	}
}

// leave has the zone leave the object for good. The caller holds mu.
func (zw *zoneWriter) leave(reason string, err error) {
	if zw.left == nil {
		zw.left, zw.reason = err, reason
		if zw.w.opened {
			zw.count()
		}
	}
	zw.release()
}

// count counts the zone's copy as abandoned if the zone has left. The caller holds mu.
func (zw *zoneWriter) count() {
	if zw.left != nil && !zw.counted {
		zw.counted = true
		zw.zone.metrics.abandoned(zw.reason)
	}
}

// release lets the goroutine end when it is done with what it was given. The caller holds mu.
func (zw *zoneWriter) release() {
	if zw.state != gone && zw.tasks != nil {
		close(zw.tasks)
	}
	zw.state = gone
	zw.w.wake()
}

// busy tells if the zone is not done with what it was given, while it still takes part. The caller holds mu.
func (zw *zoneWriter) busy() bool { return zw.state == opening || zw.state == appending }

// quiet tells if no call of the zone's store is under way or to come before the next Append. The caller holds mu.
func (zw *zoneWriter) quiet() bool { return !zw.running || zw.state == ready }
