package server

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"google.golang.org/grpc/mem"
	pb "google.golang.org/protobuf/proto"

	walbridgev1 "github.com/walbridge/walbridge/proto/walbridge/v1"
)

// split cuts b into buffers, as a transport may.
func split(r *rand.Rand, b []byte) (s mem.BufferSlice) {
	for len(b) > 0 {
		n := 1 + r.IntN(min(len(b), 1+r.IntN(20_000)))
		s = append(s, mem.SliceBuffer(b[:n]))
		b = b[n:]
	}
	return s
}

// However a request comes in, its pieces are its chunk, and what is no chunk is decoded as ever.
func TestWire(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 0))
		chunk := make([]byte, 1+r.IntN(100_000))
		for i := range chunk {
			chunk[i] = byte(r.Uint32())
		}
		b, err := pb.Marshal(&walbridgev1.CopyLogSegmentDataRequest{
			Payload: &walbridgev1.CopyLogSegmentDataRequest_Chunk{Chunk: chunk},
		})
		if err != nil {
			t.Fatal(err)
		}
		var w wire
		if err := newCodec().Unmarshal(split(r, b), &w); err != nil {
			t.Fatal(err)
		}
		pieces, ok := w.chunk()
		if !ok || !bytes.Equal(bytes.Join(pieces, nil), chunk) {
			t.Fatalf("seed %d: a chunk of %d bytes came out as %v, %d bytes", seed, len(chunk), ok, len(bytes.Join(pieces, nil)))
		}
		want := &walbridgev1.CopyLogSegmentDataRequest{
			Payload: &walbridgev1.CopyLogSegmentDataRequest_Trailer{Trailer: &walbridgev1.CopyTrailer{Crc32C: []uint32{r.Uint32()}}},
		}
		if b, err = pb.Marshal(want); err != nil {
			t.Fatal(err)
		}
		w = wire{data: split(r, b)}
		if _, ok := w.chunk(); ok {
			t.Fatalf("seed %d: a trailer was taken for a chunk", seed)
		}
		if got, err := w.message(); err != nil || !pb.Equal(got, want) {
			t.Fatalf("seed %d: got %v, %v", seed, got, err)
		}
	}
}

// FuzzWire: any bytes are a chunk only where protobuf says the same, and never a panic.
func FuzzWire(f *testing.F) {
	for _, m := range []*walbridgev1.CopyLogSegmentDataRequest{
		{},
		{Payload: &walbridgev1.CopyLogSegmentDataRequest_Chunk{Chunk: []byte("abc")}},
		{Payload: &walbridgev1.CopyLogSegmentDataRequest_Header{Header: &walbridgev1.CopyHeader{ClusterId: "c"}}},
		{Payload: &walbridgev1.CopyLogSegmentDataRequest_Trailer{Trailer: &walbridgev1.CopyTrailer{Crc32C: []uint32{1}}}},
	} {
		b, err := pb.Marshal(m)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b, uint64(1))
	}
	f.Add([]byte{0x12, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01}, uint64(1))
	f.Add([]byte{0x12, 0x03, 'a', 'b', 'c', 0x12, 0x00}, uint64(2))
	f.Fuzz(func(t *testing.T, b []byte, seed uint64) {
		w := wire{data: split(rand.New(rand.NewPCG(seed, 0)), b)}
		pieces, ok := w.chunk()
		again := wire{data: split(rand.New(rand.NewPCG(seed, 0)), b)}
		m, err := again.message()
		if ok && (err != nil || !bytes.Equal(m.GetChunk(), bytes.Join(pieces, nil))) {
			t.Errorf("%x: taken for the chunk %x; protobuf says %v, %v", b, bytes.Join(pieces, nil), m, err)
		}
	})
}
