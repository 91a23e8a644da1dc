// Package hostile attacks a daemon over its own socket, as a broken or malicious local process would, and measures what
// honest copies notice of it.
package hostile

import (
	"context"
	"errors"
	"io"

	"google.golang.org/grpc"

	"github.com/walbridge/walbridge/backends"
	framev1 "github.com/walbridge/walbridge/proto/walbridge/frame/v1"
	walbridgev1 "github.com/walbridge/walbridge/proto/walbridge/v1"
)

var id16 = []byte("0123456789abcdef")

// header is that of a copy of one section of length bytes.
func header(cluster string, broker int32, length uint32) *walbridgev1.CopyLogSegmentDataRequest {
	return &walbridgev1.CopyLogSegmentDataRequest{Payload: &walbridgev1.CopyLogSegmentDataRequest_Header{
		Header: &walbridgev1.CopyHeader{
			ClusterId: cluster, BrokerId: broker, CombinedSegmentId: id16,
			Entries: []*framev1.Entry{{TopicId: id16, Topic: "orders", SegmentId: id16, LastOffset: 9, Length: length}},
		},
	}}
}

func chunk(b []byte) *walbridgev1.CopyLogSegmentDataRequest {
	return &walbridgev1.CopyLogSegmentDataRequest{Payload: &walbridgev1.CopyLogSegmentDataRequest_Chunk{Chunk: b}}
}

// HonestCopy copies b as a broker's agent does.
func HonestCopy(ctx context.Context, conn grpc.ClientConnInterface, cluster string, broker int32, b []byte) error {
	_, err := honestCopy(ctx, conn, cluster, broker, b)
	return err
}

func honestCopy(ctx context.Context, conn grpc.ClientConnInterface, cluster string, broker int32, b []byte) (
	*walbridgev1.CopyLogSegmentDataResponse, error,
) {
	stream, err := walbridgev1.NewWalServiceClient(conn).CopyLogSegmentData(ctx)
	if err != nil {
		return nil, err
	}
	trailer := &walbridgev1.CopyLogSegmentDataRequest{Payload: &walbridgev1.CopyLogSegmentDataRequest_Trailer{
		Trailer: &walbridgev1.CopyTrailer{Crc32C: []uint32{backends.Checksum(b)}},
	}}
	for _, m := range []*walbridgev1.CopyLogSegmentDataRequest{header(cluster, broker, uint32(len(b))), chunk(b), trailer} {
		if err := stream.Send(m); err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
	}
	return stream.CloseAndRecv()
}
