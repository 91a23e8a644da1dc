package hostile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	walbridgev1 "github.com/walbridge/walbridge/proto/walbridge/v1"
)

// Target is the daemon that is attacked.
type Target struct {
	Socket  string
	Cluster string
	Broker  int32
	Seed    uint64
}

// Attack goes on until its context ends. It fails only where the daemon did what it must not: took what is wrong.
type Attack struct {
	Name string
	Run  func(context.Context, Target) error
}

// Attacks are all of them.
var Attacks = []Attack{
	{"giant_header", giantHeader},
	{"slow_loris", slowLoris},
	{"half_messages", halfMessages},
	{"idle_connections", idleConnections},
	{"cancel_storm", cancelStorm},
	{"unread_fetches", unreadFetches},
	{"random_bytes", randomBytes},
	{"wrong_numbers", wrongNumbers},
}

// greed is how many streams or connections an attack holds where nothing stops it.
const greed = 400

// pause between the requests of an attack whose point is what it sends, not how often.
const pause = 5 * time.Millisecond

// slow is the pace of an attack that holds what it has.
const slow = time.Second

func (t Target) dial() (*grpc.ClientConn, error) {
	return grpc.NewClient("unix://"+t.Socket, grpc.WithTransportCredentials(insecure.NewCredentials()))
}

// raw is an HTTP/2 client that gRPC's framing does not bind.
func (t Target) raw() *http.Client {
	var protocols http.Protocols
	protocols.SetUnencryptedHTTP2(true)
	return &http.Client{Transport: &http.Transport{
		Protocols: &protocols,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", t.Socket)
		},
	}}
}

// post sends body as the request of a copy.
func post(ctx context.Context, client *http.Client, body io.Reader) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://walbridge/walbridge.v1.WalService/CopyLogSegmentData", body)
	if err != nil {
		return
	}
	r.Header.Set("Content-Type", "application/grpc")
	r.Header.Set("Te", "trailers")
	if response, err := client.Do(r); err == nil {
		_, _ = io.Copy(io.Discard, response.Body)
		_ = response.Body.Close()
	}
}

// zeros is an endless body.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// giantHeader announces a message of 4 GiB and sends it.
func giantHeader(ctx context.Context, t Target) error {
	client := t.raw()
	defer client.CloseIdleConnections()
	for ctx.Err() == nil {
		post(ctx, client, io.MultiReader(
			&prefix{0, math.MaxUint8, math.MaxUint8, math.MaxUint8, math.MaxUint8}, io.LimitReader(zeros{}, math.MaxUint32)))
		wait(ctx, pause)
	}
	return nil
}

// prefix is a reader of the five bytes before a gRPC message.
type prefix []byte

func (p *prefix) Read(b []byte) (int, error) {
	if len(*p) == 0 {
		return 0, io.EOF
	}
	n := copy(b, *p)
	*p = (*p)[n:]
	return n, nil
}

// slowLoris announces the longest copies over many connections and sends a byte now and then.
func slowLoris(ctx context.Context, t Target) error {
	var all sync.WaitGroup
	for range greed / 40 {
		conn, err := t.dial()
		if err != nil {
			return err
		}
		defer conn.Close()
		for i := range 40 {
			all.Go(func() {
				// One after the other: what the attacker's own start takes of the processor is not the daemon's.
				wait(ctx, slow*time.Duration(i)/40)
				for ctx.Err() == nil {
					trickle(ctx, t, conn)
					wait(ctx, slow)
				}
			})
		}
	}
	all.Wait() // Before the connections are closed.
	return nil
}

func trickle(ctx context.Context, t Target, conn *grpc.ClientConn) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := walbridgev1.NewWalServiceClient(conn).CopyLogSegmentData(ctx)
	if err != nil || stream.Send(header(t.Cluster, t.Broker, 32<<20)) != nil {
		return
	}
	for wait(ctx, slow) {
		if stream.Send(chunk([]byte{1})) != nil {
			return
		}
	}
}

// halfMessages sends all but the end of messages as long as are taken, over many connections.
func halfMessages(ctx context.Context, t Target) error {
	const length = 4<<20 - 1
	var all sync.WaitGroup
	for range greed / 40 {
		client := t.raw()
		defer client.CloseIdleConnections()
		for range 40 {
			all.Go(func() {
				for ctx.Err() == nil {
					body := io.MultiReader(&prefix{0, length >> 24, length >> 16 & 0xff, length >> 8 & 0xff, length & 0xff},
						io.LimitReader(zeros{}, length-1), stalled{ctx})
					post(ctx, client, body)
					wait(ctx, slow)
				}
			})
		}
	}
	all.Wait()
	return nil
}

// stalled is a body whose next byte never comes.
type stalled struct{ ctx context.Context }

func (s stalled) Read([]byte) (int, error) {
	<-s.ctx.Done()
	return 0, s.ctx.Err()
}

// idleConnections opens 10,000 connections and says nothing; those that are closed it opens again.
func idleConnections(ctx context.Context, t Target) error {
	const connections = 10_000
	var open []net.Conn
	defer func() {
		for _, c := range open {
			_ = c.Close()
		}
	}()
	for i := 0; ctx.Err() == nil; i++ {
		c, err := new(net.Dialer).DialContext(ctx, "unix", t.Socket)
		if err != nil {
			wait(ctx, pause)
			continue
		}
		if len(open) < connections {
			open = append(open, c)
		} else {
			_ = open[i%connections].Close()
			open[i%connections] = c
		}
		if i%50 == 49 {
			wait(ctx, pause)
		}
	}
	return nil
}

// cancelStorm begins copies and cancels them.
func cancelStorm(ctx context.Context, t Target) error {
	conn, err := t.dial()
	if err != nil {
		return err
	}
	defer conn.Close()
	for ctx.Err() == nil {
		for range 20 {
			call, cancel := context.WithCancel(ctx)
			if stream, err := walbridgev1.NewWalServiceClient(conn).CopyLogSegmentData(call); err == nil {
				_ = stream.Send(header(t.Cluster, t.Broker, 1<<20))
			}
			cancel()
		}
		wait(ctx, pause)
	}
	return nil
}

// unreadFetches asks for a frame over many connections and reads nothing of what it gets.
func unreadFetches(ctx context.Context, t Target) error {
	conn, err := t.dial()
	if err != nil {
		return err
	}
	defer conn.Close()
	copied, err := honestCopy(ctx, conn, t.Cluster, t.Broker, make([]byte, 3<<20))
	if err != nil {
		return err
	}
	request := &walbridgev1.FetchLogSegmentRequest{
		Extent: copied.GetExtent(),
		Range:  &walbridgev1.EntryRange{Entry: copied.GetEntries()[0], EndPosition: math.MaxInt64},
	}
	for range greed / 40 {
		reader, err := t.dial()
		if err != nil {
			return err
		}
		defer reader.Close()
		for range 40 {
			// The stream is left open: it ends with ctx.
			if _, err := walbridgev1.NewWalServiceClient(reader).FetchLogSegment(ctx, request); err != nil {
				break // The connection was refused.
			}
		}
	}
	<-ctx.Done()
	return nil
}

// randomBytes sends noise, with and without the preface that makes it HTTP/2.
func randomBytes(ctx context.Context, t Target) error {
	noise := rand.NewChaCha8([32]byte{byte(t.Seed), byte(t.Seed >> 8)})
	random := rand.New(noise)
	for ctx.Err() == nil {
		c, err := new(net.Dialer).DialContext(ctx, "unix", t.Socket)
		if err == nil {
			b := make([]byte, 1+random.IntN(64<<10))
			_, _ = noise.Read(b)
			if random.IntN(2) == 0 {
				b = append([]byte("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00"), b...)
			}
			_ = c.SetDeadline(time.Now().Add(100 * time.Millisecond))
			_, _ = c.Write(b)
			_ = c.Close()
		}
		wait(ctx, pause)
	}
	return nil
}

// wrongNumbers sends what is negative, overflows, or points outside; all of it must be refused.
func wrongNumbers(ctx context.Context, t Target) error {
	conn, err := t.dial()
	if err != nil {
		return err
	}
	defer conn.Close()
	client := walbridgev1.NewWalServiceClient(conn)
	for i := 0; ctx.Err() == nil; i++ {
		var name string
		if i%2 == 0 {
			name, err = wrongCopy(ctx, client, t, i/2)
		} else {
			name, err = wrongFetch(ctx, client, i/2)
		}
		switch status.Code(err) {
		case codes.OK:
			return fmt.Errorf("%s was taken", name)
		case codes.Internal, codes.Unknown:
			return fmt.Errorf("%s: %w", name, err)
		}
		wait(ctx, pause)
	}
	return nil
}

func wrongCopy(ctx context.Context, client walbridgev1.WalServiceClient, t Target, i int) (name string, err error) {
	m := header(t.Cluster, t.Broker, 100)
	e := m.GetHeader().GetEntries()[0]
	switch name = "a copy with wrong numbers"; i % 6 {
	case 0:
		e.Length = math.MaxUint32
	case 1:
		e.BaseOffset, e.LastOffset = -5, -1
	case 2:
		e.BaseOffset, e.LastOffset = 0, math.MinInt64
	case 3:
		e.Partition = -1
	case 4:
		m.GetHeader().BrokerId = math.MinInt32
	case 5:
		e.Topic = "../../etc/passwd"
	}
	stream, err := client.CopyLogSegmentData(ctx)
	if err != nil {
		return name, err
	}
	if err := stream.Send(m); err != nil && !errors.Is(err, io.EOF) {
		return name, err
	}
	_, err = stream.CloseAndRecv()
	return fmt.Sprintf("%s (%d)", name, i%6), err
}

func wrongFetch(ctx context.Context, client walbridgev1.WalServiceClient, i int) (name string, err error) {
	r := &walbridgev1.FetchLogSegmentRequest{
		Extent: make([]byte, 64),
		Range: &walbridgev1.EntryRange{
			Entry:         &walbridgev1.EntryLocation{Position: math.MaxUint32, Length: math.MaxUint32},
			StartPosition: math.MinInt64, EndPosition: math.MaxInt64,
		},
	}
	switch i % 3 {
	case 1:
		r.Extent = nil
	case 2:
		r.Extent[0] = 1 // The version that there is.
		r.Range = nil
	}
	stream, err := client.FetchLogSegment(ctx, r)
	if err != nil {
		return "a fetch with wrong numbers", err
	}
	_, err = stream.Recv()
	return fmt.Sprintf("a fetch with wrong numbers (%d)", i%3), err
}

// wait waits and tells whether ctx goes on.
func wait(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}
