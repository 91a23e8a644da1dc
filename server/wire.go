package server

import (
	"fmt"
	"slices"

	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"
	pb "google.golang.org/protobuf/proto"

	walbridgev1 "github.com/walbridge/walbridge/proto/walbridge/v1"
)

// wire is a CopyLogSegmentDataRequest as it came in. Nearly every byte that the daemon receives is in a chunk; decoded
// in the ordinary way it would be copied twice before the frame's encoder copies it (ADR 2).
type wire struct {
	data mem.BufferSlice
}

// codec is gRPC's own for protobuf, but for a *wire, which it only hands over.
type codec struct {
	encoding.CodecV2
}

func newCodec() codec { return codec{encoding.GetCodecV2(proto.Name)} }

// Unmarshal implements encoding.CodecV2.
func (c codec) Unmarshal(data mem.BufferSlice, v any) error {
	w, ok := v.(*wire)
	if !ok {
		return c.CodecV2.Unmarshal(data, v)
	}
	// They are freed when the copy is stored, see copy.
	data.Ref()
	w.data = slices.Clone(data)
	return nil
}

// shortPiece is the length up to which a piece is copied, so that it does not hold a much longer buffer.
const shortPiece = 4 << 10

// chunkNumber is the number of the field `chunk`.
var chunkNumber = (&walbridgev1.CopyLogSegmentDataRequest{}).ProtoReflect().Descriptor().Fields().ByName("chunk").Number()

// chunk returns the pieces of a chunk's bytes, or false where the request is not a chunk. After it data is only what the
// pieces are in; the rest is freed.
func (w *wire) chunk() (pieces [][]byte, ok bool) {
	const longest = 1 + 10 // the tag and a varint
	head := make([]byte, min(longest, w.data.Len()))
	w.data.CopyTo(head)
	number, kind, tag := protowire.ConsumeTag(head)
	if tag < 0 || number != chunkNumber || kind != protowire.BytesType {
		return nil, false
	}
	length, n := protowire.ConsumeVarint(head[tag:])
	// An empty chunk is no chunk: whoever sends them without end would be held by nothing but the copy's timeout.
	if n < 0 || length == 0 || uint64(tag+n)+length != uint64(w.data.Len()) {
		return nil, false
	}
	skip := tag + n
	var held mem.BufferSlice
	for _, b := range w.data {
		p := b.ReadOnlyData()
		k := min(skip, len(p))
		p, skip = p[k:], skip-k
		if len(p) <= shortPiece {
			p = slices.Clone(p)
			b.Free()
		} else {
			held = append(held, b)
		}
		pieces = append(pieces, p)
	}
	w.data = held
	return pieces, true
}

// message decodes a request that is not a chunk.
func (w *wire) message() (*walbridgev1.CopyLogSegmentDataRequest, error) {
	m := &walbridgev1.CopyLogSegmentDataRequest{}
	b := w.data.Materialize()
	w.data.Free()
	if err := pb.Unmarshal(b, m); err != nil {
		return nil, fmt.Errorf("%w: %w", errInvalid, err)
	}
	return m, nil
}
