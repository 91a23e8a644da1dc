package quorum

import (
	"errors"
	"strings"
)

// failure is the error of an operation that too few zones did. Its text has what each zone said; errors.Is finds only
// what holds for the quorum: one zone without the object does not make it ErrNotFound, and one zone's timeout is not
// the end of the caller's ctx.
type failure struct {
	what  string  // "append x"
	is    []error // what holds for the quorum
	zones []error // what zones said, nil where they did it
}

func (f *failure) Error() string {
	var b strings.Builder
	b.WriteString("quorum: " + f.what)
	for _, err := range f.is {
		b.WriteString(": " + err.Error())
	}
	if len(f.is) == 0 {
		b.WriteString(": unavailable")
	}
	sep := " ("
	for _, err := range f.zones {
		if err != nil {
			b.WriteString(sep + err.Error())
			sep = "; "
		}
	}
	if sep != " (" {
		b.WriteString(")")
	}
	return b.String()
}

func (f *failure) Unwrap() []error { return f.is }

// count returns how many of errs are target.
func count(errs []error, target error) int {
	n := 0
	for _, err := range errs {
		if errors.Is(err, target) {
			n++
		}
	}
	return n
}

// all tells if there are errors in errs and each of them is target.
func all(errs []error, target error) bool {
	n := count(errs, target)
	return n > 0 && n+count(errs, nil) == len(errs)
}
