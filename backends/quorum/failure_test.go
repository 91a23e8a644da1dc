package quorum

import (
	"errors"
	"slices"
	"testing"

	"github.com/walbridge/walbridge/backends"
)

var errDead = errors.New("dead")

// dumbRead says what a failed read may claim, by brute force over what the silent zones may hold: quorum of the zones
// hold the bytes if they were committed, and a zone that says that it has not does not.
func dumbRead(errs []error, quorum int) error {
	silent, corrupt, short := 0, 0, 0
	for _, err := range errs {
		switch err {
		case errDead:
			silent++
		case backends.ErrChecksum:
			corrupt++
		case backends.ErrRange:
			short++
		}
	}
	for hold := range silent + 1 {
		if corrupt+hold >= quorum && hold > 0 {
			return nil // committed, and a silent zone has it
		}
	}
	switch {
	case corrupt > 0 && silent > 0:
		return nil // a silent zone may have a good copy, if only of what was never committed
	case corrupt > 0:
		return backends.ErrChecksum
	case short > 0:
		return backends.ErrRange
	}
	return backends.ErrNotFound
}

// Every combination of the zones' errors, for every quorum.
func TestReadFailure(t *testing.T) {
	claims := []error{backends.ErrNotFound, backends.ErrRange, backends.ErrChecksum, backends.ErrDenied,
		backends.ErrThrottled}
	for n := 1; n <= 6; n++ {
		errs := make([]error, n)
		var walk func(i int)
		walk = func(i int) {
			if i < n {
				for _, err := range []error{backends.ErrNotFound, backends.ErrRange, backends.ErrChecksum, errDead} {
					errs[i] = err
					walk(i + 1)
				}
				return
			}
			for quorum := n/2 + 1; quorum <= n; quorum++ {
				want, err := dumbRead(errs, quorum), readFailure("read x", errs, quorum)
				for _, claim := range claims {
					if errors.Is(err, claim) != (claim == want) {
						t.Fatalf("zones say %v, quorum %d: %v, want %v", errs, quorum, err, want)
					}
				}
			}
		}
		walk(0)
	}
}

func TestReadFailureOfAll(t *testing.T) {
	for _, sentinel := range []error{backends.ErrDenied, backends.ErrThrottled} {
		if err := readFailure("read x", []error{sentinel, sentinel}, 2); !errors.Is(err, sentinel) {
			t.Errorf("all zones say %v: %v", sentinel, err)
		}
		if err := readFailure("read x", []error{sentinel, errDead}, 2); errors.Is(err, sentinel) {
			t.Errorf("one zone says %v: %v", sentinel, err)
		}
	}
}

func TestInAll(t *testing.T) {
	names := []string{"a", "b", "c", "d", "a"}
	lists := [][]string{{"d", "a", "c", "a"}, {"a", "b", "d"}, {"a", "a", "d", "x"}}
	if got, want := inAll(names, lists), []string{"a", "d", "a"}; !slices.Equal(got, want) {
		t.Errorf("inAll = %q, want %q", got, want)
	}
	if got := inAll(names, [][]string{names, nil, names}); got != nil {
		t.Errorf("inAll = %q where one list is empty", got)
	}
}
