package daemon_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"math"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"github.com/walbridge/walbridge/backends"
	"github.com/walbridge/walbridge/backends/faulty"
	"github.com/walbridge/walbridge/backends/mem"
	"github.com/walbridge/walbridge/backends/quorum"
	framev1 "github.com/walbridge/walbridge/proto/walbridge/frame/v1"
	walbridgev1 "github.com/walbridge/walbridge/proto/walbridge/v1"
	"github.com/walbridge/walbridge/server/combine"
	"github.com/walbridge/walbridge/server/daemon"
	"github.com/walbridge/walbridge/server/fetch"
	"github.com/walbridge/walbridge/server/frame"
)

const (
	cluster = "5L6g3nShT-eMCtK--X86sw"
	broker  = 7
)

var id16 = bytes.Repeat([]byte{0xa1}, 16)

// running is a daemon over three zones in memory whose faults the test decides.
type running struct {
	client walbridgev1.WalServiceClient
	conn   *grpc.ClientConn
	plans  []*faulty.Plan
	zones  []backends.Bucket
	stop   func() error
}

func start(t *testing.T, change func(*daemon.Options)) *running {
	t.Helper()
	l, err := net.Listen("unix", filepath.Join(t.TempDir(), "sock"))
	if err != nil {
		t.Fatal(err)
	}
	return startOn(t, l, "unix:"+l.Addr().String(), change)
}

// startOn starts a daemon on a listener, which clients reach at target.
func startOn(t *testing.T, l net.Listener, target string, change func(*daemon.Options)) *running {
	t.Helper()
	r := &running{}
	ready := make(chan struct{})
	opts := daemon.Options{
		ClusterID: cluster, BrokerID: broker, Version: "test", MaxInflightBytes: 1 << 20, MaxCopyBytes: 512 << 10,
		CopyTimeout: 3 * time.Second, DrainTimeout: 5 * time.Second,
		Quorum:  quorum.Options{ZoneTimeout: time.Second},
		Combine: combine.Options{Linger: time.Millisecond},
		Fetch:   fetch.Options{CacheBytes: 1}, // So small that every read goes to the zones.
		Logger:  slog.New(slog.DiscardHandler), Registerer: prometheus.NewRegistry(), Ready: func() { close(ready) },
	}
	for i, name := range []string{"a", "b", "c"} {
		plan := faulty.NewPlan(uint64(i))
		zone := mem.New(mem.Options{})
		r.plans, r.zones = append(r.plans, plan), append(r.zones, zone)
		opts.Zones = append(opts.Zones, quorum.Zone{Name: name, Bucket: faulty.Wrap(zone, plan)})
	}
	if change != nil {
		change(&opts)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- daemon.Run(ctx, l, opts) }()
	r.stop = sync.OnceValue(func() error {
		cancel()
		return <-done
	})
	t.Cleanup(func() {
		if err := r.stop(); err != nil {
			t.Errorf("the daemon ended with %v", err)
		}
	})
	select {
	case <-ready:
	case err := <-done:
		done <- err
		t.Fatalf("the daemon did not start: %v", err)
	}
	var err error
	r.conn, err = grpc.NewClient(target, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.conn.Close() })
	r.client = walbridgev1.NewWalServiceClient(r.conn)
	return r
}

// gate is what appends wait at while it is closed.
type gate struct {
	mu    sync.Mutex
	ahead chan struct{} // closed while the gate is open
}

func (g *gate) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.ahead = make(chan struct{})
}

func (g *gate) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	close(g.ahead)
}

func (g *gate) pass() <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.ahead
}

// hold has appends wait at a gate, which is open for now: a daemon's start appends, too. Nobody loses patience.
func hold(o *daemon.Options) *gate {
	g := &gate{ahead: make(chan struct{})}
	g.open()
	o.Quorum.ZoneTimeout, o.CopyTimeout, o.DrainTimeout = time.Minute, time.Minute, time.Minute
	for i := range o.Zones {
		o.Zones[i].Bucket = held{o.Zones[i].Bucket, g}
	}
	return g
}

type held struct {
	backends.Bucket
	gate *gate
}

func (h held) Create(ctx context.Context, name string) (backends.Writer, error) {
	w, err := h.Bucket.Create(ctx, name)
	return heldWriter{w, h.gate}, err
}

type heldWriter struct {
	backends.Writer
	gate *gate
}

func (w heldWriter) Append(ctx context.Context, p []byte, crc uint32) error {
	select {
	case <-w.gate.pass():
		return w.Writer.Append(ctx, p, crc)
	case <-ctx.Done():
		return ctx.Err()
	}
}

func header(sections ...[]byte) *walbridgev1.CopyHeader {
	h := &walbridgev1.CopyHeader{ClusterId: cluster, BrokerId: broker, CombinedSegmentId: id16}
	for i, s := range sections {
		h.Entries = append(h.Entries, &framev1.Entry{
			TopicId: id16, Topic: "orders", Partition: int32(i), SegmentId: id16, Restorable: true, LeaderEpoch: 4,
			Lineage:    []*framev1.EpochStart{{Epoch: 1}, {Epoch: 4, StartOffset: 50}},
			BaseOffset: 100, LastOffset: 109, MaxTimestampMs: 1700000000000, LogDirId: id16, SegmentBytes: 1 << 30,
			Length: uint32(len(s)),
		})
	}
	return h
}

// copySections sends the sections under h in chunks of n bytes and returns the answer.
func (r *running) copySections(ctx context.Context, h *walbridgev1.CopyHeader, n int, sections ...[]byte) (
	*walbridgev1.CopyLogSegmentDataResponse, error,
) {
	stream, err := r.client.CopyLogSegmentData(ctx)
	if err != nil {
		return nil, err
	}
	send := func(m *walbridgev1.CopyLogSegmentDataRequest) { _ = stream.Send(m) } // The answer has the error.
	send(&walbridgev1.CopyLogSegmentDataRequest{Payload: &walbridgev1.CopyLogSegmentDataRequest_Header{Header: h}})
	trailer := &walbridgev1.CopyTrailer{}
	for _, s := range sections {
		trailer.Crc32C = append(trailer.Crc32C, backends.Checksum(s))
	}
	for rest := bytes.Join(sections, nil); len(rest) > 0; rest = rest[min(n, len(rest)):] {
		send(&walbridgev1.CopyLogSegmentDataRequest{
			Payload: &walbridgev1.CopyLogSegmentDataRequest_Chunk{Chunk: rest[:min(n, len(rest))]},
		})
	}
	send(&walbridgev1.CopyLogSegmentDataRequest{Payload: &walbridgev1.CopyLogSegmentDataRequest_Trailer{Trailer: trailer}})
	return stream.CloseAndRecv()
}

func (r *running) fetch(ctx context.Context, extent []byte, rng *walbridgev1.EntryRange) ([]byte, error) {
	stream, err := r.client.FetchLogSegment(ctx, &walbridgev1.FetchLogSegmentRequest{Extent: extent, Range: rng})
	if err != nil {
		return nil, err
	}
	var got []byte
	for {
		m, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return got, nil
		}
		if err != nil {
			return nil, err
		}
		if m.GetCrc32C() != backends.Checksum(m.GetChunk()) {
			return nil, errors.New("chunk with a wrong checksum")
		}
		got = append(got, m.GetChunk()...)
	}
}

func whole(l *walbridgev1.EntryLocation) *walbridgev1.EntryRange {
	return &walbridgev1.EntryRange{Entry: l, EndPosition: math.MaxInt64}
}

// wantError fails unless err is code with reason.
func wantError(t *testing.T, err error, code codes.Code, reason string) {
	t.Helper()
	st := status.Convert(err)
	if st.Code() != code {
		t.Errorf("got %v, want %v", err, code)
		return
	}
	for _, d := range st.Details() {
		if info, ok := d.(*errdetails.ErrorInfo); ok && info.GetReason() == reason && info.GetDomain() == "walbridge" {
			return
		}
	}
	t.Errorf("got %v with details %v, want reason %s", err, st.Details(), reason)
}

func TestCopyAndFetch(t *testing.T) {
	r := start(t, nil)
	sections := [][]byte{bytes.Repeat([]byte("abc"), 100_000), []byte("x"), bytes.Repeat([]byte("yz"), 1000)}
	answer, err := r.copySections(t.Context(), header(sections...), 1000, sections...)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(answer.GetCombinedSegmentId(), id16) || len(answer.GetExtent()) > 64 || len(answer.GetEntries()) != 3 {
		t.Fatalf("got %v", answer)
	}
	for i, s := range sections {
		got, err := r.fetch(t.Context(), answer.GetExtent(), whole(answer.GetEntries()[i]))
		if err != nil || !bytes.Equal(got, s) {
			t.Errorf("section %d: got %d bytes and %v, want %d", i, len(got), err, len(s))
		}
	}
	rng := whole(answer.GetEntries()[2])
	rng.StartPosition, rng.EndPosition = 1, 3
	if got, err := r.fetch(t.Context(), answer.GetExtent(), rng); err != nil || string(got) != "zyz" {
		t.Errorf("bytes 1 to 3, inclusive: got %q and %v", got, err)
	}
	stream, err := r.client.FetchEntries(t.Context(), &walbridgev1.FetchEntriesRequest{
		Extent: answer.GetExtent(), Ranges: []*walbridgev1.EntryRange{whole(answer.GetEntries()[2]), whole(answer.GetEntries()[1])},
	})
	if err != nil {
		t.Fatal(err)
	}
	got := map[uint32][]byte{}
	for {
		m, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		got[m.GetRange()] = append(got[m.GetRange()], m.GetChunk()...)
	}
	if !bytes.Equal(got[0], sections[2]) || !bytes.Equal(got[1], sections[1]) {
		t.Errorf("entries: got %d and %d bytes", len(got[0]), len(got[1]))
	}
}

// Whatever the client gets wrong is refused with the right code, and stored nowhere.
func TestCopyRefuses(t *testing.T) {
	s := []byte("section")
	for _, tc := range []struct {
		name   string
		change func(*walbridgev1.CopyHeader)
		data   []byte
		code   codes.Code
		reason string
	}{
		{"other cluster", func(h *walbridgev1.CopyHeader) { h.ClusterId = "other" }, s, codes.FailedPrecondition, "IDENTITY"},
		{"other broker", func(h *walbridgev1.CopyHeader) { h.BrokerId++ }, s, codes.FailedPrecondition, "IDENTITY"},
		{"no id", func(h *walbridgev1.CopyHeader) { h.CombinedSegmentId = nil }, s, codes.InvalidArgument, "INVALID"},
		{"no entry", func(h *walbridgev1.CopyHeader) { h.Entries = nil }, s, codes.InvalidArgument, "INVALID"},
		{"bad entry", func(h *walbridgev1.CopyHeader) { h.Entries[0].Topic = "../x" }, s, codes.InvalidArgument, "INVALID"},
		{"too large", func(h *walbridgev1.CopyHeader) { h.Entries[0].Length = 600 << 10 }, s, codes.InvalidArgument, "INVALID"},
		{"cut off", func(h *walbridgev1.CopyHeader) { h.Entries[0].Length++ }, s, codes.InvalidArgument, "INVALID"},
		{"too long", func(h *walbridgev1.CopyHeader) { h.Entries[0].Length-- }, s, codes.InvalidArgument, "INVALID"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := start(t, nil)
			h := header(s)
			tc.change(h)
			_, err := r.copySections(t.Context(), h, 100, tc.data)
			wantError(t, err, tc.code, tc.reason)
			wantNothingStored(t, r)
		})
	}
	t.Run("wrong checksum", func(t *testing.T) {
		r := start(t, nil)
		stream, err := r.client.CopyLogSegmentData(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range []*walbridgev1.CopyLogSegmentDataRequest{
			{Payload: &walbridgev1.CopyLogSegmentDataRequest_Header{Header: header(s)}},
			{Payload: &walbridgev1.CopyLogSegmentDataRequest_Chunk{Chunk: s}},
			{Payload: &walbridgev1.CopyLogSegmentDataRequest_Trailer{Trailer: &walbridgev1.CopyTrailer{Crc32C: []uint32{1}}}},
		} {
			_ = stream.Send(m)
		}
		_, err = stream.CloseAndRecv()
		wantError(t, err, codes.DataLoss, "CHECKSUM")
		wantNothingStored(t, r)
	})
}

func wantNothingStored(t *testing.T, r *running) {
	t.Helper()
	list, err := r.client.ListCombinedSegments(t.Context(), &walbridgev1.ListCombinedSegmentsRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if m, err := list.Recv(); !errors.Is(err, io.EOF) {
		t.Errorf("stored: %v, %v", m, err)
	}
	st, err := r.client.GetStatus(t.Context(), &walbridgev1.GetStatusRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if st.GetInflightBytes() != 0 {
		t.Errorf("%d bytes still count as in flight", st.GetInflightBytes())
	}
}

func TestFetchRefuses(t *testing.T) {
	r := start(t, nil)
	s := []byte("section")
	answer, err := r.copySections(t.Context(), header(s), 100, s)
	if err != nil {
		t.Fatal(err)
	}
	x, err := frame.ParseExtent(answer.GetExtent())
	if err != nil {
		t.Fatal(err)
	}
	other := x
	other.Object.ULID[15] ^= 1
	missing, _ := other.AppendBinary(nil)
	flipped := bytes.Clone(answer.GetExtent())
	flipped[20] ^= 1
	at := answer.GetEntries()[0]
	for _, tc := range []struct {
		name   string
		extent []byte
		rng    *walbridgev1.EntryRange
		code   codes.Code
		reason string
	}{
		{"no extent", nil, whole(at), codes.InvalidArgument, "INVALID"},
		{"flipped extent", flipped, whole(at), codes.InvalidArgument, "INVALID"},
		{"no object", missing, whole(at), codes.NotFound, "NOT_FOUND"},
		{"no range", answer.GetExtent(), nil, codes.InvalidArgument, "INVALID"},
		{"negative", answer.GetExtent(), &walbridgev1.EntryRange{Entry: at, StartPosition: -1, EndPosition: 3}, codes.InvalidArgument, "INVALID"},
		{"inverted", answer.GetExtent(), &walbridgev1.EntryRange{Entry: at, StartPosition: 4, EndPosition: 3}, codes.InvalidArgument, "INVALID"},
		{"beyond", answer.GetExtent(), &walbridgev1.EntryRange{Entry: at, StartPosition: 7, EndPosition: 9}, codes.OutOfRange, "RANGE"},
		{"other topic", answer.GetExtent(), &walbridgev1.EntryRange{Entry: at, EndPosition: 9, TopicId: make([]byte, 16)}, codes.InvalidArgument, "INVALID"},
		{
			"no such entry", answer.GetExtent(),
			&walbridgev1.EntryRange{Entry: &walbridgev1.EntryLocation{Position: 1, Length: 2}, EndPosition: 9},
			codes.InvalidArgument, "INVALID",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := r.fetch(t.Context(), tc.extent, tc.rng)
			if err == nil {
				t.Fatalf("served %q", got)
			}
			wantError(t, err, tc.code, tc.reason)
		})
	}
}

// A copy beyond the bound is refused at once, while the others wait for their zones; nothing is lost by it.
func TestInflightBound(t *testing.T) {
	var appends *gate
	r := start(t, func(o *daemon.Options) {
		o.MaxInflightBytes, o.MaxCopyBytes = 1000, 1000
		appends = hold(o)
	})
	appends.close()
	s := bytes.Repeat([]byte("s"), 600)
	first := make(chan error, 1)
	go func() {
		_, err := r.copySections(context.Background(), header(s), 100, s)
		first <- err
	}()
	for {
		st, err := r.client.GetStatus(t.Context(), &walbridgev1.GetStatusRequest{})
		if err != nil {
			t.Fatal(err)
		}
		if st.GetInflightBytes() == 600 {
			break
		}
	}
	_, err := r.copySections(t.Context(), header(s), 100, s)
	wantError(t, err, codes.ResourceExhausted, "FULL")
	appends.open()
	if err := <-first; err != nil {
		t.Errorf("the accepted copy failed: %v", err)
	}
	if _, err := r.copySections(t.Context(), header(s), 100, s); err != nil {
		t.Errorf("after the first was answered: %v", err)
	}
}

// A connection that announces all the room and sends nothing loses it to another connection's copies.
func TestRoomIsSharedFairly(t *testing.T) {
	r := start(t, func(o *daemon.Options) { o.MaxInflightBytes = 1000; o.MaxCopyBytes = 1000 })
	hostile, err := r.client.CopyLogSegmentData(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	h := header(bytes.Repeat([]byte("s"), 1000))
	err = hostile.Send(&walbridgev1.CopyLogSegmentDataRequest{Payload: &walbridgev1.CopyLogSegmentDataRequest_Header{Header: h}})
	if err != nil {
		t.Fatal(err)
	}
	for {
		st, err := r.client.GetStatus(t.Context(), &walbridgev1.GetStatusRequest{})
		if err != nil {
			t.Fatal(err)
		}
		if st.GetInflightBytes() == 1000 {
			break
		}
	}
	conn, err := grpc.NewClient(r.conn.Target(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	honest := &running{client: walbridgev1.NewWalServiceClient(conn)}
	s := bytes.Repeat([]byte("h"), 600)
	if _, err := honest.copySections(t.Context(), header(s), 100, s); err != nil {
		t.Errorf("the honest copy: %v", err)
	}
	wantError(t, hostile.RecvMsg(&walbridgev1.CopyLogSegmentDataResponse{}), codes.ResourceExhausted, "FULL")
}

// A client that stops in the middle of a copy holds nothing for longer than the copy's timeout.
func TestSilentClient(t *testing.T) {
	r := start(t, func(o *daemon.Options) { o.CopyTimeout = 200 * time.Millisecond })
	s := []byte("section")
	stream, err := r.client.CopyLogSegmentData(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	h := &walbridgev1.CopyLogSegmentDataRequest{Payload: &walbridgev1.CopyLogSegmentDataRequest_Header{Header: header(s)}}
	if err := stream.Send(h); err != nil {
		t.Fatal(err)
	}
	err = stream.RecvMsg(&walbridgev1.CopyLogSegmentDataResponse{})
	wantError(t, err, codes.DeadlineExceeded, "UNAVAILABLE")
	for {
		st, err := r.client.GetStatus(t.Context(), &walbridgev1.GetStatusRequest{})
		if err != nil {
			t.Fatal(err)
		}
		if st.GetInflightBytes() == 0 {
			break
		}
	}
}

// A zone that dies changes nothing for the caller; the status tells.
func TestZoneLost(t *testing.T) {
	r := start(t, nil)
	s := []byte("section")
	before, err := r.copySections(t.Context(), header(s), 100, s)
	if err != nil {
		t.Fatal(err)
	}
	r.plans[0].Set(faulty.Faults{Fail: 1}, faulty.Create, faulty.Append, faulty.Read, faulty.List, faulty.Delete)
	if got, err := r.fetch(t.Context(), before.GetExtent(), whole(before.GetEntries()[0])); err != nil || !bytes.Equal(got, s) {
		t.Errorf("read with the local zone lost: %q, %v", got, err)
	}
	for range 20 {
		if _, err := r.copySections(t.Context(), header(s), 100, s); err != nil {
			t.Fatalf("copy with one zone lost: %v", err)
		}
	}
	st, err := r.client.GetStatus(t.Context(), &walbridgev1.GetStatusRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if st.GetHealthy() || st.GetZones()[0].GetState() != walbridgev1.ZoneState_ZONE_STATE_DOWN ||
		st.GetZones()[0].GetLastError() == "" || st.GetZones()[1].GetState() != walbridgev1.ZoneState_ZONE_STATE_HEALTHY {
		t.Errorf("got %v", st)
	}
}

// With no quorum a copy fails before its caller gives up, and says which zone it was; nothing is acknowledged.
func TestQuorumLost(t *testing.T) {
	r := start(t, func(o *daemon.Options) { o.CopyTimeout = time.Minute })
	for _, p := range r.plans[:2] {
		p.Set(faulty.Faults{Fail: 1}, faulty.Create, faulty.Append)
	}
	s := []byte("section")
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	_, err := r.copySections(ctx, header(s), 100, s)
	if code := status.Code(err); code != codes.Unavailable && code != codes.DeadlineExceeded {
		t.Errorf("got %v", err)
	}
	if !strings.Contains(err.Error(), "zone a") && !strings.Contains(err.Error(), "zone b") {
		t.Errorf("%v names no zone", err)
	}
}

func TestListAndIncarnation(t *testing.T) {
	r := start(t, nil)
	s := []byte("section")
	answer, err := r.copySections(t.Context(), header(s), 100, s)
	if err != nil {
		t.Fatal(err)
	}
	list := func(req *walbridgev1.ListCombinedSegmentsRequest) (found []*walbridgev1.ListCombinedSegmentsResponse) {
		stream, err := r.client.ListCombinedSegments(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		for {
			m, err := stream.Recv()
			if errors.Is(err, io.EOF) {
				return found
			}
			if err != nil {
				t.Fatal(err)
			}
			found = append(found, m)
		}
	}
	found := list(&walbridgev1.ListCombinedSegmentsRequest{})
	if len(found) != 1 || !bytes.Equal(found[0].GetExtent(), answer.GetExtent()) ||
		found[0].GetIndex().GetEntries()[0].GetTopic() != "orders" || found[0].GetIndex().GetIncarnation() != 1 {
		t.Errorf("listed %v, want extent %x", found, answer.GetExtent())
	}
	elsewhere := int32(broker + 1)
	if found := list(&walbridgev1.ListCombinedSegmentsRequest{BrokerId: &elsewhere}); len(found) != 0 {
		t.Errorf("broker %d: listed %v", elsewhere, found)
	}
	if found := list(&walbridgev1.ListCombinedSegmentsRequest{Topic: "other"}); len(found) != 0 {
		t.Errorf("topic other: listed %v", found)
	}
}

// A stop answers what was accepted.
func TestStopDrains(t *testing.T) {
	var appends *gate
	r := start(t, func(o *daemon.Options) {
		appends = hold(o)
		o.Stopping = appends.open
	})
	appends.close()
	s := []byte("section")
	answered := make(chan error, 1)
	go func() {
		_, err := r.copySections(context.Background(), header(s), 100, s)
		answered <- err
	}()
	for {
		st, err := r.client.GetStatus(t.Context(), &walbridgev1.GetStatusRequest{})
		if err != nil {
			t.Fatal(err)
		}
		if st.GetInflightBytes() > 0 {
			break
		}
	}
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	if err := <-answered; err != nil {
		t.Errorf("the accepted copy failed: %v", err)
	}
}

func TestHealth(t *testing.T) {
	r := start(t, nil)
	got, err := grpc_health_v1.NewHealthClient(r.conn).Check(t.Context(),
		&grpc_health_v1.HealthCheckRequest{Service: walbridgev1.WalService_ServiceDesc.ServiceName})
	if err != nil || got.GetStatus() != grpc_health_v1.HealthCheckResponse_SERVING {
		t.Errorf("got %v, %v", got, err)
	}
}

// A zone whose copy is damaged does not hide what the others have, not even where it is read first.
func TestListPassesOverADamagedZone(t *testing.T) {
	r := start(t, func(o *daemon.Options) {
		o.Combine.Lanes = 1
		o.Combine.Rotation.Appends = 32
	})
	s := []byte("s") // Next to nothing: the flipped bits are in headers and indexes.
	want := map[string]bool{}
	r.plans[0].Set(faulty.Faults{Corrupt: 1}, faulty.Append)
	for range 8 {
		answer, err := r.copySections(t.Context(), header(s), 1000, s)
		if err != nil {
			t.Fatal(err)
		}
		want[string(answer.GetExtent())] = true
	}
	stream, err := r.client.ListCombinedSegments(t.Context(), &walbridgev1.ListCombinedSegmentsRequest{})
	if err != nil {
		t.Fatal(err)
	}
	objects := map[string]bool{}
	for {
		m, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil || m.GetProblem() != "" {
			t.Fatalf("%v, %v", m, err)
		}
		objects[m.GetObject()] = true
		delete(want, string(m.GetExtent()))
	}
	if len(want) > 0 || len(objects) != 1 {
		t.Errorf("%d acknowledged frames are not listed; %d objects, want 1", len(want), len(objects))
	}
}

// Chunks without bytes are refused, and hold nothing.
func TestEmptyChunk(t *testing.T) {
	r := start(t, nil)
	stream, err := r.client.CopyLogSegmentData(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []*walbridgev1.CopyLogSegmentDataRequest{
		{Payload: &walbridgev1.CopyLogSegmentDataRequest_Header{Header: header([]byte("s"))}},
		{Payload: &walbridgev1.CopyLogSegmentDataRequest_Chunk{}},
	} {
		_ = stream.Send(m)
	}
	_, err = stream.CloseAndRecv()
	wantError(t, err, codes.InvalidArgument, "INVALID")
	wantNothingStored(t, r)
}
