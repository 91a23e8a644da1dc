package frame

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/oklog/ulid/v2"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"

	"github.com/walbridge/walbridge/backends"
	framev1 "github.com/walbridge/walbridge/proto/walbridge/frame/v1"
)

// The sample is also what the golden vectors hold, so that a change here shows there.
var (
	sampleIdentity = Identity{ClusterID: "5L6g3nShT-eMCtK--X86sw", BrokerID: 1, Incarnation: 7}
	sampleObject   = ObjectID{Broker: 1, Incarnation: 7, ULID: ulid.MustParseStrict("01M8PCG6H3E9J2M6N0PR4TVWXY")}
)

// sampleSections are a section with every field set, its bytes in two chunks, and one that is not restorable.
func sampleSections() []Section {
	return []Section{
		section(&framev1.Entry{
			TopicId:     unhex("6ba7b8109dad41d180b400c04fd430c8"),
			Topic:       "orders",
			Partition:   3,
			SegmentId:   unhex("0f8fad5bd9cb469fa16570867728950e"),
			Restorable:  true,
			BrokerEpoch: 4711,
			LeaderEpoch: 5,
			Lineage: []*framev1.EpochStart{
				{Epoch: 0, StartOffset: 0},
				{Epoch: 2, StartOffset: 640},
				{Epoch: 5, StartOffset: 1000},
			},
			BaseOffset:     1024,
			LastOffset:     1029,
			MaxTimestampMs: 1796040000123,
			LogStartOffset: 512,
			LogDirId:       unhex("16fd2706baf54b82b2d1c4a4a1c7e7a0"),
			SegmentBytes:   1 << 30,
		}, []byte("six records "), []byte("of orders-3")),
		section(&framev1.Entry{
			TopicId:   unhex("7d444840cdc111e9b1a10242ac120002"),
			Topic:     "audit.log",
			SegmentId: unhex("886313e13b8a53729b900c9aee199e5d"),
		}, []byte("some records")),
	}
}

// section completes e with what follows from its bytes.
func section(e *framev1.Entry, chunks ...[]byte) Section {
	for _, c := range chunks {
		e.Length += uint32(len(c))
		e.Crc32C = backends.UpdateChecksum(e.Crc32C, c)
	}
	return Section{Entry: e, Chunks: chunks}
}

func sampleFrame(t testing.TB) *Frame {
	t.Helper()
	f, err := Encode(sampleIdentity, sampleSections())
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// seal puts the header before an index and data that may be anything.
func seal(index, data []byte) []byte {
	h := Header{
		IndexLength: uint32(len(index)),
		IndexCRC32C: backends.Checksum(index),
		DataLength:  uint64(len(data)),
	}
	return append(append(h.append(nil), index...), data...)
}

// resealHeader makes the header's checksum right again after b was changed.
func resealHeader(b []byte) []byte {
	binary.BigEndian.PutUint32(b[28:], backends.Checksum(b[:28]))
	return b
}

// object reads from b as a store would.
func object(b []byte) ReadFunc {
	return func(p []byte, off int64, _ func([]byte) error) error {
		if off > int64(len(b)) || int64(len(p)) > int64(len(b))-off {
			return backends.ErrRange
		}
		copy(p, b[off:])
		return nil
	}
}

// random returns a source whose seed is printed where the test fails and can be given in WALBRIDGE_SEED.
func random(t *testing.T) *rand.Rand {
	t.Helper()
	seed := uint64(time.Now().UnixNano())
	if s := os.Getenv("WALBRIDGE_SEED"); s != "" {
		var err error
		if seed, err = strconv.ParseUint(s, 10, 64); err != nil {
			t.Fatalf("WALBRIDGE_SEED: %v", err)
		}
	}
	t.Logf("WALBRIDGE_SEED=%d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

func randomBytes(rnd *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rnd.Uint32())
	}
	return b
}

// randomSection is valid, restorable, and of 1 to maxLength bytes in up to 4 chunks.
func randomSection(rnd *rand.Rand, maxLength int) Section {
	e := &framev1.Entry{
		TopicId:        append([]byte{1}, randomBytes(rnd, idSize-1)...),
		Topic:          "topic-" + strconv.Itoa(rnd.IntN(1000)),
		Partition:      rnd.Int32N(10000),
		SegmentId:      randomBytes(rnd, idSize),
		Restorable:     true,
		BrokerEpoch:    rnd.Int64(),
		MaxTimestampMs: rnd.Int64N(1<<50) - 1,
		LogStartOffset: rnd.Int64(),
		LogDirId:       randomBytes(rnd, idSize),
		SegmentBytes:   1 + rnd.Int32N(1<<30),
	}
	for range 1 + rnd.IntN(5) {
		e.Lineage = append(e.Lineage, &framev1.EpochStart{Epoch: e.LeaderEpoch, StartOffset: e.BaseOffset})
		e.LeaderEpoch += 1 + rnd.Int32N(10)
		e.BaseOffset += 1 + rnd.Int64N(1<<40)
	}
	e.LastOffset = e.BaseOffset + rnd.Int64N(1000)

	data := randomBytes(rnd, 1+rnd.IntN(maxLength))
	var chunks [][]byte
	for range rnd.IntN(4) {
		n := rnd.IntN(len(data) + 1)
		chunks = append(chunks, data[:n])
		data = data[n:]
	}
	return section(e, append(chunks, data)...)
}

func joined(s Section) []byte { return bytes.Join(s.Chunks, nil) }

// checkSame compares a frame with the one it should be.
func checkSame(t *testing.T, got, want *Frame) {
	t.Helper()
	if got.Header != want.Header || got.CRC32C != want.CRC32C || !bytes.Equal(got.Bytes, want.Bytes) {
		t.Fatalf("%+v crc32c %08x %x, want %+v crc32c %08x %x",
			got.Header, got.CRC32C, got.Bytes, want.Header, want.CRC32C, want.Bytes)
	}
	if !proto.Equal(got.Index, want.Index) {
		t.Fatalf("index, want -, got +:\n%s", cmp.Diff(want.Index, got.Index, protocmp.Transform()))
	}
}
