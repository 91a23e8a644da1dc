package daemoncases

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"

	tracev1 "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"

	"github.com/walbridge/walbridge/integration/collector"
	"github.com/walbridge/walbridge/integration/hostile"
	walbridgev1 "github.com/walbridge/walbridge/proto/walbridge/v1"
)

// traces: a copy's trace goes on in the daemon, in its frame, and in each zone of a quorum, a fetch's in a zone; what its
// caller does not trace, and the configuration does not sample, sends nothing.
func traces(ctx context.Context, r *rig) error {
	spans, err := collector.Start()
	if err != nil {
		return err
	}
	defer spans.Close()
	p, err := r.start(ctx, r.configuration(fmt.Sprintf("tracing: {endpoint: %q, sample: 0}\n", spans.Endpoint())))
	if err != nil {
		return err
	}
	conn, err := grpc.NewClient(r.target(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	defer conn.Close()
	const trace, caller = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
	traced := metadata.AppendToOutgoingContext(ctx, "traceparent", "00-"+trace+"-"+caller+"-01")
	for _, ctx := range []context.Context{traced, ctx} {
		if err := hostile.HonestCopy(ctx, conn, "cluster", 1, make([]byte, 1000)); err != nil {
			return err
		}
	}
	if err := fetchFirst(ctx, traced, conn); err != nil {
		return err
	}
	if err := p.Stop(ctx); err != nil { // It sends what it still has.
		return err
	}
	for _, path := range [][]string{
		{"walbridge.v1.WalService/CopyLogSegmentData", "combine.frame", "zone.append"},
		{"walbridge.v1.WalService/FetchLogSegment", "zone.read"},
	} {
		parent, err := hex.DecodeString(caller)
		if err != nil {
			return err
		}
		var s *tracev1.Span
		for _, name := range path {
			if s = spans.Under(parent, name); s == nil || hex.EncodeToString(s.GetTraceId()) != trace {
				return fmt.Errorf("no span %s below %x in trace %s: %v", name, parent, trace, spans.Spans())
			}
			parent = s.GetSpanId()
		}
		if !strings.Contains(s.String(), "walbridge.object") {
			return fmt.Errorf("the zone's span names no object: %v", s)
		}
	}
	appends := 0
	for _, s := range spans.Spans() {
		if hex.EncodeToString(s.GetTraceId()) != trace {
			return fmt.Errorf("a span that nobody asked for: %v", s)
		}
		if s.GetName() == "zone.append" {
			appends++
		}
	}
	if appends < 2 {
		return errors.New("fewer zones than a quorum have a span of the append")
	}
	return nil
}

// fetchFirst finds a frame, and fetches its first entry, that with the ctx fetching.
func fetchFirst(ctx, fetching context.Context, conn *grpc.ClientConn) error {
	client := walbridgev1.NewWalServiceClient(conn)
	list, err := client.ListCombinedSegments(ctx, &walbridgev1.ListCombinedSegmentsRequest{})
	if err != nil {
		return err
	}
	found, err := list.Recv()
	if err != nil {
		return err
	}
	e := found.GetIndex().GetEntries()[0]
	at := &walbridgev1.EntryLocation{Position: e.GetPosition(), Length: e.GetLength()}
	stream, err := client.FetchLogSegment(fetching, &walbridgev1.FetchLogSegmentRequest{
		Extent: found.GetExtent(), Range: &walbridgev1.EntryRange{Entry: at, EndPosition: int64(e.GetLength())},
	})
	for err == nil {
		_, err = stream.Recv()
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}
