package integration_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/walbridge/walbridge/integration/collector"
	"github.com/walbridge/walbridge/integration/daemon"
	"github.com/walbridge/walbridge/integration/kafka"
	"github.com/walbridge/walbridge/integration/load"
	"github.com/walbridge/walbridge/integration/upload"
)

// A trace that the shim begins in a broker's JVM goes on in the daemon, in the copy's frame, and in the zones.
func TestTraceFromBrokerToZone(t *testing.T) {
	if testing.Short() {
		t.Skip("runs a real broker")
	}
	spans, err := collector.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(spans.Close)
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	d := uploadOneRecord(ctx, t, spans.Endpoint())
	if err := d.Stop(ctx); err != nil { // It sends what it still has.
		t.Fatal(err)
	}
	ours := map[string]bool{}
	for _, s := range spans.Spans() {
		ours[string(s.GetSpanId())] = true
	}
	for _, s := range spans.Spans() {
		if s.GetName() != "walbridge.v1.WalService/CopyLogSegmentData" {
			continue
		}
		if len(s.GetParentSpanId()) == 0 || ours[string(s.GetParentSpanId())] {
			t.Errorf("the shim did not begin the trace of a copy: %v", s)
		}
		frame := spans.Under(s.GetSpanId(), "combine.frame")
		if frame == nil || spans.Under(frame.GetSpanId(), "zone.append") == nil {
			t.Errorf("the trace of a copy does not go on to a zone: %v", spans.Spans())
		}
		return
	}
	t.Errorf("no span of a copy: %v", spans.Spans())
}

// uploadOneRecord produces a record to a broker whose shim traces every call, and returns the daemon once it is stored.
// The configuration samples nothing by itself.
func uploadOneRecord(ctx context.Context, t *testing.T, endpoint string) *daemon.Daemon {
	t.Helper()
	dir := socketDir(t)
	agent, err := upload.Option()
	if err != nil {
		t.Fatal(err)
	}
	c, err := kafka.New(ctx, kafka.Config{Dir: filepath.Join(dir, "kafka"), Options: []string{agent}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	d, err := daemon.New(ctx, daemon.Config{
		Dir: dir, ClusterID: c.ID, BrokerID: c.Brokers[0].ID,
		YAML: fmt.Sprintf("tracing: {endpoint: %q, sample: 0}\n", endpoint),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	if err := d.Start(ctx); err != nil {
		t.Fatal(err)
	}
	c.Brokers[0].Properties = upload.Settings(d.Target(), "orders")
	c.Brokers[0].Properties["rwsm.config.trace.sample"] = "1"
	if err := c.Start(ctx); err != nil {
		t.Fatal(err)
	}
	client, err := kgo.NewClient(kgo.SeedBrokers(c.Addresses()...))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	admin := kadm.NewClient(client)
	if _, err := admin.CreateTopic(ctx, 1, 1, nil, "orders"); err != nil {
		t.Fatal(err)
	}
	produced := client.ProduceSync(ctx, &kgo.Record{Topic: "orders", Value: []byte("traced")})
	if err := produced.FirstErr(); err != nil {
		t.Fatal(err)
	}
	if err := upload.AwaitEnd(ctx, d, admin, []load.Partition{{Topic: "orders"}}, nil); err != nil {
		t.Fatal(err)
	}
	return d
}
