package faulty

import (
	"cmp"
	"errors"
	"math/rand/v2"
	"sync"
	"time"
)

// ErrInjected is the error of a fault whose Faults name no other.
var ErrInjected = errors.New("injected fault")

// Op is a kind of operation.
type Op int

// The operations of a Bucket and of its Writers.
const (
	Create Op = iota
	Append
	CloseWriter
	Read
	List
	Delete
	numOps
)

func (o Op) String() string {
	return [numOps]string{"create", "append", "close writer", "read", "list", "delete"}[o]
}

// Faults is how a kind of operation behaves. The zero value is at once and without fault.
//
// The fields between Latency and Err are probabilities from 0 (never) to 1 (always). At most one of them befalls an
// operation; where they add up to more than 1 the first of them win.
type Faults struct {
	// Latency comes before everything else and ends early, with ctx's error and nothing done, when ctx ends. nil is none.
	Latency Latency

	// Fail does nothing and fails. (A CloseWriter releases the Writer in any case.)
	Fail float64
	// Torn does a part and fails: an Append stores some first bytes, a List yields some objects, a Delete deletes and
	// confirms some names. The other operations have no parts, and fail.
	Torn float64
	// LostAck does all and fails: the answer is lost. A Delete confirms nothing.
	LostAck float64
	// Hang does nothing until ctx ends, and fails with its error. Under a ctx that never ends it never returns.
	Hang float64
	// Mute does all and then nothing until ctx ends: no answer comes.
	Mute float64
	// Stuck is deaf to ctx, as a system call on a sick disk is: after StuckFor it does all and succeeds.
	Stuck float64
	// Corrupt flips one bit, of what an Append stores or of what a Read reads, and succeeds. It does not touch the
	// other operations.
	Corrupt float64

	// Err is what Fail, Torn and LostAck fail with, such as backends.ErrThrottled; nil is ErrInjected.
	Err error
	// StuckFor is how long Stuck takes.
	StuckFor time.Duration
}

// Plan says how the Buckets that are wrapped with it behave. It can be changed at any time, for the operations that
// start from then on, and is safe for concurrent use.
//
// A Plan is deterministic: the n-th operation of a kind draws the same luck in every run with the same seed, whatever
// operations of other kinds come between. Which goroutine's operation is the n-th is up to the test.
type Plan struct {
	mu     sync.Mutex
	kinds  [numOps]kind
	outage *Faults
}

// kind is what a Plan knows of one Op. Latency has a source of its own, since it may take any number of draws.
type kind struct {
	faults        Faults
	luck, latency *rand.Rand
	count         int
}

// NewPlan returns a Plan without faults.
func NewPlan(seed uint64) *Plan {
	p := new(Plan)
	for i := range p.kinds {
		stream := uint64(2 * i)
		p.kinds[i].luck = rand.New(rand.NewPCG(seed, stream))
		p.kinds[i].latency = rand.New(rand.NewPCG(seed, stream+1))
	}
	return p
}

// Set has the operations behave as f says; without ops it means all of them.
func (p *Plan) Set(f Faults, ops ...Op) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(ops) == 0 {
		ops = []Op{Create, Append, CloseWriter, Read, List, Delete}
	}
	for _, op := range ops {
		p.kinds[op].faults = f
	}
}

// Outage has every operation behave as f says, whatever was Set, until Recover: a dead zone is Faults{Fail: 1} or
// Faults{Hang: 1}.
func (p *Plan) Outage(f Faults) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.outage = &f
}

// Recover ends the Outage. Operations that hang since before are not released.
func (p *Plan) Recover() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.outage = nil
}

// Count returns how many operations of a kind have started.
func (p *Plan) Count(op Op) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.kinds[op].count
}

// draw decides on the next operation of a kind.
func (p *Plan) draw(op Op, name string) call {
	p.mu.Lock()
	defer p.mu.Unlock()
	k := &p.kinds[op]
	k.count++
	f := k.faults
	if p.outage != nil {
		f = *p.outage
	}
	// The same number of draws for every operation keeps the next one's luck apart from this one's faults.
	c := call{
		op:       op,
		name:     name,
		fate:     f.fate(k.luck.Float64()),
		at:       k.luck.Uint64(),
		err:      cmp.Or(f.Err, ErrInjected),
		stuckFor: f.StuckFor,
	}
	if f.Latency != nil {
		c.latency = f.Latency(k.latency)
	}
	return c
}

// fate returns what befalls an operation whose luck, in [0, 1), is u.
func (f *Faults) fate(u float64) fate {
	for _, c := range []struct {
		fate
		chance float64
	}{
		{fail, f.Fail}, {torn, f.Torn}, {lostAck, f.LostAck}, {hang, f.Hang}, {mute, f.Mute}, {stuck, f.Stuck},
		{corrupt, f.Corrupt},
	} {
		if u < c.chance {
			return c.fate
		}
		u -= c.chance
	}
	return none
}
