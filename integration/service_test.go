package integration_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"

	"github.com/walbridge/walbridge/integration/daemon"
	walbridgev1 "github.com/walbridge/walbridge/proto/walbridge/v1"
)

// startDaemon starts a daemon with three zones and returns a context for all that the test does.
func startDaemon(t *testing.T, yaml string) (context.Context, *daemon.Daemon) {
	t.Helper()
	if testing.Short() {
		t.Skip("runs the built daemon")
	}
	// Outside the deadline: it may build the binary.
	d, err := daemon.New(t.Context(), daemon.Config{
		Dir: socketDir(t), ClusterID: clusterID, BrokerID: brokerID, YAML: yaml,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	if err := d.Start(ctx); err != nil {
		t.Fatal(err)
	}
	return ctx, d
}

// socketDir is a directory whose path leaves room for a socket's name: a test's own may be too long.
func socketDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "wal")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// What was copied is there after a kill -9, byte for byte, without one of the zones too.
func TestCopiesSurviveAKillAndALostZone(t *testing.T) {
	ctx, d := startDaemon(t, "")
	all := sections(newRand(t), 5, 300<<10)
	copied, err := copyAll(ctx, d, all)
	if err != nil {
		t.Fatal(err)
	}
	if len(copied.Extent) == 0 || len(copied.Extent) > 64 {
		t.Errorf("extent of %d bytes, want 1 to 64", len(copied.Extent))
	}
	checkFetch(ctx, t, d, all, copied)
	d.Kill()
	if err := os.RemoveAll(d.ZoneDir("zone-a")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(d.ZoneDir("zone-a"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := d.Start(ctx); err != nil {
		t.Fatal(err)
	}
	checkFetch(ctx, t, d, all, copied)
}

// SIGTERM ends the daemon after the copy that it had begun to receive, and that copy is stored.
func TestStopFinishesWhatWasAccepted(t *testing.T) {
	ctx, d := startDaemon(t, "")
	all := sections(newRand(t), 2, 100<<10)
	c, err := startCopy(ctx, d, all)
	if err != nil {
		t.Fatal(err)
	}
	await(ctx, t, "the copy is accepted", func() error { return inflight(ctx, d, 200<<10) })
	stopped := make(chan error, 1)
	go func() { stopped <- d.Stop(ctx) }()
	await(ctx, t, "nothing new is taken", func() error {
		if _, err := d.Client().GetStatus(ctx, &walbridgev1.GetStatusRequest{}); status.Code(err) != codes.Unavailable {
			return fmt.Errorf("status during the stop: %v", err)
		}
		return nil
	})
	copied, err := c.finish()
	if err != nil {
		t.Fatalf("the copy that was accepted: %v", err)
	}
	if err := <-stopped; err != nil {
		t.Fatal(err)
	}
	if err := d.Start(ctx); err != nil {
		t.Fatal(err)
	}
	checkFetch(ctx, t, d, all, copied)
}

// Beyond the bound a copy is refused at once, and taken when there is room again.
func TestFull(t *testing.T) {
	ctx, d := startDaemon(t, "limits: {inflight_bytes: 1MiB, copy_bytes: 1MiB}\n")
	rnd := newRand(t)
	first, second := sections(rnd, 1, 900<<10), sections(rnd, 1, 200<<10)
	c, err := startCopy(ctx, d, first)
	if err != nil {
		t.Fatal(err)
	}
	await(ctx, t, "the copy is accepted", func() error { return inflight(ctx, d, 900<<10) })
	_, err = copyAll(ctx, d, second)
	wantError(t, err, codes.ResourceExhausted, "FULL")
	if _, err := c.finish(); err != nil {
		t.Fatal(err)
	}
	await(ctx, t, "there is room", func() error { return inflight(ctx, d, 0) })
	if _, err := copyAll(ctx, d, second); err != nil {
		t.Fatal(err)
	}
}

// A copy of another broker is refused, and one that breaks off leaves nothing behind.
func TestRefusals(t *testing.T) {
	ctx, d := startDaemon(t, "")
	all := sections(newRand(t), 1, 1000)
	copied, err := copyAll(ctx, d, all)
	if err != nil {
		t.Fatal(err)
	}
	stream, err := d.Client().CopyLogSegmentData(ctx)
	if err != nil {
		t.Fatal(err)
	}
	header := &walbridgev1.CopyHeader{ClusterId: clusterID, BrokerId: brokerID + 1, CombinedSegmentId: make([]byte, 16)}
	err = stream.Send(&walbridgev1.CopyLogSegmentDataRequest{
		Payload: &walbridgev1.CopyLogSegmentDataRequest_Header{Header: header},
	})
	if err != nil {
		t.Fatal(err)
	}
	_, err = stream.CloseAndRecv()
	wantError(t, err, codes.FailedPrecondition, "IDENTITY")

	broken, cancel := context.WithCancel(ctx)
	if _, err := startCopy(broken, d, all); err != nil {
		t.Fatal(err)
	}
	await(ctx, t, "the copy is accepted", func() error { return inflight(ctx, d, 1000) })
	cancel()
	await(ctx, t, "its bytes are released", func() error { return inflight(ctx, d, 0) })

	_, err = fetch(ctx, d, copied.Extent, &walbridgev1.EntryRange{
		Entry: copied.Entries[0], StartPosition: 1000, EndPosition: 2000,
	})
	wantError(t, err, codes.OutOfRange, "RANGE")
	copied.Extent[len(copied.Extent)-1] ^= 1
	_, err = fetch(ctx, d, copied.Extent, &walbridgev1.EntryRange{Entry: copied.Entries[0], EndPosition: 10})
	wantError(t, err, codes.InvalidArgument, "INVALID")
}

// An operator's grpcurl finds the service.
func TestReflection(t *testing.T) {
	ctx, d := startDaemon(t, "")
	stream, err := grpc_reflection_v1.NewServerReflectionClient(d.Conn()).ServerReflectionInfo(ctx)
	if err != nil {
		t.Fatal(err)
	}
	request := &grpc_reflection_v1.ServerReflectionRequest_ListServices{}
	err = stream.Send(&grpc_reflection_v1.ServerReflectionRequest{MessageRequest: request})
	if err != nil {
		t.Fatal(err)
	}
	r, err := stream.Recv()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range r.GetListServicesResponse().GetService() {
		names = append(names, s.Name)
	}
	for _, want := range []string{"walbridge.v1.WalService", "grpc.health.v1.Health"} {
		if !slices.Contains(names, want) {
			t.Errorf("services %v lack %s", names, want)
		}
	}
}

// inflight is nil when the daemon holds that many bytes of copies.
func inflight(ctx context.Context, d *daemon.Daemon, want uint64) error {
	s, err := d.Client().GetStatus(ctx, &walbridgev1.GetStatusRequest{})
	if err == nil && s.InflightBytes != want {
		err = fmt.Errorf("%d bytes in flight, not %d", s.InflightBytes, want)
	}
	return err
}

// await calls is until it returns nil.
func await(ctx context.Context, t *testing.T, what string, is func() error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		err := is()
		if err == nil {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("waited until %s: %v", what, errors.Join(ctx.Err(), err))
		}
	}
}

// wantError checks an error's code and the reason that its details give.
func wantError(t *testing.T, err error, code codes.Code, reason string) {
	t.Helper()
	s := status.Convert(err)
	if s.Code() != code {
		t.Errorf("error %v, want code %v", err, code)
	}
	for _, detail := range s.Details() {
		if info, ok := detail.(*errdetails.ErrorInfo); ok && info.Reason == reason {
			return
		}
	}
	t.Errorf("error %v has details %v, want reason %s", err, s.Details(), reason)
}
