package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/walbridge/walbridge/backends"
	"github.com/walbridge/walbridge/backends/quorum"
	framev1 "github.com/walbridge/walbridge/proto/walbridge/frame/v1"
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
	go func() { s.done <- daemon.Run(ctx, l, daemonOptions(zones, linger, func() { close(ready) })) }()
	select {
	case <-ready:
		return s, nil
	case err := <-s.done:
		cancel()
		return nil, errors.Join(errors.New("the daemon did not start"), err, s.conn.Close(), os.RemoveAll(s.dir))
	}
}

func daemonOptions(zones []*discard, linger time.Duration, ready func()) daemon.Options {
	o := daemon.Options{
		ClusterID: clusterID, BrokerID: brokerID, Version: "bench",
		MaxInflightBytes: 128 << 20, MaxCopyBytes: 32 << 20, CopyTimeout: 10 * time.Second, DrainTimeout: 5 * time.Second,
		Combine: combine.Options{Linger: linger, MaxFrameBytes: 4 << 20},
		Logger:  slog.New(slog.DiscardHandler), Registerer: prometheus.NewRegistry(), Ready: ready,
	}
	for i, z := range zones {
		o.Zones = append(o.Zones, quorum.Zone{Name: string(rune('a' + i)), Bucket: z})
	}
	return o
}

func (s *stack) stop() error {
	err := s.conn.Close()
	s.cancel()
	return errors.Join(err, <-s.done, os.RemoveAll(s.dir))
}

// payload is one copy, ready to be sent many times.
type payload struct {
	header  *walbridgev1.CopyLogSegmentDataRequest
	chunks  []*walbridgev1.CopyLogSegmentDataRequest
	trailer *walbridgev1.CopyLogSegmentDataRequest
	bytes   int
}

const chunkBytes = 256 << 10

// newPayload makes a copy of size bytes in as many entries, each of another partition.
func newPayload(size, entries int) payload {
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
	p := payload{bytes: size}
	p.header = &walbridgev1.CopyLogSegmentDataRequest{Payload: &walbridgev1.CopyLogSegmentDataRequest_Header{Header: h}}
	p.trailer = &walbridgev1.CopyLogSegmentDataRequest{Payload: &walbridgev1.CopyLogSegmentDataRequest_Trailer{Trailer: t}}
	for rest := data; len(rest) > 0; {
		n := min(len(rest), chunkBytes)
		p.chunks = append(p.chunks, &walbridgev1.CopyLogSegmentDataRequest{
			Payload: &walbridgev1.CopyLogSegmentDataRequest_Chunk{Chunk: rest[:n]},
		})
		rest = rest[n:]
	}
	return p
}

type sender interface {
	Send(*walbridgev1.CopyLogSegmentDataRequest) error
}

// send streams the payload. An error of Send is io.EOF; the real one comes with the answer.
func (p payload) send(s sender) {
	if s.Send(p.header) != nil {
		return
	}
	for _, c := range p.chunks {
		if s.Send(c) != nil {
			return
		}
	}
	_ = s.Send(p.trailer)
}

func (s *stack) copy(ctx context.Context, p payload) error {
	stream, err := s.client.CopyLogSegmentData(ctx)
	if err != nil {
		return err
	}
	p.send(stream)
	_, err = stream.CloseAndRecv()
	return err
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

// dialStack connects to a server, which may be in another process.
func dialStack(path string) (*stack, error) {
	conn, err := grpc.NewClient("unix:"+path, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return nil, err
	}
	return &stack{conn: conn, client: walbridgev1.NewWalServiceClient(conn)}, nil
}

// daemonMain serves discarding zones until its input ends, and prints its socket's path when it is ready.
func daemonMain() int {
	dir, err := os.MkdirTemp("", "walbridge-bench-")
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		return 1
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "sock")
	l, err := net.Listen("unix", path)
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		return 1
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	zones := threeZones(time.Millisecond, 2*time.Millisecond)
	if err := daemon.Run(ctx, l, daemonOptions(zones, 10*time.Millisecond, func() { fmt.Println(path) })); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		return 1
	}
	return 0
}
