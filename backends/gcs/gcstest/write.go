package gcstest

import (
	"bytes"
	"hash/crc32"
	"strconv"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// create makes an appendable object. The caller holds mu.
func (w *writeStream) create() error {
	o, err := w.server.create(w.bucket, w.spec.message("resource").string("name"), w.spec)
	if err != nil {
		return err
	}
	w.object, w.handle, o.owner = o, o.handle, w
	return nil
}

// takeOver opens an object that is there: with the handle of its writer as that writer, without one as another, which
// fences the first.
func (w *writeStream) takeOver(spec message) error {
	s := w.server
	s.mu.Lock()
	defer s.mu.Unlock()
	o, err := s.get(spec.string("bucket"), spec.string("object"))
	if err != nil {
		return err
	}
	handle := string(spec.message("write_handle").bytes("handle"))
	switch {
	case o.generation != spec.int("generation"):
		return status.Errorf(codes.NotFound, "object %q has no generation %d", o.name, spec.int("generation"))
	case o.finalized:
		return status.Errorf(codes.FailedPrecondition, "object %q is finalized", o.name)
	case handle != "" && handle != o.handle:
		return w.fenced(o)
	case handle == "":
		s.generation++
		o.handle = "handle-" + strconv.FormatInt(s.generation, 10)
	}
	if o.owner != nil {
		o.owner.end(w.fenced(o))
	}
	w.object, w.handle, o.owner = o, o.handle, w
	return nil
}

func (w *writeStream) fenced(o *object) error {
	return status.Errorf(w.server.opts.FencedCode, "object %q was taken over by another writer", o.name)
}

// receive takes the data of a message. Data may repeat what is stored, since a client that lost an answer sends again
// what the answer was for; but only at the start of a stream, and only the same bytes.
func (w *writeStream) receive(req message) error {
	data, off := req.message("checksummed_data"), req.int("write_offset")
	content := data.bytes("content")
	if data.has("crc32c") && data.uint32("crc32c") != crc32.Checksum(content, castagnoli) {
		return status.Errorf(codes.InvalidArgument, "the content at offset %d has another checksum", off)
	}
	if len(content) == 0 && !req.bool("flush") && !req.bool("finish_write") {
		return nil
	}
	if w.started && off != w.pos {
		return status.Errorf(codes.OutOfRange, "write offset %d, the stream is at %d", off, w.pos)
	}
	w.server.mu.Lock()
	defer w.server.mu.Unlock()
	var size int64
	if w.object != nil {
		size = w.object.size
	}
	if !w.started && (off < 0 || off > size) {
		return status.Errorf(codes.OutOfRange, "write offset %d, the object has %d bytes", off, size)
	}
	w.started, w.pos = true, off+int64(len(content))
	if again := min(size-off, int64(len(content))); again > 0 && len(w.pending) == 0 {
		if !w.server.opts.Discard && !bytes.Equal(content[:again], w.object.data[off:off+again]) {
			return status.Errorf(codes.InvalidArgument, "other bytes are stored at offset %d", off)
		}
		content = content[again:]
	}
	if len(content) > 0 {
		w.pending = append(w.pending, content)
	}
	return nil
}

// flush makes what is pending durable. Without any it is only the question how long the object is.
func (w *writeStream) flush(lookup bool) error {
	if len(w.pending) > 0 {
		w.pauseForData()
		if err := w.server.around(w.ctx, Append, w.object.name, w.store); err != nil {
			return err
		}
	}
	if !lookup {
		return nil
	}
	return w.answer(func(resp message) { resp.set("persisted_size", w.object.size) })
}

func (w *writeStream) pauseForData() {
	n := 0
	for _, p := range w.pending {
		n += len(p)
	}
	l := w.server.opts.Latency
	pause(w.ctx, l.Append+time.Duration(float64(l.PerMiB)*float64(n)/(1<<20)))
}

// store makes what is pending part of the object. The caller holds mu.
func (w *writeStream) store() error {
	switch o := w.object; {
	case o.bucket.objects[o.name] != o:
		return status.Errorf(codes.NotFound, "object %q was deleted", o.name)
	case o.finalized:
		return status.Errorf(codes.FailedPrecondition, "object %q is finalized", o.name)
	case o.handle != w.handle:
		return w.fenced(o)
	}
	for _, p := range w.pending {
		w.server.store(w.object, p)
	}
	w.pending = nil
	return nil
}

// finalize stores what is pending and makes the object immutable.
func (w *writeStream) finalize() error {
	if err := w.flush(false); err != nil {
		return err
	}
	pause(w.ctx, w.server.opts.Latency.Finalize)
	if err := w.server.around(w.ctx, Finalize, w.object.name, w.seal); err != nil {
		return err
	}
	return w.answer(func(resp message) { resp.set("resource", w.object.resource()) })
}

// seal marks the object as finalized. The caller holds mu.
func (w *writeStream) seal() error {
	if err := w.store(); err != nil {
		return err
	}
	if w.checksum != nil && *w.checksum != w.object.crc {
		return status.Errorf(codes.InvalidArgument, "object %q has another checksum", w.object.name)
	}
	w.object.finalized, w.object.told = true, w.object.size
	return nil
}

// put makes an object that is written whole. It costs what making and finalizing one costs.
func (w *writeStream) put() error {
	pause(w.ctx, w.server.opts.Latency.Create)
	w.pauseForData()
	pause(w.ctx, w.server.opts.Latency.Finalize)
	err := w.server.around(w.ctx, Finalize, w.spec.message("resource").string("name"), func() error {
		var crc uint32
		for _, p := range w.pending {
			crc = crc32.Update(crc, castagnoli, p)
		}
		if w.checksum != nil && *w.checksum != crc {
			return status.Error(codes.InvalidArgument, "the object has another checksum")
		}
		if err := w.create(); err != nil {
			return err
		}
		return w.seal()
	})
	if err != nil {
		return err
	}
	return w.answer(func(resp message) { resp.set("resource", w.object.resource()) })
}
