package frame

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
)

// Field numbers of frame.proto.
const (
	fieldEntries = 4
	fieldLineage = 8
)

// The least that valid messages take. An entry has two ids, a topic, and three fields of fixed size of which the
// checksum may be 0 and absent. A leader epoch after the first of a lineage has two fields that are not 0.
const (
	minEntry      = (2 + idSize) + (2 + 1) + (2 + idSize) + 5 + 5
	minEpochStart = 2 + 2
)

// checkShape refuses an index with messages too short to be valid, before they are unmarshalled: an empty one takes two
// bytes here and a hundred times as many in memory, and a hostile index may have millions.
func checkShape(b []byte) error {
	return messages(b, fieldEntries, func(i int, entry []byte) error {
		if len(entry) < minEntry {
			return fmt.Errorf("entry %d: %d bytes, want at least %d", i, len(entry), minEntry)
		}
		return messages(entry, fieldLineage, func(j int, start []byte) error {
			if j > 0 && len(start) < minEpochStart {
				return fmt.Errorf("entry %d: lineage[%d]: %d bytes, want at least %d", i, j, len(start), minEpochStart)
			}
			return nil
		})
	})
}

// messages calls visit for every message in field want of the message b.
func messages(b []byte, want protowire.Number, visit func(i int, message []byte) error) error {
	for i := 0; len(b) > 0; {
		field, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return protowire.ParseError(n)
		}
		b = b[n:]
		if n = protowire.ConsumeFieldValue(field, kind, b); n < 0 {
			return protowire.ParseError(n)
		}
		if field == want && kind == protowire.BytesType {
			message, _ := protowire.ConsumeBytes(b)
			if err := visit(i, message); err != nil {
				return err
			}
			i++
		}
		b = b[n:]
	}
	return nil
}
