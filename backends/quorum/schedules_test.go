package quorum

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/walbridge/walbridge/backends"
	"github.com/walbridge/walbridge/backends/faulty"
	"github.com/walbridge/walbridge/backends/mem"
)

// TestSchedules runs thousands of short lives of a quorum, each with its own zones, options, latencies, faults, outages
// and writers, and checks what must hold in all of them:
//
//   - an append that was acknowledged is, byte by byte and at its position, in W zones at least, so in one of any
//     N-W+1, and is read from those;
//   - a zone holds the frames of an object in order from the first one on, without a gap, up to where it left;
//   - a zone that has failed an append is asked for nothing more of the object but to close it, once;
//   - the frames acknowledged had W successful appends at that moment;
//   - nobody waits longer than the timeouts allow, and nothing is left running.
func TestSchedules(t *testing.T) {
	seed, schedules := testSeed(t), uint64(2000)
	if testing.Short() {
		schedules = 300
	}
	var total outcomes
	for i := range schedules {
		synctest.Test(t, func(t *testing.T) {
			s := newSchedule(t, rand.New(rand.NewPCG(seed, i)))
			s.run()
			s.check()
			total.acked += s.acked
			total.refused += s.refused
		})
		if t.Failed() {
			t.Fatalf("schedule %d of seed %d", i, seed)
		}
	}
	t.Logf("%d appends acknowledged, %d not", total.acked, total.refused)
	if total.acked < int(schedules) || total.refused < int(schedules)/10 {
		t.Errorf("%d appends acknowledged, %d not: the test shows nothing", total.acked, total.refused)
	}
}

type outcomes struct{ acked, refused int }

// schedule is one life.
type schedule struct {
	t      *testing.T
	r      *rand.Rand
	opts   Options
	quorum int
	real   []*mem.Bucket
	plans  []*faulty.Plan
	audits []*audit
	bucket *Bucket

	registry *prometheus.Registry
	mu       sync.Mutex
	objects  map[string]*object
	outcomes
}

// object is what was asked of one name.
type object struct {
	all     []byte // every frame that was handed over, in order
	acked   int    // how much of it was acknowledged
	deleted bool   // perhaps
}

func newSchedule(t *testing.T, r *rand.Rand) *schedule {
	s := &schedule{t: t, r: r, objects: make(map[string]*object), registry: prometheus.NewRegistry()}
	n := 1 + r.IntN(5)
	if r.IntN(2) == 0 {
		n = 3
	}
	s.quorum = n/2 + 1 + r.IntN(n-n/2)
	s.opts = Options{
		Quorum:          s.quorum,
		ZoneTimeout:     100 * ms,
		ReadTimeout:     50 * ms,
		SweepTimeout:    200 * ms,
		Grace:           20 * ms,
		HedgeDelay:      pick(r, -1, 5*ms),
		MaxLag:          pick(r, -1, 2*ms, 5*ms),
		MaxLateBytes:    pick[int64](r, 1, 100, 1<<20),
		MaxOps:          pick(r, 3, 10, 1000),
		BreakerFailures: pick(r, 1, 3, 1000),
		ProbeInterval:   pick(r, 20*ms, 200*ms),
		Registerer:      s.registry,
	}
	var stores []backends.Bucket
	for range n {
		s.real = append(s.real, mem.New(mem.Options{CreateOnAppend: r.IntN(4) == 0}))
		plan := faulty.NewPlan(r.Uint64())
		for op := faulty.Create; op <= faulty.Delete; op++ {
			plan.Set(randomFaults(r, op), op)
		}
		s.plans = append(s.plans, plan)
		s.audits = append(s.audits, &audit{
			Bucket: faulty.Wrap(s.real[len(s.real)-1], plan), t: t, stored: make(map[string]int),
		})
		stores = append(stores, s.audits[len(s.audits)-1])
	}
	s.bucket = newTest(t, s.opts, stores...)
	return s
}

func pick[T any](r *rand.Rand, values ...T) T { return values[r.IntN(len(values))] }

// randomFaults returns how a zone does one thing. Most do most things well.
func randomFaults(r *rand.Rand, op faulty.Op) faulty.Faults {
	f := faulty.Faults{Latency: pick(r, nil, faulty.Constant(2*ms), faulty.Exponential(2*ms), faulty.Uniform(0, 20*ms))}
	if r.IntN(3) > 0 {
		return f
	}
	rate := pick(r, 0.05, 0.3, 1)
	switch r.IntN(8) {
	case 0:
		f.Fail = rate
	case 1:
		f.Fail, f.Err = rate, backends.ErrThrottled
	case 2:
		f.Torn = rate
	case 3:
		f.LostAck = rate
	case 4:
		f.Hang = rate
	case 5:
		f.Mute = rate
	case 6:
		f.Stuck, f.StuckFor = rate, pick(r, 50*ms, time.Second)
	case 7:
		if op == faulty.Read { // A zone that acknowledges other bytes than it got is beyond what a quorum can notice.
			f.Corrupt = rate
		}
	}
	return f
}

func (s *schedule) run() {
	ctx, cancel := context.WithCancel(s.t.Context())
	var background, lanes sync.WaitGroup
	if s.r.IntN(2) == 0 {
		background.Go(func() {
			if err := s.bucket.Run(ctx); err != nil {
				s.t.Error(err)
			}
		})
	}
	for _, plan := range s.plans {
		if s.r.IntN(3) == 0 {
			begin, length := time.Duration(s.r.Int64N(int64(300*ms))), time.Duration(s.r.Int64N(int64(500*ms)))
			outage := pick(s.r, dead, hangs, faulty.Faults{Mute: 1}, faulty.Faults{Stuck: 1, StuckFor: time.Second})
			background.Go(func() {
				time.Sleep(begin)
				plan.Outage(outage)
				time.Sleep(length)
				plan.Recover()
			})
		}
	}
	for lane := range 1 + s.r.IntN(3) {
		r := rand.New(rand.NewPCG(s.r.Uint64(), 0))
		lanes.Go(func() {
			for i := range 4 {
				s.write(r, fmt.Sprintf("lane%d/%d", lane, i))
			}
		})
	}
	lanes.Wait()
	cancel()
	background.Wait()
}

// write writes one object.
func (s *schedule) write(r *rand.Rand, name string) {
	ctx := s.t.Context()
	if r.IntN(4) == 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(r.Int64N(int64(200*ms))))
		defer cancel()
	}
	o := &object{}
	s.mu.Lock()
	s.objects[name] = o
	s.mu.Unlock()
	var w backends.Writer
	err := s.inTime(name, func() (err error) {
		w, err = s.bucket.Create(ctx, name)
		return err
	})
	if err != nil {
		return
	}
	time.Sleep(time.Duration(r.Int64N(int64(10 * ms))))
	for n := range 1 + r.IntN(5) {
		p := bytes.Repeat(fmt.Appendf(nil, "%s frame %d;", name, n), 1+r.IntN(10))
		o.all = append(o.all, p...)
		err = s.inTime(name, func() error { return appendTo(ctx, w, p) })
		s.took(o, name, n, p, err)
		if err != nil {
			wantError(s.t, appendTo(ctx, w, p), backends.ErrClosed)
			break
		}
		if r.IntN(2) == 0 {
			time.Sleep(time.Duration(r.Int64N(int64(10 * ms))))
		}
	}
	if err := w.Close(ctx); err != nil {
		s.t.Errorf("Close of %s: %v", name, err)
	}
	if r.IntN(6) == 0 {
		o.deleted = true
		s.remove(name)
	}
}

// took takes note of an append's outcome.
func (s *schedule) took(o *object, name string, n int, p []byte, err error) {
	if err != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.refused++
		return
	}
	o.acked = len(o.all)
	votes := 0
	for _, a := range s.audits {
		if a.frames(name) > n {
			votes++
		}
	}
	if votes < s.quorum {
		s.t.Errorf("frame %d of %s was acknowledged with %d of %d votes", n, name, votes, s.quorum)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.acked++
}

// inTime checks that f takes no longer than the options promise.
func (s *schedule) inTime(name string, f func() error) error {
	start := time.Now()
	err := f()
	most := s.opts.ZoneTimeout + s.opts.Grace + max(s.opts.MaxLag, 0)
	// A zone that was kept in reserve is asked when the others have failed.
	if d := time.Since(start); d > 2*most {
		s.t.Errorf("%s took %v, want at most %v: %v", name, d, 2*most, err)
	}
	return err
}

// remove deletes the object and checks that what is confirmed is gone everywhere, for good.
func (s *schedule) remove(name string) {
	deleted, err := s.bucket.Delete(s.t.Context(), []string{name})
	if len(deleted) == 0 {
		if err == nil {
			s.t.Errorf("Delete of %s confirms nothing, without an error", name)
		}
		return
	}
	time.Sleep(3 * time.Second)
	for i, b := range s.real {
		if got := stored(s.t, b, name); got != nil {
			s.t.Errorf("zone %d holds %d bytes of %s, whose deletion was confirmed", i, len(got), name)
		}
	}
}

func (s *schedule) check() {
	time.Sleep(10 * time.Second) // Every fault is over.
	for _, status := range s.bucket.Status().Zones {
		if status.LateOps != 0 || status.LateBytes != 0 || status.StuckOps != 0 {
			s.t.Errorf("in the end %+v", status)
		}
	}
	for name, o := range s.objects {
		if o.deleted {
			continue
		}
		holders := 0
		for i, b := range s.real {
			got := stored(s.t, b, name)
			if !bytes.HasPrefix(o.all, got) {
				s.t.Errorf("zone %d holds %q of %s, which is not how %q begins", i, got, name, o.all)
			}
			if len(got) >= o.acked {
				holders++
			}
		}
		if holders < s.quorum {
			s.t.Errorf("%d zones hold the %d bytes acknowledged of %s, want %d", holders, o.acked, name, s.quorum)
		}
	}
	s.readWithout()
	if err := s.bucket.Close(); err != nil {
		s.t.Error(err)
	}
	open := 0
	for _, a := range s.audits {
		open += a.open
	}
	// A zone that has MaxOps operations under way is not asked to close.
	if skipped := metric(s.t, s.registry, "closes_total", resultBusy); open != int(skipped) {
		s.t.Errorf("%d Writers of the zones are open, want %v", open, skipped)
	}
}

// readWithout reads and lists everything that was acknowledged from N-W+1 zones, any, while the others are dead.
func (s *schedule) readWithout() {
	for i, z := range s.r.Perm(len(s.real)) {
		s.plans[z].Set(faulty.Faults{})
		if i < s.quorum-1 {
			s.plans[z].Outage(pick(s.r, dead, hangs))
		}
	}
	ctx := s.t.Context()
	listed := make(map[string]bool)
	for o, err := range s.bucket.List(ctx, "") {
		if err != nil {
			s.t.Error(err)
		}
		listed[o.Name] = true
	}
	for name, o := range s.objects {
		if o.deleted || o.acked == 0 {
			continue
		}
		p := make([]byte, o.acked)
		err := s.bucket.ReadChecked(ctx, name, p, 0, backends.Checksum(o.all[:o.acked]))
		if err != nil || !bytes.Equal(p, o.all[:o.acked]) {
			s.t.Errorf("%s is not read as it was acknowledged: %v", name, err)
		}
		if !listed[name] {
			s.t.Errorf("%s is not listed", name)
		}
	}
}

// audit is a store that checks how it is used, and remembers what it said.
type audit struct {
	backends.Bucket
	t *testing.T

	mu     sync.Mutex
	stored map[string]int // how many frames of an object it said that it had stored
	open   int
}

func (a *audit) frames(name string) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.stored[name]
}

func (a *audit) Create(ctx context.Context, name string) (backends.Writer, error) {
	w, err := a.Bucket.Create(ctx, name)
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.open++
	return &auditWriter{Writer: w, audit: a, name: name}, nil
}

type auditWriter struct {
	backends.Writer
	audit        *audit
	name         string
	busy         sync.Mutex
	dead, closed bool
}

func (w *auditWriter) Append(ctx context.Context, p []byte, crc uint32) error {
	if !w.busy.TryLock() {
		w.audit.t.Errorf("%s: two calls of a Writer at once", w.name)
		return backends.ErrClosed
	}
	defer w.busy.Unlock()
	if w.dead || w.closed {
		w.audit.t.Errorf("%s: a zone that has left gets a frame", w.name)
	}
	err := w.Writer.Append(ctx, p, crc)
	w.dead = err != nil
	if err == nil {
		w.audit.mu.Lock()
		defer w.audit.mu.Unlock()
		w.audit.stored[w.name]++
	}
	return err
}

func (w *auditWriter) Close(ctx context.Context) error {
	if !w.busy.TryLock() {
		w.audit.t.Errorf("%s: Close during another call of the Writer", w.name)
		return backends.ErrClosed
	}
	defer w.busy.Unlock()
	if w.closed {
		w.audit.t.Errorf("%s: closed twice", w.name)
	}
	w.closed = true
	w.audit.mu.Lock()
	w.audit.open--
	w.audit.mu.Unlock()
	return w.Writer.Close(ctx)
}
