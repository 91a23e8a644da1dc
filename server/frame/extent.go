package frame

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/walbridge/walbridge/backends"
)

// ExtentSize is the length of an extent of version 1. Extents of any version are at most MaxExtent bytes: Kafka keeps
// them in a customMetadata of at most 128 bytes.
const (
	ExtentSize = 48
	MaxExtent  = 64
)

const extentVersion = 1

// Extent says where a frame is and what its checksum is. It does not say in which zones: that goes stale when late
// zones land.
type Extent struct {
	Object   ObjectID
	Position int64  // of the frame's first byte in the object
	Length   uint32 // of the frame, in bytes
	CRC32C   uint32 // of the frame's bytes
}

// AppendBinary appends the extent's binary form to b: ExtentSize bytes. It implements encoding.BinaryAppender and fails
// with an *InvalidError where no frame can lie there.
func (e Extent) AppendBinary(b []byte) ([]byte, error) {
	if err := e.validate(); err != nil {
		return b, fmt.Errorf("extent: %w", err)
	}
	start := len(b)
	b = append(b, extentVersion, 0, 0, 0)
	b = binary.BigEndian.AppendUint32(b, uint32(e.Object.Broker))
	b = binary.BigEndian.AppendUint32(b, e.Object.Incarnation)
	b = append(b, e.Object.ULID[:]...)
	b = binary.BigEndian.AppendUint64(b, uint64(e.Position))
	b = binary.BigEndian.AppendUint32(b, e.Length)
	b = binary.BigEndian.AppendUint32(b, e.CRC32C)
	return binary.BigEndian.AppendUint32(b, backends.Checksum(b[start:])), nil
}

// ParseExtent is the inverse of AppendBinary. Any changed bit is an error; an intact extent of another version is
// ErrVersion.
func ParseExtent(b []byte) (Extent, error) {
	// The checksum ends an extent of every version, so that a changed version byte is not taken for a newer format.
	if len(b) < 5 || len(b) > MaxExtent {
		return Extent{}, fmt.Errorf("extent: %d bytes, want %d", len(b), ExtentSize)
	}
	body, sum := b[:len(b)-4], binary.BigEndian.Uint32(b[len(b)-4:])
	if got := backends.Checksum(body); got != sum {
		return Extent{}, fmt.Errorf("extent %x: crc32c %08x, computed %08x", b, sum, got)
	}
	if b[0] != extentVersion {
		return Extent{}, fmt.Errorf("extent %x: version %d: %w", b, b[0], ErrVersion)
	}
	if len(b) != ExtentSize {
		return Extent{}, fmt.Errorf("extent %x: %d bytes, want %d", b, len(b), ExtentSize)
	}
	if b[1]|b[2]|b[3] != 0 {
		return Extent{}, fmt.Errorf("extent %x: reserved bytes %x: %w", b, b[1:4], ErrVersion)
	}
	e := Extent{
		Object: ObjectID{
			Broker:      int32(binary.BigEndian.Uint32(b[4:])),
			Incarnation: binary.BigEndian.Uint32(b[8:]),
			ULID:        [16]byte(b[12:28]),
		},
		Position: int64(binary.BigEndian.Uint64(b[28:])),
		Length:   binary.BigEndian.Uint32(b[36:]),
		CRC32C:   binary.BigEndian.Uint32(b[40:]),
	}
	if err := e.validate(); err != nil {
		return Extent{}, fmt.Errorf("extent %x: %w", b, err)
	}
	return e, nil
}

func (e Extent) validate() error {
	if e.Length <= HeaderSize || e.Length > MaxSize {
		return invalid("length", "%d", e.Length, fmt.Sprintf("%d to %d", HeaderSize+1, MaxSize))
	}
	if e.Position < 0 || e.Position > math.MaxInt64-int64(e.Length) {
		return invalid("position", "%d", e.Position, "0 or more, and an end below 2^63")
	}
	return e.Object.Validate()
}

// String shows an extent to people.
func (e Extent) String() string {
	return fmt.Sprintf("%d/%010d/%s@%d+%d crc32c %08x",
		e.Object.Broker, e.Object.Incarnation, e.Object.ULID, e.Position, e.Length, e.CRC32C)
}
