package versions

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/walbridge/walbridge/integration/daemon"
	"github.com/walbridge/walbridge/integration/kafka"
	"github.com/walbridge/walbridge/integration/load"
	"github.com/walbridge/walbridge/integration/upload"
)

const (
	topic      = "orders"
	partitions = 6
	records    = 12_000
	// agentLogger is how the agent's lines in the broker's log begin, after their time and level.
	agentLogger = "io.walbridge."
)

// system is a broker with the agent, and its daemon with three zones.
type system struct {
	dir        string
	cluster    *kafka.Cluster
	daemon     *daemon.Daemon
	client     *kgo.Client
	partitions []load.Partition
}

// start starts both and creates the topic, with the smallest segments that Kafka allows, so that some roll.
func start(ctx context.Context, dir string, cfg kafka.Config) (s *system, err error) {
	s = &system{dir: dir}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	cfg.Dir = filepath.Join(dir, "kafka")
	if s.cluster, err = kafka.New(ctx, cfg); err != nil {
		return nil, err
	}
	s.daemon, err = daemon.New(ctx, daemon.Config{Dir: dir, ClusterID: s.cluster.ID, BrokerID: s.broker().ID})
	if err != nil {
		return nil, err
	}
	if err := s.daemon.Start(ctx); err != nil {
		return nil, err
	}
	s.broker().Properties = upload.Settings(s.daemon.Target(), topic)
	if err := s.cluster.Start(ctx); err != nil {
		return nil, err
	}
	if s.client, err = kgo.NewClient(kgo.SeedBrokers(s.cluster.Addresses()...)); err != nil {
		return nil, err
	}
	segmentBytes := "1048576"
	configs := map[string]*string{"segment.bytes": &segmentBytes}
	if _, err := s.admin().CreateTopic(ctx, partitions, 1, configs, topic); err != nil {
		return nil, fmt.Errorf("create topic %s: %w", topic, err)
	}
	for id := range int32(partitions) {
		s.partitions = append(s.partitions, load.Partition{Topic: topic, ID: id})
	}
	return s, nil
}

func (s *system) broker() *kafka.Broker { return s.cluster.Brokers[0] }

func (s *system) admin() *kadm.Client { return kadm.NewClient(s.client) }

// serve produces and consumes as applications do. The broker must take and give back every record.
func (s *system) serve(ctx context.Context) error {
	err := load.Run(ctx, load.Config{
		Brokers: s.cluster.Addresses(), Partitions: s.partitions, Records: records, Seed: 1, Acked: func() {},
	})
	if err != nil {
		return err
	}
	got, err := load.Count(ctx, s.cluster.Addresses(), s.partitions, kgo.ReadUncommitted())
	if err == nil && got != records {
		err = fmt.Errorf("%d records consumed, but %d produced", got, records)
	}
	return err
}

// stop stops the broker as SIGTERM does. It must say that it is done, or the next start would recover its log.
func (s *system) stop(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, time.Minute, errors.New("did not stop within a minute"))
	defer cancel()
	if err := s.broker().Stop(ctx); err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(s.broker().LogDirs[0], ".kafka_cleanshutdown")); err != nil {
		return fmt.Errorf("the broker's end was not clean: %w", err)
	}
	return nil
}

// agentSays are the lines of the agent in the broker's log.
func (s *system) agentSays() ([]string, error) {
	log, err := os.ReadFile(s.broker().LogFile())
	if err != nil {
		return nil, err
	}
	var lines []string
	for line := range strings.Lines(string(log)) {
		if strings.Contains(line, agentLogger) || strings.Contains(line, "Walbridge") {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	return lines, nil
}

func (s *system) close() {
	if s.client != nil {
		s.client.Close()
	}
	if s.cluster != nil {
		s.cluster.Close()
	}
	if s.daemon != nil {
		s.daemon.Close()
	}
}
