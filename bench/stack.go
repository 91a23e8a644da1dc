package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/walbridge/walbridge/backends/quorum"
	walbridgev1 "github.com/walbridge/walbridge/proto/walbridge/v1"
	"github.com/walbridge/walbridge/server/combine"
	"github.com/walbridge/walbridge/server/daemon"
)

const (
	clusterID = "bench"
	brokerID  = 1
)

// stack is a daemon in this process, on a real unix socket, over zones of ours.
type stack struct {
	path   string
	client walbridgev1.WalServiceClient
	conn   *grpc.ClientConn
	cancel context.CancelFunc
	done   chan error
	dir    string
}

// onSocket returns a stack on a socket, and the listener that its server is to serve on.
func onSocket() (*stack, net.Listener, error) {
	dir, err := os.MkdirTemp("", "walbridge-bench-")
	if err != nil {
		return nil, nil, err
	}
	path := filepath.Join(dir, "sock")
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, nil, errors.Join(err, os.RemoveAll(dir))
	}
	s, err := dialStack(path)
	if err != nil {
		return nil, nil, errors.Join(err, l.Close(), os.RemoveAll(dir))
	}
	s.dir, s.done = dir, make(chan error, 1)
	return s, l, nil
}

func startStack(zones []*discard, linger time.Duration) (*stack, error) {
	s, l, err := onSocket()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	ready := make(chan struct{})
	go func() { s.done <- daemon.Run(ctx, l, daemonOptions(clusterID, zones, linger, func() { close(ready) })) }()
	select {
	case <-ready:
		return s, nil
	case err := <-s.done:
		cancel()
		return nil, errors.Join(errors.New("the daemon did not start"), err, s.conn.Close(), os.RemoveAll(s.dir))
	}
}

// daemonOptions are for a broker of the cluster, with our broker id.
func daemonOptions(cluster string, zones []*discard, linger time.Duration, ready func()) daemon.Options {
	o := daemon.Options{
		ClusterID: cluster, BrokerID: brokerID, Version: "bench",
		MaxInflightBytes: 128 << 20, MaxCopyBytes: 32 << 20, CopyTimeout: 10 * time.Second, DrainTimeout: 5 * time.Second,
		Combine: combine.Options{Linger: linger, MaxFrameBytes: 4 << 20},
		Logger:  slog.New(slog.DiscardHandler), Registerer: prometheus.NewRegistry(), Ready: ready,
	}
	for i, z := range zones {
		o.Zones = append(o.Zones, quorum.Zone{Name: string(rune('a' + i)), Bucket: z})
	}
	return o
}

// target is where the daemon listens, in gRPC's spelling.
func (s *stack) target() string { return "unix://" + s.path }

func (s *stack) stop() error {
	err := s.conn.Close()
	s.cancel()
	return errors.Join(err, <-s.done, os.RemoveAll(s.dir))
}

// drop is the baseline: the same stream, to a handler that drops what it gets.
type drop struct {
	walbridgev1.UnimplementedWalServiceServer
}

func (drop) CopyLogSegmentData(stream grpc.ClientStreamingServer[
	walbridgev1.CopyLogSegmentDataRequest, walbridgev1.CopyLogSegmentDataResponse],
) error {
	for {
		_, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return stream.SendAndClose(&walbridgev1.CopyLogSegmentDataResponse{})
		}
		if err != nil {
			return err
		}
	}
}

func startDrop() (*stack, error) {
	s, l, err := onSocket()
	if err != nil {
		return nil, fmt.Errorf("baseline: %w", err)
	}
	g := grpc.NewServer()
	walbridgev1.RegisterWalServiceServer(g, drop{})
	s.cancel = g.Stop
	go func() { s.done <- g.Serve(l) }()
	return s, nil
}

// sendBufferBytes is what the broker's client asks for, too: a copy fits into the socket at once.
const sendBufferBytes = 1 << 20

// dialStack connects to a server, which may be in another process.
func dialStack(path string) (*stack, error) {
	dialer := net.Dialer{Control: func(_, _ string, c syscall.RawConn) error {
		var set error
		err := c.Control(func(fd uintptr) {
			set = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_SNDBUF, sendBufferBytes)
		})
		return errors.Join(err, set)
	}}
	conn, err := grpc.NewClient("passthrough:///"+path, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, path string) (net.Conn, error) {
			return dialer.DialContext(ctx, "unix", path)
		}))
	if err != nil {
		return nil, err
	}
	return &stack{path: path, conn: conn, client: walbridgev1.NewWalServiceClient(conn)}, nil
}
