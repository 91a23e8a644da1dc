package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/walbridge/walbridge/integration/daemon"
	"github.com/walbridge/walbridge/integration/kafka"
	"github.com/walbridge/walbridge/integration/load"
	"github.com/walbridge/walbridge/integration/upload"
	"github.com/walbridge/walbridge/integration/versitygw"
	walbridgev1 "github.com/walbridge/walbridge/proto/walbridge/v1"
)

// system is a broker with the agent, its daemon, and the topics of the demo.
type system struct {
	dir        string
	cluster    *kafka.Cluster
	daemon     *daemon.Daemon
	gcs        *gcsZones         // nil where the zones are not buckets of it
	s3         *versitygw.Server // nil where the zones are not buckets of it
	client     *kgo.Client
	partitions []load.Partition
}

// start starts everything and creates the topics.
func start(ctx context.Context, dir string, opts options, p *progress) (s *system, err error) {
	s = &system{dir: dir}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	agent, err := upload.Option()
	if err != nil {
		return nil, err
	}
	p.now("formatting the broker's storage")
	s.cluster, err = kafka.New(ctx, kafka.Config{
		Dir:     filepath.Join(dir, "kafka"),
		Options: []string{agent},
	})
	if err != nil {
		return nil, err
	}
	broker := s.cluster.Brokers[0]
	p.now("building and starting the daemon")
	s.daemon, err = daemon.New(ctx, daemon.Config{
		Dir: dir, ClusterID: s.cluster.ID, BrokerID: broker.ID, Zones: zones,
	})
	if err != nil {
		return nil, err
	}
	if opts.gcs {
		if s.gcs, err = startGCS(ctx, dir); err != nil {
			return nil, err
		}
	}
	if opts.s3 {
		if s.s3, err = startS3(ctx, dir); err != nil {
			return nil, err
		}
	}
	if err := s.daemon.Start(ctx); err != nil {
		return nil, err
	}
	p.done("the daemon serves, zones %v", zones)

	p.now("starting the broker")
	broker.Properties = upload.Settings(s.daemon.Target(), `demo\..*`)
	if err := s.cluster.Start(ctx); err != nil {
		return nil, err
	}
	p.done("a stock Kafka %s broker runs, with the agent", kafka.Newest)
	return s, s.createTopics(ctx, opts.partitions)
}

// createTopics spreads the partitions over three topics, with the smallest segments that Kafka allows, so that some
// roll.
func (s *system) createTopics(ctx context.Context, partitions int) (err error) {
	s.client, err = kgo.NewClient(kgo.SeedBrokers(s.cluster.Addresses()...))
	if err != nil {
		return fmt.Errorf("client of the broker: %w", err)
	}
	segmentBytes := "1048576"
	configs := map[string]*string{"segment.bytes": &segmentBytes}
	names := []string{"demo.orders", "demo.payments", "demo.clicks"}
	for i, topic := range names {
		n := (partitions + i) / len(names)
		if n == 0 {
			continue
		}
		if _, err := kadm.NewClient(s.client).CreateTopic(ctx, int32(n), 1, configs, topic); err != nil {
			return fmt.Errorf("create topic %s: %w", topic, err)
		}
		for id := range n {
			s.partitions = append(s.partitions, load.Partition{Topic: topic, ID: int32(id)})
		}
	}
	return nil
}

// watch returns a context that ends when the broker does.
func (s *system) watch(ctx context.Context) (context.Context, context.CancelCauseFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	broker := s.cluster.Brokers[0]
	go func() {
		select {
		case <-broker.Exited():
			cancel(broker.Ended())
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

// status asks the daemon how it is.
func (s *system) status(ctx context.Context) (*walbridgev1.GetStatusResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	r, err := s.daemon.Client().GetStatus(ctx, &walbridgev1.GetStatusRequest{})
	if err != nil {
		return nil, fmt.Errorf("the daemon's status: %w", errors.Join(err, s.daemon.Ended()))
	}
	return r, nil
}

// close ends every process.
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
	if s.gcs != nil {
		s.gcs.process.Kill()
	}
	if s.s3 != nil {
		s.s3.Close()
	}
}
