package quorum

import (
	"context"
	"errors"
	"slices"

	"github.com/walbridge/walbridge/backends"
)

// round is one thing that a writer asks of its zones: to open the object, or to append a frame to it. It is guarded by
// writer.mu.
type round struct {
	kind opKind          // opOpen, or opWrite of p
	what string          // "append x"
	ctx  context.Context // whose values the zones see
	p    []byte
	crc  uint32

	tally   Tally
	decided chan struct{} // closed when the verdict is no longer Possible
	ops     []*op         // what the zones were asked, nil where they were not
	errs    []error       // why they have not done it
	spare   []string      // why they are asked only if there is no quorum without them
	over    bool          // nobody waits any more
	acked   bool          // the caller was told that it is committed
}

func newRound(ctx context.Context, kind opKind, what string, zones, quorum int) *round {
	return &round{
		ctx:     ctx,
		kind:    kind,
		what:    what,
		tally:   NewTally(zones, quorum),
		decided: make(chan struct{}),
		ops:     make([]*op, zones),
		errs:    make([]error, zones),
		spare:   make([]string, zones),
	}
}

// vote counts the vote of zone i: err tells why it has not done it.
func (r *round) vote(i int, err error) {
	before := r.tally.Verdict()
	if !r.tally.Vote(i, err == nil) {
		return
	}
	r.errs[i] = err
	if before == Possible && r.tally.Verdict() != Possible {
		close(r.decided)
	}
}

// short tells if the zones that were asked are too few: there would be no quorum even if all of them did it.
func (r *round) short() bool {
	n := r.tally.Copies()
	for i, o := range r.ops {
		if o != nil && !r.tally.Voted(i) {
			n++
		}
	}
	return n < r.tally.quorum
}

// lost is the error of a round that no quorum has done.
func (r *round) lost() error {
	f := &failure{what: r.what, zones: slices.Clone(r.errs)}
	for _, sentinel := range []error{backends.ErrExists, backends.ErrFenced} {
		// One zone is enough: the name is taken, or the object is another's.
		if count(r.errs, sentinel) > 0 {
			f.is = append(f.is, sentinel)
		}
	}
	for _, sentinel := range []error{backends.ErrDenied, backends.ErrThrottled, backends.ErrNotFound, backends.ErrRange} {
		if all(r.errs, sentinel) {
			f.is = append(f.is, sentinel)
		}
	}
	// A zone may also have got other bytes than were sent.
	if r.kind == opWrite && count(r.errs, backends.ErrChecksum) > 0 && backends.Checksum(r.p) != r.crc {
		f.is = append(f.is, backends.ErrChecksum)
	}
	return f
}

// unfinished is the error of a round that was left before its verdict.
func (r *round) unfinished(err error) error {
	return &failure{what: r.what, is: []error{err}, zones: append(slices.Clone(r.errs), errors.New("undecided"))}
}
