package frame

import (
	"fmt"
	"math"
	"strings"
	"unsafe"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/walbridge/walbridge/backends"
	framev1 "github.com/walbridge/walbridge/proto/walbridge/frame/v1"
)

// Section is what one entry describes, before its place is known.
type Section struct {
	// Entry describes the section; its position is not looked at.
	Entry *framev1.Entry
	// Chunks are the section's bytes, Entry.Length in all. Who received them has compared them with Entry.Crc32C.
	Chunks [][]byte
}

// Size returns how long the frame of these sections is, or a little more where their entries have fields that this
// version does not know. It is additive: what sections add to a frame is their Size less the Size of none, whatever else
// is in it. It fails with ErrTooLarge and checks nothing else.
func Size(id Identity, sections []Section) (int64, error) {
	n := proto.Size(&framev1.FrameIndex{ClusterId: id.ClusterID, BrokerId: id.BrokerID, Incarnation: id.Incarnation})
	data := uint64(0)
	for _, s := range sections {
		n += entryTagSize + protowire.SizeBytes(indexedSize(s.Entry))
		data += uint64(s.Entry.GetLength())
	}
	h, err := newHeader(len(sections), n, data)
	return h.Size(), err
}

// entryTagSize is what precedes each entry's length in an index.
var entryTagSize = protowire.SizeTag((&framev1.FrameIndex{}).ProtoReflect().Descriptor().Fields().ByName("entries").Number())

// positionSize is what an entry's position takes, unless it is 0, which in an index it never is.
var positionSize = proto.Size(&framev1.Entry{Position: 1})

// indexedSize is how long an entry is in an index.
func indexedSize(e *framev1.Entry) int {
	n := proto.Size(e)
	if e.GetPosition() == 0 {
		n += positionSize
	}
	return n
}

// Encode makes one frame of the sections, in their order. Their bytes are copied once, into one buffer of exactly the
// frame's size, and not hashed again: the frame's checksum follows from theirs. Bytes that changed after they were
// received therefore show as a wrong checksum as soon as a store looks at the frame.
//
// The callers' messages are not changed, but the returned index shares their ids and lineages. It fails with
// ErrTooLarge, or with an *InvalidError where the identity, an entry, or the length of its chunks is not valid.
func Encode(id Identity, sections []Section) (*Frame, error) {
	if err := check(id, sections); err != nil {
		return nil, fmt.Errorf("encode frame: %w", err)
	}
	index := newIndex(id, sections)
	h, err := newHeader(len(index.Entries), proto.Size(index), length(index))
	if err != nil {
		return nil, fmt.Errorf("encode frame: %w", err)
	}
	place(index, h.IndexEnd())

	head := make([]byte, HeaderSize, h.IndexEnd())
	head, err = proto.MarshalOptions{Deterministic: true, UseCachedSize: true}.MarshalAppend(head, index)
	if err != nil {
		return nil, fmt.Errorf("encode frame: marshal index: %w", err)
	}
	h.IndexCRC32C = backends.Checksum(head[HeaderSize:])
	h.append(head[:0])
	f := &Frame{Header: h, Index: index, CRC32C: checksum(backends.Checksum(head), index)}
	f.Bytes = join(h.Size(), head, sections)
	return f, nil
}

// join returns the frame's bytes. A Builder's buffer is not cleared before it is filled, which would take as long as
// to fill it; its string must never change, and neither must a frame's bytes.
func join(size int64, head []byte, sections []Section) []byte {
	var b strings.Builder
	b.Grow(int(size))
	b.Write(head)
	for _, s := range sections {
		for _, c := range s.Chunks {
			b.Write(c)
		}
	}
	return unsafe.Slice(unsafe.StringData(b.String()), b.Len())
}

func check(id Identity, sections []Section) error {
	if err := id.Validate(); err != nil {
		return err
	}
	if len(sections) == 0 {
		return invalid("number of sections", "%d", 0, "1 or more")
	}
	for i, s := range sections {
		if err := Validate(s.Entry); err != nil {
			return fmt.Errorf("section %d of %d (%.300q-%d): %w",
				i, len(sections), s.Entry.GetTopic(), s.Entry.GetPartition(), err)
		}
		var n int64
		for _, c := range s.Chunks {
			n += int64(len(c))
		}
		if n != int64(s.Entry.Length) {
			return fmt.Errorf("section %d of %d (%s-%d): %w", i, len(sections), s.Entry.Topic, s.Entry.Partition,
				invalid("length", "%d", s.Entry.Length, fmt.Sprintf("that of the chunks, %d", n)))
		}
	}
	return nil
}

// newIndex returns the sections' index with positions that are wrong, but take as many bytes as the right ones.
func newIndex(id Identity, sections []Section) *framev1.FrameIndex {
	entries := make([]framev1.Entry, len(sections))
	pointers := make([]*framev1.Entry, len(sections))
	for i, s := range sections {
		// By hand: proto.Clone would take longer than to copy the section.
		entries[i] = framev1.Entry{
			TopicId:        s.Entry.GetTopicId(),
			Topic:          s.Entry.GetTopic(),
			Partition:      s.Entry.GetPartition(),
			SegmentId:      s.Entry.GetSegmentId(),
			Restorable:     s.Entry.GetRestorable(),
			BrokerEpoch:    s.Entry.GetBrokerEpoch(),
			LeaderEpoch:    s.Entry.GetLeaderEpoch(),
			Lineage:        s.Entry.GetLineage(),
			BaseOffset:     s.Entry.GetBaseOffset(),
			LastOffset:     s.Entry.GetLastOffset(),
			MaxTimestampMs: s.Entry.GetMaxTimestampMs(),
			LogStartOffset: s.Entry.GetLogStartOffset(),
			LogDirId:       s.Entry.GetLogDirId(),
			SegmentBytes:   s.Entry.GetSegmentBytes(),
			Position:       math.MaxUint32,
			Length:         s.Entry.GetLength(),
			Crc32C:         s.Entry.GetCrc32C(),
		}
		pointers[i] = &entries[i]
	}
	return &framev1.FrameIndex{
		ClusterId:   id.ClusterID,
		BrokerId:    id.BrokerID,
		Incarnation: id.Incarnation,
		Entries:     pointers,
	}
}

// newHeader returns a frame's header, but for its checksum.
func newHeader(entries, index int, data uint64) (Header, error) {
	if index > MaxIndex {
		return Header{}, fmt.Errorf("index of %d entries and %d bytes, at most %d: %w", entries, index, MaxIndex, ErrTooLarge)
	}
	h := Header{IndexLength: uint32(index), DataLength: data}
	if size := h.Size(); size > MaxSize {
		return Header{}, fmt.Errorf("frame of %d entries and %d bytes, at most %d: %w", entries, size, MaxSize, ErrTooLarge)
	}
	return h, nil
}

// length returns how many bytes the entries have.
func length(index *framev1.FrameIndex) uint64 {
	n := uint64(0)
	for _, e := range index.Entries {
		n += uint64(e.Length)
	}
	return n
}

// place puts the entries back to back behind an index that ends at position.
func place(index *framev1.FrameIndex, position int64) {
	for _, e := range index.Entries {
		e.Position = uint32(position)
		position += int64(e.Length)
	}
}

// checksum returns the frame's CRC-32C, given that of its header and index.
func checksum(crc uint32, index *framev1.FrameIndex) uint32 {
	for _, e := range index.Entries {
		crc = CombineChecksums(crc, e.Crc32C, int64(e.Length))
	}
	return crc
}
