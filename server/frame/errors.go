package frame

import (
	"errors"
	"fmt"

	"github.com/walbridge/walbridge/backends"
)

var (
	// ErrVersion is wrapped where intact bytes ask for a newer reader: another version, or a flag unknown here.
	ErrVersion = errors.New("format not supported by this version of Walbridge")
	// ErrTooLarge is wrapped where sections do not fit into one frame, see MaxSize and MaxIndex.
	ErrTooLarge = errors.New("too large for one frame")
)

// CorruptError reports bytes that are not a whole, unchanged frame. It is a backends.ErrChecksum, so that a reader of
// many zones takes another copy.
type CorruptError struct {
	// Object is the name given to Scan; empty where a frame was decoded by itself.
	Object string
	// Offset is where the damage shows, in bytes from the start of the object, or of the frame where Object is empty.
	Offset int64
	Reason string
	// Truncated is set where all bytes there are may be right, but they end too early: the torn end of an append that
	// was never acknowledged, an append in progress, or a copy that lost its tail.
	Truncated bool
}

func (e *CorruptError) Error() string {
	if e.Object == "" {
		return fmt.Sprintf("frame is corrupt at offset %d: %s", e.Offset, e.Reason)
	}
	return fmt.Sprintf("object %s is corrupt at offset %d: %s", e.Object, e.Offset, e.Reason)
}

func (e *CorruptError) Unwrap() error { return backends.ErrChecksum }

func corrupt(offset int64, format string, args ...any) *CorruptError {
	return &CorruptError{Offset: offset, Reason: fmt.Sprintf(format, args...)}
}

func truncated(offset int64, format string, args ...any) *CorruptError {
	return &CorruptError{Offset: offset, Reason: fmt.Sprintf(format, args...), Truncated: true}
}

// InvalidError reports a value that no frame, extent or name may hold.
type InvalidError struct {
	Field string
	Value string // as shown to people
	Want  string // what would be valid
}

func (e *InvalidError) Error() string {
	return fmt.Sprintf("%s is %s, want %s", e.Field, e.Value, e.Want)
}

// invalid shows value with the verb, whose precision bounds what a hostile value can add to a log.
func invalid(field, verb string, value any, want string) error {
	return &InvalidError{Field: field, Value: fmt.Sprintf(verb, value), Want: want}
}
