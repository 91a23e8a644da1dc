package frame

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	framev1 "github.com/walbridge/walbridge/proto/walbridge/frame/v1"
)

var update = flag.Bool("update", false, "write the golden vectors, the fuzz seeds and the example of docs/format.md")

// golden holds the vectors, which other languages read too: checksums and bytes in hex, everything else in decimal.
const golden = "../../proto/walbridge/frame/v1/testdata"

type goldenExtent struct {
	Hex         string `json:"hex"`
	Cluster     string `json:"cluster"`
	Object      string `json:"object"`
	Broker      int32  `json:"broker"`
	Incarnation uint32 `json:"incarnation"`
	ULID        string `json:"ulid"`
	Position    int64  `json:"position"`
	Length      uint32 `json:"length"`
	CRC32C      string `json:"crc32c"`
}

type goldenFrame struct {
	Size        int64         `json:"size"`
	CRC32C      string        `json:"crc32c"`
	IndexLength uint32        `json:"index_length"`
	IndexCRC32C string        `json:"index_crc32c"`
	DataLength  uint64        `json:"data_length"`
	ClusterID   string        `json:"cluster_id"`
	BrokerID    int32         `json:"broker_id"`
	Incarnation uint32        `json:"incarnation"`
	Entries     []goldenEntry `json:"entries"`
}

type goldenEntry struct {
	TopicID        string        `json:"topic_id"`
	Topic          string        `json:"topic"`
	Partition      int32         `json:"partition"`
	SegmentID      string        `json:"segment_id"`
	Restorable     bool          `json:"restorable"`
	BrokerEpoch    int64         `json:"broker_epoch"`
	LeaderEpoch    int32         `json:"leader_epoch"`
	Lineage        []goldenStart `json:"lineage"`
	BaseOffset     int64         `json:"base_offset"`
	LastOffset     int64         `json:"last_offset"`
	MaxTimestampMs int64         `json:"max_timestamp_ms"`
	LogStartOffset int64         `json:"log_start_offset"`
	LogDirID       string        `json:"log_dir_id"`
	SegmentBytes   int32         `json:"segment_bytes"`
	Position       uint32        `json:"position"`
	Length         uint32        `json:"length"`
	CRC32C         string        `json:"crc32c"`
	Bytes          string        `json:"bytes"`
}

type goldenStart struct {
	Epoch       int32 `json:"epoch"`
	StartOffset int64 `json:"start_offset"`
}

func describeExtent(b []byte, e Extent) goldenExtent {
	return goldenExtent{
		Hex:         hex.EncodeToString(b),
		Cluster:     sampleIdentity.ClusterID,
		Object:      e.Object.Name(sampleIdentity.ClusterID),
		Broker:      e.Object.Broker,
		Incarnation: e.Object.Incarnation,
		ULID:        e.Object.ULID.String(),
		Position:    e.Position,
		Length:      e.Length,
		CRC32C:      crcText(e.CRC32C),
	}
}

func describeFrame(f *Frame) goldenFrame {
	g := goldenFrame{
		Size:        f.Size(),
		CRC32C:      crcText(f.CRC32C),
		IndexLength: f.Header.IndexLength,
		IndexCRC32C: crcText(f.Header.IndexCRC32C),
		DataLength:  f.Header.DataLength,
		ClusterID:   f.Index.ClusterId,
		BrokerID:    f.Index.BrokerId,
		Incarnation: f.Index.Incarnation,
	}
	for i, e := range f.Index.Entries {
		g.Entries = append(g.Entries, describeEntry(e, f.Entry(i)))
	}
	return g
}

func describeEntry(e *framev1.Entry, data []byte) goldenEntry {
	g := goldenEntry{
		TopicID:        hex.EncodeToString(e.TopicId),
		Topic:          e.Topic,
		Partition:      e.Partition,
		SegmentID:      hex.EncodeToString(e.SegmentId),
		Restorable:     e.Restorable,
		BrokerEpoch:    e.BrokerEpoch,
		LeaderEpoch:    e.LeaderEpoch,
		Lineage:        []goldenStart{},
		BaseOffset:     e.BaseOffset,
		LastOffset:     e.LastOffset,
		MaxTimestampMs: e.MaxTimestampMs,
		LogStartOffset: e.LogStartOffset,
		LogDirID:       hex.EncodeToString(e.LogDirId),
		SegmentBytes:   e.SegmentBytes,
		Position:       e.Position,
		Length:         e.Length,
		CRC32C:         crcText(e.Crc32C),
		Bytes:          hex.EncodeToString(data),
	}
	for _, l := range e.Lineage {
		g.Lineage = append(g.Lineage, goldenStart{l.Epoch, l.StartOffset})
	}
	return g
}

func TestGoldenFrame(t *testing.T) {
	encoded := sampleFrame(t)
	checkGolden(t, golden+"/frame.bin", encoded.Bytes)
	checkGolden(t, golden+"/frame.json", indented(t, describeFrame(encoded)))

	decoded, err := Decode(read(t, golden+"/frame.bin"))
	if err != nil {
		t.Fatal(err)
	}
	checkSame(t, decoded, encoded)
}

func TestGoldenExtent(t *testing.T) {
	want := sampleFrame(t).Extent(sampleObject, 4096)
	checkGolden(t, golden+"/extent.json", indented(t, describeExtent(marshal(t, want), want)))

	var stored goldenExtent
	if err := json.Unmarshal(read(t, golden+"/extent.json"), &stored); err != nil {
		t.Fatal(err)
	}
	if got, err := ParseExtent(unhex(stored.Hex)); got != want || err != nil {
		t.Errorf("ParseExtent = %v, %v, want %v", got, err, want)
	}
	if cluster, id, err := ParseName(stored.Object); cluster != stored.Cluster || id != want.Object || err != nil {
		t.Errorf("ParseName = %q, %v, %v", cluster, id, err)
	}
}

// checkGolden compares a committed file with what the code makes today.
func checkGolden(t *testing.T, path string, want []byte) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got := read(t, path); !bytes.Equal(got, want) {
		t.Errorf("%s is not what the code makes; if that is meant, run go test ./server/frame -update:\n%s",
			path, cmp.Diff(string(got), string(want)))
	}
}

func read(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func indented(t *testing.T, v any) []byte {
	t.Helper()
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return append(b, '\n')
}

func crcText(crc uint32) string { return fmt.Sprintf("%08x", crc) }

func unhex(s string) []byte {
	b, err := hex.DecodeString(s)
	if err != nil {
		panic(err)
	}
	return b
}
