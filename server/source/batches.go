package source

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/walbridge/walbridge/backends"
	framev1 "github.com/walbridge/walbridge/proto/walbridge/frame/v1"
)

// Where the fields of a record batch of format v2 are, in bytes from its first.
const (
	lengthAt          = 8
	leaderEpochAt     = 12 // What comes before it the length does not count.
	magicAt           = 16
	crcAt             = 17
	attributesAt      = 21 // The checksum is of all from here on.
	lastOffsetDeltaAt = 23
	maxTimestampAt    = 35
	headerSize        = 61
	magicV2           = 2
)

// check makes sure that the bytes are whole record batches, with right checksums, of the entry's leader epoch, one
// after the other from its base offset to its last offset. So no byte can be another than the leader appended: those
// that no checksum covers are the offset, the length, the epoch and the format.
func check(bytes []byte, entry *framev1.Entry) (maxTimestamp int64, err error) {
	if !entry.GetRestorable() {
		return 0, errors.New("the entry does not say which record batches it has")
	}
	next, maxTimestamp := entry.GetBaseOffset(), int64(-1)
	for at := 0; at < len(bytes); {
		b := bytes[at:]
		if len(b) < headerSize {
			return 0, fmt.Errorf("the record batch at byte %d is cut off", at)
		}
		size := leaderEpochAt + int64(int32(binary.BigEndian.Uint32(b[lengthAt:])))
		base := int64(binary.BigEndian.Uint64(b))
		delta := int32(binary.BigEndian.Uint32(b[lastOffsetDeltaAt:]))
		epoch := int32(binary.BigEndian.Uint32(b[leaderEpochAt:]))
		switch {
		case b[magicAt] != magicV2:
			return 0, fmt.Errorf("the record batch at byte %d has format v%d, not v%d", at, b[magicAt], magicV2)
		case size < headerSize || size > int64(len(b)):
			return 0, fmt.Errorf("the record batch at byte %d claims %d bytes of %d", at, size, len(b))
		case base != next || delta < 0:
			return 0, fmt.Errorf("the record batch at byte %d has the offsets %d to %d, not those from %d on", at, base,
				base+int64(delta), next)
		case epoch != entry.GetLeaderEpoch():
			return 0, fmt.Errorf("the record batch at offset %d is of leader epoch %d, not %d", base, epoch,
				entry.GetLeaderEpoch())
		}
		b = b[:size]
		want := binary.BigEndian.Uint32(b[crcAt:])
		if got := backends.Checksum(b[attributesAt:]); got != want {
			return 0, fmt.Errorf("the record batch at offset %d has CRC-32C %08x, its header says %08x: %w", base, got, want,
				backends.ErrChecksum)
		}
		maxTimestamp = max(maxTimestamp, int64(binary.BigEndian.Uint64(b[maxTimestampAt:])))
		next = base + int64(delta) + 1
		at += int(size)
	}
	if next-1 != entry.GetLastOffset() {
		return 0, fmt.Errorf("the record batches end at offset %d, not %d", next-1, entry.GetLastOffset())
	}
	return maxTimestamp, nil
}
