package quorum

import "math/bits"

// MaxZones is the most zones that one Tally, and one Bucket, takes.
const MaxZones = 64

// Verdict is what the votes of some of the zones decide.
type Verdict int

// A verdict other than Possible never changes, whatever the zones that have not voted yet will say.
const (
	Possible  Verdict = iota // neither decided
	Committed                // a quorum of zones did it
	Lost                     // no quorum is left that could
)

func (v Verdict) String() string {
	return [...]string{"possible", "committed", "lost"}[v]
}

// Tally counts the zones' votes on one thing that a quorum of them must do: one opening of an object, one append. It is
// a value: no I/O, no clock, no lock.
type Tally struct {
	zones, quorum int
	yes, no       uint64 // sets of zones, disjoint
}

// NewTally returns the Tally, without votes, of the zones 0 to zones-1, of which quorum are needed.
func NewTally(zones, quorum int) Tally {
	return Tally{zones: zones, quorum: quorum}
}

// Vote counts zone's vote, unless it has voted already: the first vote of a zone is final. It tells if it counted.
func (t *Tally) Vote(zone int, yes bool) bool {
	if t.Voted(zone) {
		return false
	}
	if yes {
		t.yes |= 1 << zone
	} else {
		t.no |= 1 << zone
	}
	return true
}

// Voted tells if zone has voted.
func (t *Tally) Voted(zone int) bool { return (t.yes|t.no)&(1<<zone) != 0 }

// Verdict tells what the votes so far decide.
func (t *Tally) Verdict() Verdict {
	switch {
	case t.Copies() >= t.quorum:
		return Committed
	case t.zones-bits.OnesCount64(t.no) < t.quorum:
		return Lost
	}
	return Possible
}

// Copies is the number of zones that did it, as far as is known.
func (t *Tally) Copies() int { return bits.OnesCount64(t.yes) }

// Complete tells if every zone has voted, so that Copies is final.
func (t *Tally) Complete() bool { return bits.OnesCount64(t.yes|t.no) == t.zones }
