// Package uploadevents does to a real cluster under load what happens to leaders and logs, and checks after each event
// that the WAL of the leader holds exactly the leader's log.
package uploadevents

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/walbridge/walbridge/integration/daemon"
	"github.com/walbridge/walbridge/integration/kafka"
	"github.com/walbridge/walbridge/integration/load"
	"github.com/walbridge/walbridge/integration/upload"
)

// brokers is how many there are: of three controllers one may be down.
const brokers = 3

// properties make a cluster notice soon what has happened.
var properties = map[string]string{
	"broker.session.timeout.ms":       "4000",
	"broker.heartbeat.interval.ms":    "500",
	"auto.leader.rebalance.enable":    "false",
	"log.initial.task.delay.ms":       "500",
	"log.retention.check.interval.ms": "500",
}

// System is a cluster of three brokers with two log directories each, a daemon for each broker, and a load.
type System struct {
	// Figures are what the cases have measured.
	Figures map[string]any

	dir     string
	cluster *kafka.Cluster
	daemons []*daemon.Daemon // in the order of the brokers
	client  *kgo.Client
	admin   *kadm.Client
	load    *load.Stream
}

// Start starts everything. An empty version is the newest.
func Start(ctx context.Context, dir, version string) (s *System, err error) {
	s = &System{Figures: map[string]any{}, dir: dir}
	defer func() {
		if err != nil {
			s.Close()
		}
	}()
	agent, err := upload.Option()
	if err != nil {
		return nil, err
	}
	s.cluster, err = kafka.New(ctx, kafka.Config{
		Dir: filepath.Join(dir, "kafka"), Version: version, Brokers: brokers, LogDirs: 2, Heap: "320m",
		Options: []string{agent, "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"}, Properties: properties,
	})
	if err != nil {
		return nil, err
	}
	for _, b := range s.cluster.Brokers {
		d, err := daemon.New(ctx, daemon.Config{
			Dir: filepath.Join(dir, fmt.Sprint("d", b.ID)), ClusterID: s.cluster.ID, BrokerID: b.ID,
		})
		if err != nil {
			return nil, err
		}
		s.daemons = append(s.daemons, d)
		if err := d.Start(ctx); err != nil {
			return nil, err
		}
		b.Properties = upload.Settings(d.Target(), `e2e\..*`)
	}
	if err := s.cluster.Start(ctx); err != nil {
		return nil, err
	}
	s.client, err = kgo.NewClient(kgo.SeedBrokers(s.cluster.Addresses()...), kgo.MetadataMinAge(100*time.Millisecond),
		kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.ProducerBatchCompression(kgo.NoCompression()))
	if err != nil {
		return nil, fmt.Errorf("client of the cluster: %w", err)
	}
	s.admin = kadm.NewClient(s.client)
	s.load, err = load.StartStream(s.cluster.Addresses(), 1)
	return s, err
}

// Close ends everything. The files stay.
func (s *System) Close() {
	if s.load != nil {
		s.load.Close()
	}
	if s.client != nil {
		s.client.Close()
	}
	if s.cluster != nil {
		s.cluster.Close()
	}
	for _, d := range s.daemons {
		d.Close()
	}
}

func (s *System) broker(id int32) *kafka.Broker { return s.cluster.Brokers[id-1] }

// until asks again and again until what it asks is so, for a minute at most; the last error then says what is not.
func until(ctx context.Context, what string, ask func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		err := ask(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait until %s: %w", what, err)
		case <-time.After(100 * time.Millisecond):
		}
	}
}
