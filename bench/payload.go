package main

import (
	"context"
	"crypto/rand"
	"slices"

	"google.golang.org/grpc"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"

	"github.com/walbridge/walbridge/backends"
	framev1 "github.com/walbridge/walbridge/proto/walbridge/frame/v1"
	walbridgev1 "github.com/walbridge/walbridge/proto/walbridge/v1"
)

// payload is one copy, ready to be sent many times: as messages, and as these are on the wire.
type payload struct {
	messages []*walbridgev1.CopyLogSegmentDataRequest
	encoded  []encodedMessage
	bytes    int
}

const chunkBytes = 256 << 10

// newPayload makes a copy of size bytes in as many entries, each of another partition.
func newPayload(size, entries int) (payload, error) {
	data := make([]byte, size)
	_, _ = rand.Read(data) // It never fails.
	id := make([]byte, 16)
	_, _ = rand.Read(id)
	h := &walbridgev1.CopyHeader{ClusterId: clusterID, BrokerId: brokerID, CombinedSegmentId: id}
	t := &walbridgev1.CopyTrailer{}
	for i := range entries {
		section := data[i*size/entries : (i+1)*size/entries]
		h.Entries = append(h.Entries, &framev1.Entry{
			TopicId: id, Topic: "bench", Partition: int32(i), SegmentId: id, Restorable: true, LeaderEpoch: 3,
			Lineage: []*framev1.EpochStart{{Epoch: 3}}, BaseOffset: 100, LastOffset: 109, MaxTimestampMs: 1,
			LogDirId: id, SegmentBytes: 1 << 30, Length: uint32(len(section)),
		})
		t.Crc32C = append(t.Crc32C, backends.Checksum(section))
	}
	m := []*walbridgev1.CopyLogSegmentDataRequest{{Payload: &walbridgev1.CopyLogSegmentDataRequest_Header{Header: h}}}
	for chunk := range slices.Chunk(data, chunkBytes) {
		m = append(m, &walbridgev1.CopyLogSegmentDataRequest{
			Payload: &walbridgev1.CopyLogSegmentDataRequest_Chunk{Chunk: chunk},
		})
	}
	m = append(m, &walbridgev1.CopyLogSegmentDataRequest{
		Payload: &walbridgev1.CopyLogSegmentDataRequest_Trailer{Trailer: t},
	})
	p := payload{messages: m, bytes: size}
	for _, m := range p.messages {
		b, err := proto.Marshal(m)
		if err != nil {
			return payload{}, err
		}
		p.encoded = append(p.encoded, b)
	}
	return p, nil
}

// copy sends the payload as any gRPC client does.
func (s *stack) copy(ctx context.Context, p payload) error {
	stream, err := s.client.CopyLogSegmentData(ctx)
	if err != nil {
		return err
	}
	for _, m := range p.messages {
		if stream.Send(m) != nil {
			break // It is io.EOF; the real one comes with the answer.
		}
	}
	_, err = stream.CloseAndRecv()
	return err
}

// copyEncoded sends the payload as it was encoded beforehand. To encode 256 KiB, gRPC's Go client clears a buffer of
// 1 MiB first; the broker's client does nothing of the kind, and where times are measured they are to be the daemon's.
func (s *stack) copyEncoded(ctx context.Context, p payload) (*walbridgev1.CopyLogSegmentDataResponse, error) {
	stream, err := s.conn.NewStream(ctx, &grpc.StreamDesc{ClientStreams: true},
		walbridgev1.WalService_CopyLogSegmentData_FullMethodName, grpc.ForceCodecV2(encodedCodec{encoding.GetCodecV2("proto")}))
	if err != nil {
		return nil, err
	}
	for _, m := range p.encoded {
		if stream.SendMsg(m) != nil {
			break
		}
	}
	if err := stream.CloseSend(); err != nil {
		return nil, err
	}
	response := &walbridgev1.CopyLogSegmentDataResponse{}
	return response, stream.RecvMsg(response)
}

type encodedMessage []byte

// encodedCodec is gRPC's own, but for an encodedMessage, which it sends as it is.
type encodedCodec struct{ encoding.CodecV2 }

func (c encodedCodec) Marshal(v any) (mem.BufferSlice, error) {
	if b, ok := v.(encodedMessage); ok {
		return mem.BufferSlice{mem.SliceBuffer(b)}, nil
	}
	return c.CodecV2.Marshal(v)
}
