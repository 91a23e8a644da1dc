package quorum

import (
	"math/rand"
	"reflect"
	"testing"
	"testing/quick"
)

// vote is one zone's vote, as the oracle keeps it.
type vote int

const (
	none vote = iota
	yes
	no
)

// dumbVerdict is the definition, by brute force: a thing is committed or lost where every way in which the zones that
// have not voted could still vote ends with a quorum, or every way without.
func dumbVerdict(votes []vote, quorum int) Verdict {
	var with, without bool
	var walk func(i, copies int)
	walk = func(i, copies int) {
		switch {
		case i == len(votes):
			with = with || copies >= quorum
			without = without || copies < quorum
		case votes[i] == yes:
			walk(i+1, copies+1)
		case votes[i] == no:
			walk(i+1, copies)
		default:
			walk(i+1, copies+1)
			walk(i+1, copies)
		}
	}
	walk(0, 0)
	switch {
	case with && without:
		return Possible
	case with:
		return Committed
	}
	return Lost
}

func votesFor(votes []vote, v vote) int {
	n := 0
	for _, have := range votes {
		if have == v {
			n++
		}
	}
	return n
}

func checkTally(t *testing.T, votes []vote, quorum int) {
	t.Helper()
	tally := NewTally(len(votes), quorum)
	for zone, v := range votes {
		if v == none {
			continue
		}
		if !tally.Vote(zone, v == yes) {
			t.Fatalf("votes %v, quorum %d: the first vote of zone %d does not count", votes, quorum, zone)
		}
		if tally.Vote(zone, v == no) {
			t.Fatalf("votes %v, quorum %d: the second vote of zone %d counts", votes, quorum, zone)
		}
	}
	if got, want := tally.Verdict(), dumbVerdict(votes, quorum); got != want {
		t.Errorf("votes %v, quorum %d: %v, want %v", votes, quorum, got, want)
	}
	if got, want := tally.Copies(), votesFor(votes, yes); got != want {
		t.Errorf("votes %v: %d copies, want %d", votes, got, want)
	}
	if got, want := tally.Complete(), votesFor(votes, none) == 0; got != want {
		t.Errorf("votes %v: complete %v, want %v", votes, got, want)
	}
	for zone, v := range votes {
		if tally.Voted(zone) != (v != none) {
			t.Errorf("votes %v: zone %d voted %v", votes, zone, tally.Voted(zone))
		}
	}
}

// Every combination of votes of up to seven zones, with every quorum.
func TestTallyExhaustive(t *testing.T) {
	for n := 1; n <= 7; n++ {
		votes := make([]vote, n)
		var walk func(i int)
		walk = func(i int) {
			if i == n {
				for quorum := 1; quorum <= n; quorum++ {
					checkTally(t, votes, quorum)
				}
				return
			}
			for _, v := range []vote{none, yes, no} {
				votes[i] = v
				walk(i + 1)
			}
		}
		walk(0)
	}
}

// ballots is a run of votes in some order: zones may vote more than once.
type ballots struct {
	zones, quorum int
	order         []int
	stored        []bool
}

func (ballots) Generate(r *rand.Rand, _ int) reflect.Value {
	b := ballots{zones: 1 + r.Intn(12)}
	b.quorum = 1 + r.Intn(b.zones)
	for range r.Intn(2 * b.zones) {
		b.order = append(b.order, r.Intn(b.zones))
		b.stored = append(b.stored, r.Intn(2) == 0)
	}
	return reflect.ValueOf(b)
}

// In any order of votes, the verdict after each is the oracle's, and once it is decided it stays.
func TestTallyQuick(t *testing.T) {
	property := func(b ballots) bool {
		tally, votes, before := NewTally(b.zones, b.quorum), make([]vote, b.zones), Possible
		for i, zone := range b.order {
			if counted := tally.Vote(zone, b.stored[i]); counted != (votes[zone] == none) {
				return false
			}
			if votes[zone] == none {
				votes[zone] = no
				if b.stored[i] {
					votes[zone] = yes
				}
			}
			verdict := tally.Verdict()
			if verdict != dumbVerdict(votes, b.quorum) || before != Possible && verdict != before {
				return false
			}
			before = verdict
		}
		return true
	}
	if err := quick.Check(property, &quick.Config{MaxCount: 5000}); err != nil {
		t.Error(err)
	}
}
