package frame

import (
	"fmt"

	framev1 "github.com/walbridge/walbridge/proto/walbridge/frame/v1"
)

const (
	idSize   = 16  // of Kafka's UUIDs
	maxTopic = 249 // Kafka's limit, so that a partition's directory is a file name
)

// Validate returns nil where an entry may stand in a frame and an *InvalidError otherwise. It looks at everything but
// position and crc32c, which an entry gets last. Where restorable is not set the fields marked (R) mean nothing and are
// not looked at.
//
// It refuses nothing that Kafka may do: the log start offset may lie within the batches or beyond them (DeleteRecords),
// and the lineage may end before leader_epoch, or start behind batches from before message format 2.
func Validate(e *framev1.Entry) error {
	switch {
	case len(e.GetTopicId()) != idSize || [idSize]byte(e.GetTopicId()) == [idSize]byte{}:
		return invalid("topic_id", "%.32x", e.GetTopicId(), "16 bytes, not all zero")
	case !legalTopic(e.GetTopic()):
		return invalid("topic", "%.300q", e.GetTopic(), `1 to 249 of a-z A-Z 0-9 . _ -, not "." or ".."`)
	case e.GetPartition() < 0:
		return invalid("partition", "%d", e.GetPartition(), "0 or more")
	case len(e.GetSegmentId()) != idSize:
		return invalid("segment_id", "%.32x", e.GetSegmentId(), "16 bytes")
	case e.GetLength() == 0 || e.GetLength() > MaxSize:
		return invalid("length", "%d", e.GetLength(), fmt.Sprintf("1 to %d", MaxSize))
	case e.GetRestorable():
		return validateRestorable(e)
	}
	return nil
}

func validateRestorable(e *framev1.Entry) error {
	switch {
	case e.GetBrokerEpoch() < 0:
		return invalid("broker_epoch", "%d", e.GetBrokerEpoch(), "0 or more")
	case e.GetLeaderEpoch() < 0:
		return invalid("leader_epoch", "%d", e.GetLeaderEpoch(), "0 or more")
	case e.GetBaseOffset() < 0:
		return invalid("base_offset", "%d", e.GetBaseOffset(), "0 or more")
	case e.GetLastOffset() < e.GetBaseOffset():
		return invalid("last_offset", "%d", e.GetLastOffset(), fmt.Sprintf("base_offset %d or more", e.GetBaseOffset()))
	case e.GetMaxTimestampMs() < -1:
		return invalid("max_timestamp_ms", "%d", e.GetMaxTimestampMs(), "-1 or more")
	case e.GetLogStartOffset() < 0:
		return invalid("log_start_offset", "%d", e.GetLogStartOffset(), "0 or more")
	case len(e.GetLogDirId()) != idSize:
		return invalid("log_dir_id", "%.32x", e.GetLogDirId(), "16 bytes")
	case e.GetSegmentBytes() <= 0:
		return invalid("segment_bytes", "%d", e.GetSegmentBytes(), "1 or more")
	}
	return validateLineage(e)
}

// validateLineage holds a lineage against what Kafka's LeaderEpochFileCache keeps: entries ascending in both epoch and
// start offset (one that got no record is replaced by the next), never empty on a leader. An entry's batches are of one
// leader epoch, so none starts among them.
func validateLineage(e *framev1.Entry) error {
	lineage := e.GetLineage()
	if len(lineage) == 0 {
		return invalid("lineage", "%s", "empty", "at least one leader epoch")
	}
	epoch, offset := int32(-1), int64(-1)
	for i, l := range lineage {
		if l.GetEpoch() <= epoch {
			return invalid(fmt.Sprintf("lineage[%d].epoch", i), "%d", l.GetEpoch(), fmt.Sprintf("more than %d", epoch))
		}
		if l.GetStartOffset() <= offset {
			return invalid(fmt.Sprintf("lineage[%d].start_offset", i), "%d", l.GetStartOffset(),
				fmt.Sprintf("more than %d", offset))
		}
		epoch, offset = l.GetEpoch(), l.GetStartOffset()
		if offset > e.GetBaseOffset() && offset <= e.GetLastOffset() {
			return invalid(fmt.Sprintf("lineage[%d].start_offset", i), "%d", offset,
				fmt.Sprintf("none within the entry, after %d and up to %d", e.GetBaseOffset(), e.GetLastOffset()))
		}
	}
	if epoch > e.GetLeaderEpoch() {
		return invalid("last epoch of the lineage", "%d", epoch, fmt.Sprintf("leader_epoch %d or less", e.GetLeaderEpoch()))
	}
	return nil
}

func legalTopic(topic string) bool {
	if topic == "" || len(topic) > maxTopic || topic == "." || topic == ".." {
		return false
	}
	for i := range len(topic) {
		c := topic[i]
		if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '.' || c == '_' || c == '-') {
			return false
		}
	}
	return true
}
