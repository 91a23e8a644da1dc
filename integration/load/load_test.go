package load_test

import (
	"context"
	"math/rand/v2"
	"os"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/walbridge/walbridge/integration/kafka"
	"github.com/walbridge/walbridge/integration/load"
)

// A consumer of everything sees every record once; a consumer of what is committed sees fewer, and not none.
func TestRun(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a real broker")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	cluster, err := kafka.New(ctx, kafka.Config{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer cluster.Close()
	if err := cluster.Start(ctx); err != nil {
		t.Fatal(err)
	}
	client, err := kgo.NewClient(kgo.SeedBrokers(cluster.Addresses()...))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if _, err := kadm.NewClient(client).CreateTopic(ctx, 2, 1, nil, "t"); err != nil {
		t.Fatal(err)
	}

	const records = 20_000
	var acked atomic.Int64
	err = load.Run(ctx, load.Config{
		Brokers:    cluster.Addresses(),
		Partitions: []load.Partition{{Topic: "t", ID: 0}, {Topic: "t", ID: 1}},
		Records:    records,
		Seed:       seed(t),
		Acked:      func() { acked.Add(1) },
	})
	if err != nil {
		t.Fatal(err)
	}
	if n := acked.Load(); n != records {
		t.Errorf("%d records acknowledged, want %d", n, records)
	}
	if n := consumed(ctx, t, cluster, kgo.ReadUncommitted()); n != records {
		t.Errorf("%d records in the log, want %d", n, records)
	}
	if n := consumed(ctx, t, cluster, kgo.ReadCommitted()); n >= records || n < records/2 {
		t.Errorf("%d records committed, want fewer than %d, but most", n, records)
	}
}

// consumed counts the records that a consumer sees up to the log end.
func consumed(ctx context.Context, t *testing.T, cluster *kafka.Cluster, level kgo.IsolationLevel) int {
	t.Helper()
	n, err := load.Count(ctx, cluster.Addresses(), []load.Partition{{Topic: "t", ID: 0}, {Topic: "t", ID: 1}}, level)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func seed(t *testing.T) uint64 {
	s := rand.Uint64()
	if given := os.Getenv("WALBRIDGE_SEED"); given != "" {
		var err error
		if s, err = strconv.ParseUint(given, 10, 64); err != nil {
			t.Fatalf("WALBRIDGE_SEED: %v", err)
		}
	}
	t.Logf("WALBRIDGE_SEED=%d", s)
	return s
}
