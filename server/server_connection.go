package server

import (
	"context"
	"strings"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/stats"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/tap"

	walbridgev1 "github.com/walbridge/walbridge/proto/walbridge/v1"
)

// What one connection may hold. gRPC keeps a message in memory while it comes in, before anyone knows what it is; with
// the streams and the windows these bound what a connection that sends half messages costs.
const (
	maxMessageBytes = 4 << 20
	maxStreams      = 16
	windowBytes     = 512 << 10
	// maxReceiving messages of streams come in at a time; further ones wait in their windows.
	maxReceiving = 4
	// maxUnary requests that are one message run at a time; further ones are refused.
	maxUnary = 4
	// maxReads hold a frame at a time; further ones wait.
	maxReads = 4
	// readTimeout bounds a read, whatever its caller allows: an abandoned stream holds a frame.
	readTimeout = time.Minute
	idleTimeout = 5 * time.Minute
)

// connection is what is known of one client's connection. Everything that a client can hold is bounded by connection,
// and connections are bounded by their listener, so that one client cannot starve another.
type connection struct {
	receiving, reads chan struct{}
	unary            atomic.Int32
	// incoming are the copies that are coming in, oldest first, and their bytes; inflight's lock guards them.
	incoming      []*reservation
	incomingBytes int64
}

func newConnection() *connection {
	return &connection{receiving: make(chan struct{}, maxReceiving), reads: make(chan struct{}, maxReads)}
}

type connectionKey struct{}

// connectionOf returns the connection that a request came by.
func connectionOf(ctx context.Context) *connection {
	if c, ok := ctx.Value(connectionKey{}).(*connection); ok {
		return c
	}
	return newConnection()
}

// connections gives every connection's requests their connection. It implements stats.Handler.
type connections struct{}

func (connections) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context {
	return context.WithValue(ctx, connectionKey{}, newConnection())
}

func (connections) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context { return ctx }
func (connections) HandleRPC(context.Context, stats.RPCStats)                       {}
func (connections) HandleConn(context.Context, stats.ConnStats)                     {}

// admit refuses a request of one message where its connection has too many; its message has not come in yet.
func admit(ctx context.Context, info *tap.Info) (context.Context, error) {
	if streaming(info.FullMethodName) {
		return ctx, nil
	}
	c := connectionOf(ctx)
	if c.unary.Add(1) > maxUnary {
		c.unary.Add(-1)
		return nil, status.Errorf(codes.ResourceExhausted, "%s: %d requests of this connection run already",
			info.FullMethodName, maxUnary)
	}
	context.AfterFunc(ctx, func() { c.unary.Add(-1) })
	return ctx, nil
}

var streamingMethods = func() map[string]bool {
	m := map[string]bool{}
	for _, s := range walbridgev1.WalService_ServiceDesc.Streams {
		m["/"+walbridgev1.WalService_ServiceDesc.ServiceName+"/"+s.StreamName] = true
	}
	return m
}()

// streaming tells whether a method's messages pass boundStream. Health's Watch and reflection are streams, too.
func streaming(method string) bool {
	return streamingMethods[method] || strings.HasSuffix(method, "/Watch") || strings.HasPrefix(method, "/grpc.reflection.")
}

// boundStream bounds the messages of streams that come in, and the reads that are answered.
func boundStream(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	c := connectionOf(stream.Context())
	bound := &boundedStream{ServerStream: stream, connection: c}
	if info.IsClientStream {
		return handler(srv, bound)
	}
	// A handler that sends to a client which does not read cannot end itself; its stream ends when this returns.
	ctx, cancel := context.WithTimeout(stream.Context(), readTimeout)
	defer cancel()
	done := make(chan error, 1)
	go func() {
		if err := take(ctx, c.reads); err != nil {
			done <- err
			return
		}
		defer func() { <-c.reads }()
		done <- handler(srv, bound)
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return toStatus(ctx.Err())
	}
}

type boundedStream struct {
	grpc.ServerStream
	connection *connection
}

func (s *boundedStream) RecvMsg(m any) error {
	if err := take(s.Context(), s.connection.receiving); err != nil {
		return err
	}
	defer func() { <-s.connection.receiving }()
	return s.ServerStream.RecvMsg(m)
}

// take takes one of the places.
func take(ctx context.Context, places chan struct{}) error {
	select {
	case places <- struct{}{}:
		return nil
	case <-ctx.Done():
		return toStatus(ctx.Err())
	}
}
