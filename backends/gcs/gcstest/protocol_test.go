package gcstest

import (
	"context"
	"hash/crc32"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
)

// client speaks the protocol with no SDK in between, so that it can be wrong.
type client struct {
	t      *testing.T
	server *Server
	ctx    context.Context
	conn   *grpc.ClientConn
	stream grpc.ClientStream
}

func newClient(t *testing.T, o Options) *client {
	o.Zonal, o.Regional = []string{"zonal"}, []string{"regional"}
	s, err := Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	conn, err := grpc.NewClient(s.address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	t.Cleanup(cancel)
	return &client{t: t, server: s, ctx: ctx, conn: conn}
}

// open opens a write stream.
func (c *client) open() *client {
	desc := &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}
	stream, err := c.conn.NewStream(c.ctx, desc, "/google.storage.v2.Storage/BidiWriteObject")
	if err != nil {
		c.t.Fatal(err)
	}
	opened := *c
	opened.stream = stream
	return &opened
}

func (c *client) send(m message) {
	c.t.Helper()
	if err := c.stream.SendMsg(m.Interface()); err != nil {
		c.t.Fatal(err)
	}
}

func (c *client) receive() message {
	c.t.Helper()
	m := newMessage("BidiWriteObjectResponse")
	if err := c.stream.RecvMsg(m.Interface()); err != nil {
		c.t.Fatal(err)
	}
	return m
}

// wantEnd checks that the next thing to come is the stream's end, with this code.
func (c *client) wantEnd(code codes.Code) {
	c.t.Helper()
	err := c.stream.RecvMsg(newMessage("BidiWriteObjectResponse").Interface())
	if status.Code(err) != code {
		c.t.Errorf("the stream ends with %v, want code %v", err, code)
	}
}

func spec(bucket string, appendable bool) message {
	return newMessage("BidiWriteObjectRequest").set("write_object_spec", newMessage("WriteObjectSpec").
		set("resource", newMessage("Object").set("bucket", "projects/_/buckets/"+bucket).set("name", "a")).
		set("if_generation_match", int64(0)).set("appendable", appendable))
}

func data(m message, off int64, p string, flush bool) message {
	return m.set("write_offset", off).set("flush", flush).set("state_lookup", flush).
		set("checksummed_data", newMessage("ChecksummedData").set("content", []byte(p)).
			set("crc32c", crc32.Checksum([]byte(p), castagnoli)))
}

func request() message { return newMessage("BidiWriteObjectRequest") }

// create opens an object and appends "abc" to it.
func (c *client) create() (*client, message) {
	c.t.Helper()
	w := c.open()
	w.send(data(spec("zonal", true), 0, "abc", true))
	made := w.receive()
	if got := w.receive().int("persisted_size"); got != 3 {
		c.t.Fatalf("%d bytes are persisted, want 3", got)
	}
	return w, made
}

func takeover(made message, handle bool) message {
	s := newMessage("AppendObjectSpec").set("bucket", "projects/_/buckets/zonal").set("object", "a").
		set("generation", made.message("resource").int("generation"))
	if handle {
		s.set("write_handle", made.message("write_handle"))
	}
	return request().set("append_object_spec", s)
}

func TestOffsets(t *testing.T) {
	for name, c := range map[string]struct {
		off  int64
		code codes.Code
	}{"gap": {4, codes.OutOfRange}, "again": {0, codes.OutOfRange}} {
		t.Run(name, func(t *testing.T) {
			w, _ := newClient(t, Options{}).create()
			w.send(data(request(), c.off, "x", true))
			w.wantEnd(c.code)
		})
	}
}

func TestChecksums(t *testing.T) {
	w, _ := newClient(t, Options{}).create()
	m := data(request(), 3, "x", true)
	m.message("checksummed_data").set("crc32c", uint32(1))
	w.send(m)
	w.wantEnd(codes.InvalidArgument)
}

// A writer that comes back may send again what is stored, if it is the same.
func TestResend(t *testing.T) {
	for name, c := range map[string]struct {
		p    string
		want codes.Code
	}{"same": {"abcde", codes.OK}, "other": {"abXde", codes.InvalidArgument}} {
		t.Run(name, func(t *testing.T) {
			w, made := newClient(t, Options{}).create()
			again := w.open()
			again.send(data(takeover(made, true), 0, c.p, true))
			if got := again.receive().message("resource").int("size"); got != 3 {
				t.Errorf("size %d when it is opened again, want 3", got)
			}
			if c.want != codes.OK {
				again.wantEnd(c.want)
			} else if got := again.receive().int("persisted_size"); got != 5 {
				t.Errorf("%d bytes are persisted, want 5", got)
			}
		})
	}
}

// Who comes with the writer's handle is the writer; who comes without fences it, also when it comes back.
func TestFencing(t *testing.T) {
	w, made := newClient(t, Options{FencedCode: codes.FailedPrecondition}).create()
	other := w.open()
	other.send(takeover(made, false))
	other.receive()
	w.wantEnd(codes.FailedPrecondition)
	again := w.open()
	again.send(takeover(made, true))
	again.wantEnd(codes.FailedPrecondition)
	other.send(data(request(), 3, "x", true))
	if got := other.receive().int("persisted_size"); got != 4 {
		t.Errorf("%d bytes are persisted, want 4", got)
	}
}

func TestFinalized(t *testing.T) {
	w, made := newClient(t, Options{}).create()
	w.send(request().set("write_offset", int64(3)).set("finish_write", true))
	w.receive()
	w.send(data(request(), 3, "x", true))
	w.wantEnd(codes.FailedPrecondition)
	again := w.open()
	again.send(takeover(made, false))
	again.wantEnd(codes.FailedPrecondition)
}

// A bucket takes the kind of object that it is for, and a name once.
func TestBuckets(t *testing.T) {
	c := newClient(t, Options{})
	for bucket, appendable := range map[string]bool{"zonal": false, "regional": true} {
		w := c.open()
		w.send(spec(bucket, appendable))
		w.wantEnd(codes.InvalidArgument)
	}
	c.create()
	w := c.open()
	w.send(spec("zonal", true))
	w.wantEnd(codes.FailedPrecondition)
	w = c.open()
	w.send(spec("missing", true))
	w.wantEnd(codes.NotFound)
}

// A client that was redirected has to come back with the token.
func TestRedirect(t *testing.T) {
	c := newClient(t, Options{})
	c.server.Inject(Create, Fault{Redirect: true})
	w := c.open()
	w.send(spec("zonal", true))
	w.wantEnd(codes.Aborted)
	w = c.open()
	w.send(spec("zonal", true))
	w.wantEnd(codes.InvalidArgument)
}
