// Package backends is the contract between the daemon and the stores that hold its objects.
//
// A store is a [Bucket] of write-once objects. It lands with one file that runs the conformance suite,
// backendtest.Run; what cuts across stores (a quorum of zones, metrics, injected faults) is a Bucket around Buckets and
// runs the same suite. This package imports nothing but the standard library, and stores import nothing of the product
// but this package.
package backends

import (
	"context"
	"errors"
	"iter"
)

// Bucket is one store: a zone's bucket, or a quorum of them. All methods are safe for concurrent use.
//
// Every method honours its ctx: it returns soon after ctx ends, with an error that wraps ctx's. An error that wraps none
// of this package's sentinels means "unavailable, outcome unknown".
type Bucket interface {
	// Create opens the object name for writing and fails with ErrExists if it is there already; a store that creates
	// the object with its first bytes may report that at the first Append instead. Where the store can hold an empty
	// object it exists, durably and with length 0, when Create returns. ctx bounds the opening, not the Writer's life.
	Create(ctx context.Context, name string) (Writer, error)

	// ReadAt fills p with the object's bytes from off, or fails: ErrNotFound where there is no such object, ErrRange
	// where the object ends before off+len(p). It never returns part of p and says nothing of p's content on failure.
	// Bytes of a durable Append are visible to every ReadAt that starts after the Append returned.
	ReadAt(ctx context.Context, name string, p []byte, off int64) error

	// List yields every object below the directory dir, at any depth, in no order; dir "" is the whole bucket. A
	// directory that does not exist is empty. It ends at the first error. An object created or deleted during the
	// listing may or may not be in it; every other object is in it at least once.
	List(ctx context.Context, dir string) iter.Seq2[Object, error]

	// Delete deletes the named objects; one that does not exist counts as deleted. It returns those whose absence is
	// confirmed, also where err is not nil, so that a caller which is throttled makes progress.
	Delete(ctx context.Context, names []string) (deleted []string, err error)

	// Caps tells what the store can do. It is constant.
	Caps() Caps

	// Close releases what the Bucket holds. Writers must be closed before.
	Close() error
}

// Writer writes one object. It serves one goroutine. An error is final: every later Append fails, and whether the bytes
// of the failed one are stored is unknown.
type Writer interface {
	// Append adds p to the end of the object. It is durable, and readable, when Append returns nil. crc is the CRC-32C
	// of p, as Checksum returns it; a store that finds another one stores nothing and fails with ErrChecksum.
	//
	// p is immutable from now on and is never reused, not even after Append returned: a quorum answers before its late
	// zones have read it. Appends beyond Caps.Appends or longer than Caps.MaxAppend fail without touching the store.
	Append(ctx context.Context, p []byte, crc uint32) error

	// Close releases the Writer and stores nothing; the object keeps what was appended. It is called once, also after
	// an error. To discard an object that is not wanted is Close, then Delete.
	Close(ctx context.Context) error
}

// Object is one entry of a List.
type Object struct {
	// Name is the object's whole name, as given to Create.
	Name string
	// Size is the object's length in bytes; a hint, since some stores lag in telling it.
	Size int64
}

// Caps tells what a store can do.
type Caps struct {
	// Appends is how many Appends one object takes: 1 for a store that writes an object whole.
	Appends int
	// MaxAppend is the longest p of one Append, in bytes.
	MaxAppend int64
}

// Names are relative, slash-separated, at most MaxName bytes long, and made of the characters a-z A-Z 0-9 . _ - in parts
// that are neither empty nor start with a dot. Every Bucket refuses others with ErrName, see CheckName.
const MaxName = 512

// The sentinels. A store wraps them with what it knows: fmt.Errorf("append %s: %w", name, backends.ErrThrottled).
var (
	ErrExists    = errors.New("object exists")
	ErrNotFound  = errors.New("object not found")
	ErrRange     = errors.New("range outside the object")
	ErrChecksum  = errors.New("checksum mismatch")
	ErrThrottled = errors.New("throttled")
	ErrDenied    = errors.New("access denied")
	ErrFenced    = errors.New("fenced by a later writer")
	ErrName      = errors.New("invalid object name")
	// ErrClosed is returned for an Append after Close or after a failed Append.
	ErrClosed = errors.New("writer closed")
	// ErrTooLarge and ErrTooMany are returned for an Append beyond Caps.
	ErrTooLarge = errors.New("append larger than the store takes")
	ErrTooMany  = errors.New("more appends than the store takes")
)
