package fetch

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/walbridge/walbridge/backends"
	framev1 "github.com/walbridge/walbridge/proto/walbridge/frame/v1"
	"github.com/walbridge/walbridge/server/frame"
)

// ErrInvalid is wrapped where a range contradicts itself or the frame.
var ErrInvalid = errors.New("invalid range")

// EntryRange names a part of one entry of a frame.
type EntryRange struct {
	// Position and Length are the entry's, as the copy returned them.
	Position, Length uint32
	// TopicID and Partition are the entry's. Where TopicID is empty neither is looked at.
	TopicID   []byte
	Partition int32
	// Start and End are the first and the last byte, both inclusive, counted from the entry's first; an End beyond the
	// entry means its last byte.
	Start, End int64
}

// Range returns where in an entry of that length the bytes from start to end are, both inclusive, and how many there
// are: at least one. As in Kafka's RemoteStorageManager, an end beyond the entry means its last byte. It fails with
// ErrInvalid where a position is negative or end lies before start, and with backends.ErrRange where start lies beyond
// the entry.
func Range(length, start, end int64) (off, n int64, err error) {
	switch {
	case start < 0 || end < 0:
		return 0, 0, fmt.Errorf("%w: negative position: %d to %d", ErrInvalid, start, end)
	case end < start:
		return 0, 0, fmt.Errorf("%w: %d to %d ends before it starts", ErrInvalid, start, end)
	case start >= length:
		return 0, 0, fmt.Errorf("%w: it starts at %d, the entry has %d bytes", backends.ErrRange, start, length)
	}
	return start, min(end, length-1) - start + 1, nil
}

// Slice returns the bytes that r names: a part of f's, which must not be changed. It fails like Range, and with
// ErrInvalid where f has no such entry or it is of another partition.
func Slice(f *frame.Frame, r EntryRange) ([]byte, error) {
	entries := f.Index.GetEntries()
	i, found := slices.BinarySearchFunc(entries, r.Position, func(e *framev1.Entry, position uint32) int {
		return cmp.Compare(e.GetPosition(), position)
	})
	if !found || entries[i].GetLength() != r.Length {
		return nil, fmt.Errorf("%w: no entry of %d bytes at %d", ErrInvalid, r.Length, r.Position)
	}
	e := entries[i]
	if len(r.TopicID) > 0 && (!bytes.Equal(r.TopicID, e.GetTopicId()) || r.Partition != e.GetPartition()) {
		return nil, fmt.Errorf("%w: the entry at %d is of %s-%d (%x), not of partition %d of %.32x", ErrInvalid, r.Position,
			e.GetTopic(), e.GetPartition(), e.GetTopicId(), r.Partition, r.TopicID)
	}
	off, n, err := Range(int64(r.Length), r.Start, r.End)
	if err != nil {
		return nil, err
	}
	return f.Entry(i)[off : off+n : off+n], nil
}
