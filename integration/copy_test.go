package integration_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/walbridge/walbridge/backends"
	"github.com/walbridge/walbridge/integration/daemon"
	framev1 "github.com/walbridge/walbridge/proto/walbridge/frame/v1"
	walbridgev1 "github.com/walbridge/walbridge/proto/walbridge/v1"
)

const (
	clusterID = "kRaftClusterOfTheTests"
	brokerID  = 7
)

// section is one section of a copy: its bytes and what its entry says.
type section struct {
	entry *framev1.Entry
	bytes []byte
}

// sections makes n sections of random bytes, each of its own partition.
func sections(rnd *rand.ChaCha8, n, length int) []section {
	all := make([]section, n)
	for i := range all {
		b := make([]byte, length)
		rnd.Read(b)
		all[i] = section{bytes: b, entry: &framev1.Entry{
			TopicId: random(rnd, 16), Topic: "orders", Partition: int32(i), SegmentId: random(rnd, 16),
			Restorable: true, BrokerEpoch: 1, LeaderEpoch: 3, Lineage: []*framev1.EpochStart{{Epoch: 3}},
			BaseOffset: 10, LastOffset: 19, MaxTimestampMs: -1, LogDirId: random(rnd, 16), SegmentBytes: 1 << 20,
			Length: uint32(length),
		}}
	}
	return all
}

func random(rnd *rand.ChaCha8, n int) []byte {
	b := make([]byte, n)
	rnd.Read(b)
	return b
}

// copying is a copy that is being sent.
type copying struct {
	sections []section
	stream   walbridgev1.WalService_CopyLogSegmentDataClient
}

// startCopy sends the header of a copy and the first byte after it.
func startCopy(ctx context.Context, d *daemon.Daemon, all []section) (*copying, error) {
	stream, err := d.Client().CopyLogSegmentData(ctx)
	if err != nil {
		return nil, err
	}
	header := &walbridgev1.CopyHeader{ClusterId: clusterID, BrokerId: brokerID, CombinedSegmentId: make([]byte, 16)}
	for _, s := range all {
		header.Entries = append(header.Entries, s.entry)
	}
	c := &copying{sections: all, stream: stream}
	err = stream.Send(&walbridgev1.CopyLogSegmentDataRequest{
		Payload: &walbridgev1.CopyLogSegmentDataRequest_Header{Header: header},
	})
	if err == nil {
		err = c.chunk(all[0].bytes[:1])
	}
	if errors.Is(err, io.EOF) {
		err = nil // Refused already; the answer says why.
	}
	return c, err
}

// finish sends the rest and returns the answer.
func (c *copying) finish() (*walbridgev1.CopyLogSegmentDataResponse, error) {
	trailer := &walbridgev1.CopyTrailer{}
	var rest []byte
	for _, s := range c.sections {
		rest = append(rest, s.bytes...)
		trailer.Crc32C = append(trailer.Crc32C, backends.Checksum(s.bytes))
	}
	// Chunks know no sections.
	for rest = rest[1:]; len(rest) > 0; rest = rest[min(len(rest), 64<<10):] {
		if err := c.chunk(rest[:min(len(rest), 64<<10)]); err != nil {
			break // CloseAndRecv says why.
		}
	}
	err := c.stream.Send(&walbridgev1.CopyLogSegmentDataRequest{
		Payload: &walbridgev1.CopyLogSegmentDataRequest_Trailer{Trailer: trailer},
	})
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return c.stream.CloseAndRecv()
}

func (c *copying) chunk(b []byte) error {
	return c.stream.Send(&walbridgev1.CopyLogSegmentDataRequest{
		Payload: &walbridgev1.CopyLogSegmentDataRequest_Chunk{Chunk: b},
	})
}

// copyAll copies the sections.
func copyAll(ctx context.Context, d *daemon.Daemon, all []section) (*walbridgev1.CopyLogSegmentDataResponse, error) {
	c, err := startCopy(ctx, d, all)
	if err != nil {
		return nil, err
	}
	return c.finish()
}

// checkFetch reads every section back, and compares: whole, and in part with all others in one call.
func checkFetch(ctx context.Context, t *testing.T, d *daemon.Daemon, all []section,
	copied *walbridgev1.CopyLogSegmentDataResponse,
) {
	t.Helper()
	var ranges []*walbridgev1.EntryRange
	for i, s := range all {
		whole := &walbridgev1.EntryRange{
			Entry: copied.Entries[i], TopicId: s.entry.TopicId, Partition: s.entry.Partition, EndPosition: 1 << 40,
		}
		got, err := fetch(ctx, d, copied.Extent, whole)
		if err != nil || !bytes.Equal(got, s.bytes) {
			t.Errorf("section %d: fetched %d bytes, not the %d copied (%v)", i, len(got), len(s.bytes), err)
		}
		ranges = append(ranges, &walbridgev1.EntryRange{
			Entry: copied.Entries[i], StartPosition: int64(i), EndPosition: int64(len(s.bytes) / 2),
		})
	}
	parts, err := fetchEntries(ctx, d, copied.Extent, ranges)
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range all {
		if !bytes.Equal(parts[i], s.bytes[i:len(s.bytes)/2+1]) {
			t.Errorf("section %d: a part of it is not what was copied", i)
		}
	}
}

func fetch(ctx context.Context, d *daemon.Daemon, extent []byte, r *walbridgev1.EntryRange) ([]byte, error) {
	stream, err := d.Client().FetchLogSegment(ctx, &walbridgev1.FetchLogSegmentRequest{Extent: extent, Range: r})
	var got []byte
	for err == nil {
		var m *walbridgev1.FetchLogSegmentResponse
		if m, err = stream.Recv(); err == nil {
			got, err = append(got, m.Chunk...), checkChunk(m.Chunk, m.Crc32C)
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return got, err
}

func fetchEntries(ctx context.Context, d *daemon.Daemon, extent []byte, ranges []*walbridgev1.EntryRange) (
	[][]byte, error,
) {
	stream, err := d.Client().FetchEntries(ctx, &walbridgev1.FetchEntriesRequest{Extent: extent, Ranges: ranges})
	got := make([][]byte, len(ranges))
	for err == nil {
		var m *walbridgev1.FetchEntriesResponse
		if m, err = stream.Recv(); err == nil {
			got[m.Range], err = append(got[m.Range], m.Chunk...), checkChunk(m.Chunk, m.Crc32C)
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return got, err
}

func checkChunk(chunk []byte, crc uint32) error {
	if sum := backends.Checksum(chunk); sum != crc {
		return fmt.Errorf("chunk with checksum %08x, not %08x", sum, crc)
	}
	return nil
}

// newRand is seeded by WALBRIDGE_SEED, or anew.
func newRand(t *testing.T) *rand.ChaCha8 {
	t.Helper()
	seed := rand.Uint64()
	if given := os.Getenv("WALBRIDGE_SEED"); given != "" {
		var err error
		if seed, err = strconv.ParseUint(given, 10, 64); err != nil {
			t.Fatalf("WALBRIDGE_SEED: %v", err)
		}
	}
	t.Logf("WALBRIDGE_SEED=%d", seed)
	var key [32]byte
	copy(key[:], strconv.FormatUint(seed, 10))
	return rand.NewChaCha8(key)
}
