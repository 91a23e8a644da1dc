package kafka_test

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/walbridge/walbridge/integration/kafka"
)

func newCluster(t *testing.T, cfg kafka.Config) *kafka.Cluster {
	t.Helper()
	if testing.Short() {
		t.Skip("starts real brokers")
	}
	cfg.Dir = t.TempDir()
	c, err := kafka.New(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// A cluster of two survives a clean stop, a kill -9 and restarts, and keeps what was produced.
func TestClusterRestarts(t *testing.T) {
	c := newCluster(t, kafka.Config{Brokers: 2, LogDirs: 2})
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	if err := c.Start(ctx); err != nil {
		t.Fatal(err)
	}
	client, err := kgo.NewClient(kgo.SeedBrokers(c.Addresses()...), kgo.DefaultProduceTopic("t"))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if _, err := kadm.NewClient(client).CreateTopic(ctx, 1, 2, nil, "t"); err != nil {
		t.Fatal(err)
	}
	produce := func() {
		t.Helper()
		if err := client.ProduceSync(ctx, kgo.StringRecord("x")).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
	produce()
	if err := c.Brokers[1].Stop(ctx); err != nil {
		t.Fatal(err)
	}
	if err := c.Brokers[1].Start(ctx); err != nil {
		t.Fatal(err)
	}
	produce()
	c.Brokers[1].Kill()
	if err := c.Brokers[1].Start(ctx); err != nil {
		t.Fatal(err)
	}
	produce()
	ends, err := kadm.NewClient(client).ListEndOffsets(ctx, "t")
	if err != nil {
		t.Fatal(err)
	}
	if end, _ := ends.Lookup("t", 0); end.Offset != 3 {
		t.Fatalf("log end = %d, want 3 (%v)", end.Offset, end.Err)
	}
}

// A broker that cannot start is reported at once, with the reason that it logged.
func TestBrokerThatDiesSaysWhy(t *testing.T) {
	c := newCluster(t, kafka.Config{})
	c.Brokers[0].Properties = map[string]string{"num.network.threads": "none"}
	err := c.Start(t.Context())
	if err == nil || !strings.Contains(err.Error(), "num.network.threads") {
		t.Fatalf("error = %v, want one that quotes the broker's log", err)
	}
	if _, err := os.Stat(c.Brokers[0].LogFile()); err != nil {
		t.Fatal(err)
	}
}

func TestNewest(t *testing.T) {
	if versions := kafka.Versions(); versions[len(versions)-1] != kafka.Newest {
		t.Errorf("Newest = %s, but the versions are %v", kafka.Newest, versions)
	}
}
