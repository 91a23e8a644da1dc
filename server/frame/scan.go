package frame

import (
	"bytes"
	"errors"
	"fmt"
	"iter"

	"github.com/walbridge/walbridge/backends"
)

// ReadFunc fills p with an object's bytes from off, or fails: a backends.Bucket's ReadAt, bound to a ctx and a name.
// Past the object's end it fails with backends.ErrRange. Where valid is not nil it tells what is wrong with bytes that
// cannot be right: a reader of many zones takes another zone's, since a zone may hold the torn end of an append that the
// others have whole. A reader of one zone ignores it, Scan looks again.
type ReadFunc func(p []byte, off int64, valid func(p []byte) error) error

// Depth says how much of an object Scan reads.
type Depth int

const (
	// IndexOnly reads and verifies headers and indexes. Of the entries' bytes it makes sure only that they are there.
	IndexOnly Depth = iota
	// Whole reads and verifies everything.
	Whole
)

// Scanned is a frame and where its first byte is in the object.
type Scanned struct {
	Position int64
	*Frame
}

// Scan yields the frames of one object, first to last. An object of length 0 has none: a pre-warmed one that was never
// used. It ends at the first error: what read returned, a *CorruptError with the object's name, or ErrVersion. Frames
// before it are good; there is no way to tell where the next one behind it starts.
//
// It reads each frame in three calls and finds the end with two more. Where each is a request, let read serve them
// from a buffer. It allocates nothing for bytes that are not there.
func Scan(object string, read ReadFunc, depth Depth) iter.Seq2[Scanned, error] {
	return func(yield func(Scanned, error) bool) {
		s := scanner{object: object, read: read, depth: depth, head: make([]byte, HeaderSize)}
		for position := int64(0); ; {
			f, err := s.frame(position)
			if err != nil {
				yield(Scanned{}, s.locate(err, position))
				return
			}
			if f == nil || !yield(Scanned{Position: position, Frame: f}, nil) {
				return
			}
			position += f.Size()
		}
	}
}

type scanner struct {
	object string
	read   ReadFunc
	depth  Depth
	head   []byte // room for a header
}

// frame returns the frame at position, or nil where the object ends there.
func (s *scanner) frame(position int64) (*Frame, error) {
	h, err := s.header(position)
	if h == nil || err != nil {
		return nil, err
	}
	// Before anything is allocated for it.
	switch err := s.read(make([]byte, 1), position+h.Size()-1, nil); {
	case errors.Is(err, backends.ErrRange):
		return nil, truncated(HeaderSize, "the object ends before the frame of %d bytes does", h.Size())
	case err != nil:
		return nil, err
	}
	n, decode, valid := h.IndexEnd(), DecodeIndex, h.verifyIndex
	if s.depth == Whole {
		n, decode = h.Size(), Decode
		valid = func(rest []byte) error {
			_, err := Decode(append(bytes.Clone(s.head), rest...))
			return err
		}
	}
	b := make([]byte, n)
	copy(b, s.head)
	if err := s.read(b[HeaderSize:], position+HeaderSize, valid); err != nil {
		return nil, err
	}
	return decode(b)
}

// header reads the header at position into head and returns nil where the object ends there.
func (s *scanner) header(position int64) (*Header, error) {
	err := s.read(s.head, position, func(head []byte) error {
		_, err := DecodeHeader(head)
		return err
	})
	if errors.Is(err, backends.ErrRange) {
		// Less than a header is left: nothing, or the start of one?
		if err = s.read(s.head[:1], position, nil); errors.Is(err, backends.ErrRange) {
			return nil, nil
		}
		if err == nil {
			return nil, truncated(0, "the object ends within a header")
		}
	}
	if err != nil {
		return nil, err
	}
	h, err := DecodeHeader(s.head)
	return &h, err
}

// locate says in err where in which object the frame at position is.
func (s *scanner) locate(err error, position int64) error {
	if c, ok := errors.AsType[*CorruptError](err); ok {
		c.Object = s.object
		c.Offset += position
		return c
	}
	return fmt.Errorf("object %s: frame at offset %d: %w", s.object, position, err)
}
