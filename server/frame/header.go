package frame

import (
	"encoding/binary"
	"fmt"

	"github.com/walbridge/walbridge/backends"
)

// HeaderSize is the length of a frame's header, in bytes, in every version of the format.
const HeaderSize = 32

const (
	magic   = "WBFR"
	version = 1
)

// Header is a frame's header: what a reader must know to read the rest.
type Header struct {
	IndexLength uint32
	IndexCRC32C uint32
	DataLength  uint64
}

// IndexEnd is how many bytes of the frame its header and index take; the entries' bytes start there.
func (h Header) IndexEnd() int64 { return HeaderSize + int64(h.IndexLength) }

// Size is the length of the whole frame.
func (h Header) Size() int64 { return h.IndexEnd() + int64(h.DataLength) }

func (h Header) append(b []byte) []byte {
	start := len(b)
	b = append(b, magic...)
	b = append(b, version, 0, 0, 0) // no flags, reserved
	b = binary.BigEndian.AppendUint32(b, h.IndexLength)
	b = binary.BigEndian.AppendUint32(b, h.IndexCRC32C)
	b = binary.BigEndian.AppendUint64(b, h.DataLength)
	b = binary.BigEndian.AppendUint32(b, 0) // reserved
	return binary.BigEndian.AppendUint32(b, backends.Checksum(b[start:]))
}

// DecodeHeader reads the header that b starts with. It fails with a *CorruptError, or with ErrVersion where the header
// is intact but asks for a newer reader. The lengths it returns are within MaxIndex and MaxSize.
func DecodeHeader(b []byte) (Header, error) {
	if len(b) < HeaderSize {
		return Header{}, truncated(int64(len(b)), "%d bytes of a header of %d", len(b), HeaderSize)
	}
	b = b[:HeaderSize]
	if string(b[:4]) != magic {
		return Header{}, corrupt(0, "no frame starts here: magic %x, want %x (%q)", b[:4], magic, magic)
	}
	// The checksum comes before the version: a changed version byte is damage, not a newer format.
	if sum, got := binary.BigEndian.Uint32(b[28:]), backends.Checksum(b[:28]); sum != got {
		return Header{}, corrupt(0, "header crc32c %08x, computed %08x", sum, got)
	}
	if b[4] != version {
		return Header{}, fmt.Errorf("frame: version %d: %w", b[4], ErrVersion)
	}
	if b[5]|b[6]|b[7] != 0 || binary.BigEndian.Uint32(b[24:]) != 0 {
		return Header{}, fmt.Errorf("frame: flags %02x, reserved %x %x: %w", b[5], b[6:8], b[24:28], ErrVersion)
	}
	h := Header{
		IndexLength: binary.BigEndian.Uint32(b[8:]),
		IndexCRC32C: binary.BigEndian.Uint32(b[12:]),
		DataLength:  binary.BigEndian.Uint64(b[16:]),
	}
	if h.IndexLength > MaxIndex {
		return Header{}, corrupt(8, "index of %d bytes, at most %d", h.IndexLength, MaxIndex)
	}
	if h.DataLength > uint64(MaxSize-h.IndexEnd()) {
		return Header{}, corrupt(16, "index of %d and data of %d bytes, a frame has at most %d",
			h.IndexLength, h.DataLength, MaxSize)
	}
	return h, nil
}
