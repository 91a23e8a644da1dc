package server

import (
	"fmt"

	"google.golang.org/grpc"

	"github.com/walbridge/walbridge/backends"
	walbridgev1 "github.com/walbridge/walbridge/proto/walbridge/v1"
	"github.com/walbridge/walbridge/server/fetch"
	"github.com/walbridge/walbridge/server/frame"
)

// chunkBytes is the length of the chunks that reads are answered in: long enough that a message's cost does not show,
// short enough that a slow client holds little.
const chunkBytes = 256 << 10

// FetchLogSegment streams a range of one entry.
func (s *Service) FetchLogSegment(r *walbridgev1.FetchLogSegmentRequest,
	stream grpc.ServerStreamingServer[walbridgev1.FetchLogSegmentResponse],
) error {
	return toStatus(s.read(stream, r.GetExtent(), []*walbridgev1.EntryRange{r.GetRange()},
		func(_ int, chunk []byte) error {
			return stream.Send(&walbridgev1.FetchLogSegmentResponse{Chunk: chunk, Crc32C: backends.Checksum(chunk)})
		}))
}

// FetchEntries streams ranges of many entries.
func (s *Service) FetchEntries(r *walbridgev1.FetchEntriesRequest,
	stream grpc.ServerStreamingServer[walbridgev1.FetchEntriesResponse],
) error {
	return toStatus(s.read(stream, r.GetExtent(), r.GetRanges(), func(i int, chunk []byte) error {
		return stream.Send(&walbridgev1.FetchEntriesResponse{
			Range: uint32(i), Chunk: chunk, Crc32C: backends.Checksum(chunk),
		})
	}))
}

func (s *Service) read(stream grpc.ServerStream, extent []byte, ranges []*walbridgev1.EntryRange,
	send func(i int, chunk []byte) error,
) error {
	x, err := frame.ParseExtent(extent)
	if err != nil {
		return fmt.Errorf("%w: extent: %w", errInvalid, err)
	}
	if len(ranges) == 0 {
		return fmt.Errorf("%w: no range", errInvalid)
	}
	f, err := s.opts.Frames.Frame(stream.Context(), x)
	if err != nil {
		return err
	}
	// All ranges are checked before the first byte is sent.
	parts := make([][]byte, len(ranges))
	for i, r := range ranges {
		parts[i], err = fetch.Slice(f, fetch.EntryRange{
			Position: r.GetEntry().GetPosition(), Length: r.GetEntry().GetLength(),
			TopicID: r.GetTopicId(), Partition: r.GetPartition(),
			Start: r.GetStartPosition(), End: r.GetEndPosition(),
		})
		if err != nil {
			return fmt.Errorf("range %d: %w", i, err)
		}
	}
	for i, part := range parts {
		for len(part) > 0 {
			n := min(len(part), chunkBytes)
			if err := send(i, part[:n]); err != nil {
				return err
			}
			part = part[n:]
		}
	}
	return nil
}
