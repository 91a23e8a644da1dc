package frame

import (
	"errors"
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/walbridge/walbridge/backends"
	framev1 "github.com/walbridge/walbridge/proto/walbridge/frame/v1"
)

// Decode reads b, which must be one whole frame and nothing else, and verifies every byte of it. The Frame refers to b.
// It fails with a *CorruptError, or with ErrVersion where the frame asks for a newer reader. Whatever b holds, it
// allocates no more than a small multiple of b's length.
func Decode(b []byte) (*Frame, error) {
	f, err := DecodeIndex(b)
	if err != nil {
		return nil, err
	}
	switch size := f.Size(); {
	case int64(len(b)) < size:
		return nil, truncated(int64(len(b)), "%d bytes of a frame of %d", len(b), size)
	case int64(len(b)) > size:
		return nil, corrupt(size, "%d bytes behind the end of the frame", int64(len(b))-size)
	}
	f.Bytes = b
	for i, e := range f.Index.Entries {
		if got := backends.Checksum(f.Entry(i)); got != e.Crc32C {
			return nil, corrupt(int64(e.Position), "entry %d of %d (%s-%d, %d bytes): crc32c %08x, computed %08x",
				i, len(f.Index.Entries), e.Topic, e.Partition, e.Length, e.Crc32C, got)
		}
	}
	return f, nil
}

// DecodeIndex reads the header and the index that b starts with and verifies them; what follows is not looked at. The
// Frame has no Bytes. Errors are those of Decode.
func DecodeIndex(b []byte) (*Frame, error) {
	h, err := DecodeHeader(b)
	if err != nil {
		return nil, err
	}
	if int64(len(b)) < h.IndexEnd() {
		return nil, truncated(int64(len(b)), "%d bytes of an index that ends at %d", len(b), h.IndexEnd())
	}
	b = b[:h.IndexEnd()]
	if err := h.verifyIndex(b[HeaderSize:]); err != nil {
		return nil, err
	}
	index := new(framev1.FrameIndex)
	if err := unmarshalIndex(b[HeaderSize:], index); err != nil {
		return nil, corrupt(HeaderSize, "index: %v", err)
	}
	if err := checkIndex(h, index); err != nil {
		return nil, corrupt(HeaderSize, "index: %v", err)
	}
	return &Frame{Header: h, Index: index, CRC32C: checksum(backends.Checksum(b), index)}, nil
}

// verifyIndex tells whether these are the bytes of the frame's index.
func (h Header) verifyIndex(index []byte) error {
	if got := backends.Checksum(index); got != h.IndexCRC32C {
		return corrupt(HeaderSize, "index crc32c %08x, computed %08x", h.IndexCRC32C, got)
	}
	return nil
}

func unmarshalIndex(b []byte, index *framev1.FrameIndex) error {
	if err := checkShape(b); err != nil {
		return err
	}
	return proto.Unmarshal(b, index)
}

// checkIndex holds an index to the rules that Encode keeps.
func checkIndex(h Header, index *framev1.FrameIndex) error {
	id := Identity{ClusterID: index.ClusterId, BrokerID: index.BrokerId, Incarnation: index.Incarnation}
	if err := id.Validate(); err != nil {
		return err
	}
	if len(index.Entries) == 0 {
		return errors.New("no entries")
	}
	position := h.IndexEnd()
	for i, e := range index.Entries {
		if err := Validate(e); err != nil {
			return fmt.Errorf("entry %d: %w", i, err)
		}
		if int64(e.Position) != position {
			return fmt.Errorf("entry %d: position %d, but the one before ends at %d", i, e.Position, position)
		}
		if position += int64(e.Length); position > h.Size() {
			return fmt.Errorf("entry %d: ends at %d, but the frame at %d", i, position, h.Size())
		}
	}
	if position != h.Size() {
		return fmt.Errorf("entries end at %d, but the frame at %d", position, h.Size())
	}
	return nil
}
