// Package sourcetest makes what broker's log segments hold, for tests.
package sourcetest

import (
	"bytes"
	"encoding/binary"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/walbridge/walbridge/backends"
)

// Batch encodes a record batch of format v2, of as many records from an offset on.
func Batch(offset int64, records, leaderEpoch int32, maxTimestamp int64) []byte {
	const lengthAt, lengthFrom, crcAt, crcFrom = 8, 12, 17, 21
	b := kmsg.RecordBatch{
		FirstOffset: offset, PartitionLeaderEpoch: leaderEpoch, Magic: 2, LastOffsetDelta: records - 1,
		FirstTimestamp: 1, MaxTimestamp: maxTimestamp, ProducerID: -1, ProducerEpoch: -1, FirstSequence: -1,
		NumRecords: records, Records: bytes.Repeat([]byte{byte(offset)}, 40),
	}
	encoded := b.AppendTo(nil)
	binary.BigEndian.PutUint32(encoded[lengthAt:], uint32(len(encoded)-lengthFrom))
	binary.BigEndian.PutUint32(encoded[crcAt:], backends.Checksum(encoded[crcFrom:]))
	return encoded
}
