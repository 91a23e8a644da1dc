package gcstest

import (
	"context"
	"errors"
	"io"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// writeStream is one BidiWriteObject: it makes or takes over one object, and appends to it.
type writeStream struct {
	server *Server
	stream grpc.ServerStream
	ctx    context.Context
	end    func(error) // from outside

	bucket     *bucket
	spec       message // of an object that is written whole
	appendable bool
	object     *object
	handle     string
	checksum   *uint32 // of the whole object, where the client told it

	started bool // pos counts from the first data or flush on
	pos     int64
	pending [][]byte // received, and not stored yet
}

func (s *Server) bidiWrite(stream grpc.ServerStream) error {
	ctx, end := context.WithCancelCause(stream.Context())
	defer end(nil)
	w := &writeStream{server: s, stream: stream, ctx: ctx, end: end}
	s.mu.Lock()
	s.streams[w] = struct{}{}
	s.mu.Unlock()
	defer w.leave()

	requests := make(chan message)
	received := make(chan error, 1)
	go func() { received <- receiveAll(ctx, stream, requests) }()
	for {
		select {
		case req := <-requests:
			if err := w.handleRequest(req); err != nil {
				return err
			}
		case err := <-received:
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if !errors.Is(err, io.EOF) {
				return err
			}
			pause(ctx, s.opts.Latency.Close)
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func receiveAll(ctx context.Context, stream grpc.ServerStream, requests chan<- message) error {
	for {
		req := newMessage("BidiWriteObjectRequest")
		if err := stream.RecvMsg(req.Interface()); err != nil {
			return err
		}
		select {
		case requests <- req:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// leave is the end of the stream. Metadata is brought up to date.
func (w *writeStream) leave() {
	w.server.mu.Lock()
	defer w.server.mu.Unlock()
	delete(w.server.streams, w)
	if o := w.object; o != nil && o.owner == w {
		o.owner, o.told = nil, o.size
	}
}

func (w *writeStream) handleRequest(req message) error {
	if w.bucket == nil {
		if err := w.open(req); err != nil {
			return err
		}
	}
	if sums := req.message("object_checksums"); sums.has("crc32c") {
		crc := sums.uint32("crc32c")
		w.checksum = &crc
	}
	if err := w.receive(req); err != nil {
		return err
	}
	switch {
	case req.bool("finish_write") && w.appendable:
		return w.finalize()
	case req.bool("finish_write"):
		return w.put()
	case req.bool("flush") && w.appendable:
		return w.flush(req.bool("state_lookup"))
	}
	return nil
}

// open takes the first message: it makes an appendable object, or takes over one that is there. An object that is
// written whole is made at the end.
func (w *writeStream) open(req message) error {
	switch {
	case req.has("write_object_spec"):
		w.spec = req.message("write_object_spec")
		w.appendable = w.spec.bool("appendable")
		resource := w.spec.message("resource")
		if err := w.find(resource.string("bucket"), resource.string("name")); err != nil {
			return err
		}
		if !w.appendable {
			return nil
		}
		pause(w.ctx, w.server.opts.Latency.Create)
		if err := w.server.around(w.ctx, Create, resource.string("name"), w.create); err != nil {
			return err
		}
	case req.has("append_object_spec"):
		w.appendable = true
		spec := req.message("append_object_spec")
		if err := w.find(spec.string("bucket"), spec.string("object")); err != nil {
			return err
		}
		if err := w.takeOver(spec); err != nil {
			return err
		}
	default:
		return status.Error(codes.InvalidArgument, "the first message names no object")
	}
	return w.answer(func(resp message) {
		resp.set("resource", w.object.resource()).
			set("write_handle", newMessage("BidiWriteHandle").set("handle", []byte(w.handle)))
	})
}

func (w *writeStream) find(bucket, name string) (err error) {
	if err := w.server.arrive(w.ctx, name); err != nil {
		return err
	}
	w.server.mu.Lock()
	defer w.server.mu.Unlock()
	if w.bucket, err = w.server.find(bucket); err != nil {
		return err
	}
	if w.bucket.zonal != w.appendable {
		return status.Errorf(codes.InvalidArgument, "bucket %q: zonal is %v and the object's appendable %v: must agree",
			w.bucket.name, w.bucket.zonal, w.appendable)
	}
	return nil
}

// answer sends a response that fill fills in with mu held.
func (w *writeStream) answer(fill func(resp message)) error {
	resp := newMessage("BidiWriteObjectResponse")
	w.server.mu.Lock()
	fill(resp)
	w.server.mu.Unlock()
	return w.stream.SendMsg(resp.Interface())
}
