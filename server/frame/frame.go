package frame

import (
	"math"

	framev1 "github.com/walbridge/walbridge/proto/walbridge/frame/v1"
)

const (
	// MaxSize is the longest frame: positions in it fit Java's int.
	MaxSize = math.MaxInt32
	// MaxIndex is the longest index. An entry with a dozen leader epochs takes about 200 bytes.
	MaxIndex = 64 << 20
)

// Identity says who writes a frame.
type Identity struct {
	ClusterID   string
	BrokerID    int32
	Incarnation uint32
}

// Validate returns nil or an *InvalidError.
func (id Identity) Validate() error {
	if id.BrokerID < 0 {
		return invalid("broker id", "%d", id.BrokerID, "0 or more")
	}
	return CheckCluster(id.ClusterID)
}

// Frame is a frame, or the part of it that tells what is in the rest.
type Frame struct {
	Header Header
	// Index describes the frame. It must not be changed.
	Index *framev1.FrameIndex
	// CRC32C is the checksum of the whole frame, as its extent holds it.
	CRC32C uint32
	// Bytes is the whole frame; nil where only the index was read. It must not be changed.
	Bytes []byte
}

// Size is the frame's length in bytes.
func (f *Frame) Size() int64 { return f.Header.Size() }

// Entry returns the bytes of the i-th entry: a part of Bytes, which must be there.
func (f *Frame) Entry(i int) []byte {
	e := f.Index.Entries[i]
	end := e.Position + e.Length
	return f.Bytes[e.Position:end:end]
}

// Extent says where the frame is, given its object and the position of its first byte there.
func (f *Frame) Extent(object ObjectID, position int64) Extent {
	return Extent{Object: object, Position: position, Length: uint32(f.Size()), CRC32C: f.CRC32C}
}
