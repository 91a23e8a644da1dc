package gcstest

import (
	"hash/crc32"
	"strconv"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/timestamppb"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// bucket and object are guarded by Server.mu; bytes of object.data, once there, never change.
type bucket struct {
	name    string
	zonal   bool
	lost    bool
	objects map[string]*object
}

type object struct {
	bucket     *bucket
	name       string
	generation int64
	data       []byte // shorter than size where the server discards
	size       int64
	crc        uint32
	// told is the size in metadata, which lags until a stream is closed.
	told      int64
	finalized bool
	// handle is what the object's one writer has, and a writer that was taken over has not any more.
	handle string
	owner  *writeStream
}

// find returns the bucket. The caller holds mu.
func (s *Server) find(resource string) (*bucket, error) {
	name := strings.TrimPrefix(resource, "projects/_/buckets/")
	b := s.buckets[name]
	switch {
	case b == nil:
		return nil, status.Errorf(codes.NotFound, "no bucket %q", name)
	case b.lost:
		return nil, errLost
	}
	return b, nil
}

// get returns the object. The caller holds mu.
func (s *Server) get(resource, name string) (*object, error) {
	b, err := s.find(resource)
	if err != nil {
		return nil, err
	}
	if o := b.objects[name]; o != nil {
		return o, nil
	}
	return nil, status.Errorf(codes.NotFound, "no object %q in bucket %q", name, b.name)
}

// create makes an object. The caller holds mu.
func (s *Server) create(b *bucket, name string, spec message) (*object, error) {
	old := b.objects[name]
	if spec.has("if_generation_match") {
		want := spec.int("if_generation_match")
		if want == 0 && old != nil || want != 0 && (old == nil || old.generation != want) {
			return nil, status.Errorf(codes.FailedPrecondition, "object %q: its generation is not %d", name, want)
		}
	}
	if old != nil {
		s.remove(old)
	}
	s.generation++
	o := &object{bucket: b, name: name, generation: s.generation, handle: "handle-" + strconv.FormatInt(s.generation, 10)}
	b.objects[name] = o
	return o, nil
}

// remove deletes the object and ends its writer's stream. The caller holds mu.
func (s *Server) remove(o *object) {
	delete(o.bucket.objects, o.name)
	if o.owner != nil {
		o.owner.end(status.Errorf(codes.NotFound, "object %q was deleted", o.name))
	}
}

// store appends p to o. The caller holds mu.
func (s *Server) store(o *object, p []byte) {
	if !s.opts.Discard {
		o.data = append(o.data, p...)
	}
	o.size += int64(len(p))
	o.crc = crc32.Update(o.crc, castagnoli, p)
}

// resource describes o, with its true size. The caller holds mu.
func (o *object) resource() message {
	m := newMessage("Object").set("name", o.name).set("bucket", "projects/_/buckets/"+o.bucket.name).
		set("generation", o.generation).set("metageneration", int64(1)).set("size", o.size)
	if o.finalized {
		m.set("finalize_time", message{timestamppb.Now().ProtoReflect()})
		m.set("checksums", newMessage("ObjectChecksums").set("crc32c", o.crc))
	}
	return m
}

// metadata describes o as listings do: the size and the checksum of an object that is not finalized lag. The caller
// holds mu.
func (o *object) metadata() message { return o.resource().set("size", o.told) }
