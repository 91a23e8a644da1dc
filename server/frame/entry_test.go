package frame

import (
	"errors"
	"math"
	"strings"
	"testing"

	framev1 "github.com/walbridge/walbridge/proto/walbridge/frame/v1"
)

func lineage(pairs ...int64) []*framev1.EpochStart {
	var l []*framev1.EpochStart
	for i := 0; i < len(pairs); i += 2 {
		l = append(l, &framev1.EpochStart{Epoch: int32(pairs[i]), StartOffset: pairs[i+1]})
	}
	return l
}

func TestValidateNamesTheField(t *testing.T) {
	for _, c := range []struct {
		field string
		wrong func(e *framev1.Entry)
	}{
		{"topic_id", func(e *framev1.Entry) { e.TopicId = nil }},
		{"topic_id", func(e *framev1.Entry) { e.TopicId = make([]byte, 17) }},
		{"topic_id", func(e *framev1.Entry) { e.TopicId = make([]byte, 16) }},
		{"topic", func(e *framev1.Entry) { e.Topic = "" }},
		{"topic", func(e *framev1.Entry) { e.Topic = "." }},
		{"topic", func(e *framev1.Entry) { e.Topic = ".." }},
		{"topic", func(e *framev1.Entry) { e.Topic = "a/b" }},
		{"topic", func(e *framev1.Entry) { e.Topic = "é" }},
		{"topic", func(e *framev1.Entry) { e.Topic = strings.Repeat("t", 250) }},
		{"partition", func(e *framev1.Entry) { e.Partition = -1 }},
		{"segment_id", func(e *framev1.Entry) { e.SegmentId = e.SegmentId[1:] }},
		{"length", func(e *framev1.Entry) { e.Length = 0 }},
		{"length", func(e *framev1.Entry) { e.Length = 1 << 31 }},
		{"broker_epoch", func(e *framev1.Entry) { e.BrokerEpoch = -1 }},
		{"leader_epoch", func(e *framev1.Entry) { e.LeaderEpoch = -1 }},
		{"base_offset", func(e *framev1.Entry) { e.BaseOffset = -1 }},
		{"last_offset", func(e *framev1.Entry) { e.LastOffset = e.BaseOffset - 1 }},
		{"max_timestamp_ms", func(e *framev1.Entry) { e.MaxTimestampMs = -2 }},
		{"log_start_offset", func(e *framev1.Entry) { e.LogStartOffset = -1 }},
		{"log_dir_id", func(e *framev1.Entry) { e.LogDirId = nil }},
		{"segment_bytes", func(e *framev1.Entry) { e.SegmentBytes = 0 }},
		{"lineage", func(e *framev1.Entry) { e.Lineage = nil }},
		{"lineage[0].epoch", func(e *framev1.Entry) { e.Lineage = lineage(-1, 0) }},
		{"lineage[0].start_offset", func(e *framev1.Entry) { e.Lineage = lineage(0, -1) }},
		{"lineage[1].epoch", func(e *framev1.Entry) { e.Lineage = lineage(3, 0, 3, 7) }},
		{"lineage[1].start_offset", func(e *framev1.Entry) { e.Lineage = lineage(3, 7, 4, 7) }},
		{"lineage[1].start_offset", func(e *framev1.Entry) { e.Lineage = lineage(3, 7, 4, e.BaseOffset+1) }},
		{"lineage[1].start_offset", func(e *framev1.Entry) { e.Lineage = lineage(3, 7, 4, e.LastOffset) }},
		{"last epoch of the lineage", func(e *framev1.Entry) { e.Lineage = lineage(int64(e.LeaderEpoch)+1, 7) }},
	} {
		e := sampleSections()[0].Entry
		c.wrong(e)
		err := Validate(e)
		if invalid, ok := errors.AsType[*InvalidError](err); !ok || invalid.Field != c.field {
			t.Errorf("Validate = %v, want an *InvalidError for %s", err, c.field)
		}
	}
	if err := Validate(nil); err == nil {
		t.Error("Validate accepts no entry")
	}
}

func TestValidateAcceptsWhatKafkaMayDo(t *testing.T) {
	for name, change := range map[string]func(e *framev1.Entry){
		"as it is":                         func(*framev1.Entry) {},
		"before its place is known":        func(e *framev1.Entry) { e.Position, e.Crc32C = 0, 0 },
		"longest topic":                    func(e *framev1.Entry) { e.Topic = strings.Repeat("t", 249) },
		"dots":                             func(e *framev1.Entry) { e.Topic = "..." },
		"one record":                       func(e *framev1.Entry) { e.LastOffset = e.BaseOffset },
		"no timestamp":                     func(e *framev1.Entry) { e.MaxTimestampMs = -1 },
		"log start within the batches":     func(e *framev1.Entry) { e.LogStartOffset = e.BaseOffset + 1 },
		"log start beyond the batches":     func(e *framev1.Entry) { e.LogStartOffset = e.LastOffset + 100 },
		"epoch starts with the batches":    func(e *framev1.Entry) { e.Lineage = lineage(5, e.BaseOffset) },
		"lineage ends before leader_epoch": func(e *framev1.Entry) { e.LeaderEpoch = 9 },
		"batches of an earlier epoch":      func(e *framev1.Entry) { e.Lineage = lineage(2, 0, 5, e.LastOffset+1) },
		"batches older than leader epochs": func(e *framev1.Entry) { e.Lineage = lineage(5, e.LastOffset+1) },
		"last offset there can be":         func(e *framev1.Entry) { e.LastOffset = math.MaxInt64 },
		"not restorable": func(e *framev1.Entry) {
			*e = framev1.Entry{TopicId: e.TopicId, Topic: e.Topic, SegmentId: e.SegmentId, Length: e.Length}
		},
	} {
		e := sampleSections()[0].Entry
		change(e)
		if err := Validate(e); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
