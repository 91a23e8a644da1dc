package gcstest

import (
	"errors"
	"hash/crc32"
	"io"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// maxMessage is the most content of one message, as of the real service.
const maxMessage = 2 << 20

// bidiRead serves the ranges that come on a stream, one after the other.
func (s *Server) bidiRead(stream grpc.ServerStream) error {
	var bucket, name string
	for first := true; ; first = false {
		req := newMessage("BidiReadObjectRequest")
		if err := stream.RecvMsg(req.Interface()); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if spec := req.message("read_object_spec"); first {
			bucket, name = spec.string("bucket"), spec.string("object")
			if err := s.arrive(stream.Context(), name); err != nil {
				return err
			}
		}
		for _, r := range req.messages("read_ranges") {
			rng, err := s.open(stream, bucket, name, r.int("read_offset"), r.int("read_length"))
			if err != nil {
				return err
			}
			err = rng.send(func(data message, off int64, last bool) error {
				at := newMessage("ReadRange").set("read_offset", off).set("read_id", r.int("read_id")).
					set("read_length", int64(len(data.bytes("content"))))
				resp := newMessage("BidiReadObjectResponse").add("object_data_ranges", newMessage("ObjectRangeData").
					set("checksummed_data", data).set("read_range", at).set("range_end", last))
				if first {
					resp.set("metadata", rng.metadata)
					first = false
				}
				return stream.SendMsg(resp.Interface())
			})
			if err != nil {
				return err
			}
		}
	}
}

// readObject is the older call, for one range.
func (s *Server) readObject(stream grpc.ServerStream) error {
	req := newMessage("ReadObjectRequest")
	if err := stream.RecvMsg(req.Interface()); err != nil {
		return err
	}
	rng, err := s.open(stream, req.string("bucket"), req.string("object"), req.int("read_offset"), req.int("read_limit"))
	if err != nil {
		return err
	}
	first := true
	return rng.send(func(data message, off int64, _ bool) error {
		resp := newMessage("ReadObjectResponse").set("checksummed_data", data)
		if first {
			resp.set("metadata", rng.metadata).set("content_range", newMessage("ContentRange").
				set("start", rng.off).set("end", rng.off+int64(len(rng.data))))
			first = false
		}
		return stream.SendMsg(resp.Interface())
	})
}

// byteRange is a range of an object as it was when the range was asked for.
type byteRange struct {
	off      int64
	data     []byte
	metadata message
}

// open finds the bytes from off. A length of 0 means all of them; one that reaches beyond the end gets what there is.
func (s *Server) open(stream grpc.ServerStream, bucket, name string, off, length int64) (r byteRange, err error) {
	pause(stream.Context(), s.opts.Latency.Read)
	err = s.around(stream.Context(), Read, name, func() error {
		o, err := s.get(bucket, name)
		if err != nil {
			return err
		}
		if off < 0 || off > o.size || off == o.size && length > 0 {
			return status.Errorf(codes.OutOfRange, "object %q has %d bytes, none at %d", name, o.size, off)
		}
		n := o.size - off
		if length > 0 {
			n = min(n, length)
		}
		data := make([]byte, n)
		if off < int64(len(o.data)) {
			data = o.data[off : off+n]
		}
		r = byteRange{off: off, data: data, metadata: o.metadata()}
		return nil
	})
	return r, err
}

func (r byteRange) send(send func(data message, off int64, last bool) error) error {
	for done := 0; ; {
		part := r.data[done:min(done+maxMessage, len(r.data))]
		data := newMessage("ChecksummedData").set("content", part).set("crc32c", crc32.Checksum(part, castagnoli))
		off := r.off + int64(done)
		done += len(part)
		if err := send(data, off, done == len(r.data)); err != nil || done == len(r.data) {
			return err
		}
	}
}
