package noharm

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/walbridge/walbridge/integration/artifact"
	"github.com/walbridge/walbridge/integration/daemon"
	"github.com/walbridge/walbridge/integration/kafka"
	"github.com/walbridge/walbridge/integration/load"
	"github.com/walbridge/walbridge/integration/upload"
)

// maxBacklog is how much may wait in the logs of replicated partitions before they skip ahead.
const maxBacklog = 4 << 20

// partitions is how many each topic has.
const partitions = 4

// Rig is a cluster of two stock brokers of which the first one leads everything and uploads it, to a daemon that it
// reaches through a target of ours. Its methods are for one goroutine.
type Rig struct {
	dir     string
	cluster *kafka.Cluster
	daemon  *daemon.Daemon
	target  *target
	client  *kgo.Client
	admin   *kadm.Client
	seed    uint64
}

// Start starts everything; dir gets all files. Every byte that the first topics take is meant for the WAL.
func Start(ctx context.Context, dir, version string) (r *Rig, err error) {
	r = &Rig{dir: dir, target: newTarget(filepath.Join(dir, "target.sock"))}
	defer func() {
		if err != nil {
			r.Close()
		}
	}()
	agent, err := upload.Option()
	if err != nil {
		return nil, err
	}
	reporter, err := artifact.VerifyJar()
	if err != nil {
		return nil, err
	}
	r.cluster, err = kafka.New(ctx, kafka.Config{
		Dir: filepath.Join(dir, "kafka"), Version: version, Brokers: 2, Heap: "384m",
		Options: []string{agent}, ClassPath: []string{reporter},
	})
	if err != nil {
		return nil, err
	}
	r.daemon, err = daemon.New(ctx, daemon.Config{Dir: dir, ClusterID: r.cluster.ID, BrokerID: r.leader().ID})
	if err != nil {
		return nil, err
	}
	if err := r.daemon.Start(ctx); err != nil {
		return nil, err
	}
	if err := r.healthy(); err != nil {
		return nil, err
	}
	r.leader().Properties = upload.Settings(r.target.URL(), "wal-.*")
	maps.Copy(r.leader().Properties, map[string]string{
		"remote.wal.log.manager.max.backlog.bytes": fmt.Sprint(maxBacklog),
		"remote.wal.log.manager.buffer.bytes":      fmt.Sprint(4 << 20),
		"rwsm.config.copy.timeout.ms":              "2000",
		"metric.reporters":                         "io.walbridge.verify.MetricsFile",
		"verify.metrics.file":                      r.metricsFile(),
		"log.segment.delete.delay.ms":              "100",
	})
	if err := r.cluster.Start(ctx); err != nil {
		return nil, err
	}
	r.client, err = kgo.NewClient(kgo.SeedBrokers(r.cluster.Addresses()...), kgo.MetadataMinAge(20*time.Millisecond))
	if err != nil {
		return nil, err
	}
	r.admin = kadm.NewClient(r.client)
	return r, errors.Join(r.create(ctx, single, nil, 1), r.create(ctx, replicated, nil, 1, 2))
}

// The topics that every case uses: one with a single replica, one with two.
const (
	single     = "wal-single"
	replicated = "wal-replicated"
)

// Close ends every process. The files stay.
func (r *Rig) Close() {
	if r.client != nil {
		r.client.Close()
	}
	if r.cluster != nil {
		r.cluster.Close()
	}
	if r.daemon != nil {
		r.daemon.Close()
	}
	r.target.Down()
}

func (r *Rig) leader() *kafka.Broker { return r.cluster.Brokers[0] }

func (r *Rig) metricsFile() string { return filepath.Join(r.dir, "metrics") }

// healthy has the agent reach the daemon.
func (r *Rig) healthy() error { return r.target.Serve(relay(r.daemon.Socket(), 0)) }

// create creates a topic whose partitions all have these replicas, the first one as their leader.
func (r *Rig) create(ctx context.Context, topic string, configs map[string]string, replicas ...int32) error {
	t := kmsg.NewCreateTopicsRequestTopic()
	t.Topic, t.NumPartitions, t.ReplicationFactor = topic, -1, -1
	for id := range int32(partitions) {
		a := kmsg.NewCreateTopicsRequestTopicReplicaAssignment()
		a.Partition, a.Replicas = id, replicas
		t.ReplicaAssignment = append(t.ReplicaAssignment, a)
	}
	for k, v := range configs {
		c := kmsg.NewCreateTopicsRequestTopicConfig()
		c.Name, c.Value = k, &v
		t.Configs = append(t.Configs, c)
	}
	request := kmsg.NewPtrCreateTopicsRequest()
	request.TimeoutMillis = 30_000
	request.Topics = append(request.Topics, t)
	response, err := request.RequestWith(ctx, r.client)
	if err == nil {
		err = kerrOf(response)
	}
	if err != nil {
		return fmt.Errorf("create topic %s: %w", topic, err)
	}
	return nil
}

func of(topics ...string) []load.Partition {
	var all []load.Partition
	for _, topic := range topics {
		for id := range int32(partitions) {
			all = append(all, load.Partition{Topic: topic, ID: id})
		}
	}
	return all
}

// produce has every kind of producer write so many records, all of which must be acknowledged.
func (r *Rig) produce(ctx context.Context, records int, topics ...string) error {
	r.seed++
	return load.Run(ctx, load.Config{
		Brokers: r.cluster.Addresses(), Partitions: of(topics...), Records: records, Seed: r.seed, Acked: func() {},
	})
}

// serves fails unless so many records are all acknowledged and then fetched, none more and none less.
func (r *Rig) serves(ctx context.Context, records int) error {
	ctx, cancel := context.WithTimeoutCause(ctx, time.Minute, errors.New("not served within a minute"))
	defer cancel()
	ends, err := r.ends(ctx, single, replicated)
	if err != nil {
		return err
	}
	if err := r.produce(ctx, records, single, replicated); err != nil {
		return fmt.Errorf("produce: %w", err)
	}
	got, err := r.fetch(ctx, ends, records)
	if err != nil {
		return fmt.Errorf("fetch: %d of %d records: %w", got, records, errors.Join(err, context.Cause(ctx)))
	}
	if got != records {
		return fmt.Errorf("%d records were acknowledged and %d fetched", records, got)
	}
	return nil
}

// ends are the topics' high watermarks, as soon as every broker knows the topics.
func (r *Rig) ends(ctx context.Context, topics ...string) (ends kadm.ListedOffsets, err error) {
	err = eventually(ctx, func() (err error) {
		if ends, err = r.admin.ListEndOffsets(ctx, topics...); err != nil {
			return err
		}
		return ends.Error()
	})
	return ends, err
}

// fetch reads on from what were the log ends until it has so many records, and returns how many it got.
func (r *Rig) fetch(ctx context.Context, ends kadm.ListedOffsets, want int) (records int, err error) {
	starts := map[string]map[int32]kgo.Offset{}
	ends.Each(func(o kadm.ListedOffset) {
		if starts[o.Topic] == nil {
			starts[o.Topic] = map[int32]kgo.Offset{}
		}
		starts[o.Topic][o.Partition] = kgo.NewOffset().At(o.Offset)
	})
	consumer, err := kgo.NewClient(kgo.SeedBrokers(r.cluster.Addresses()...), kgo.ConsumePartitions(starts))
	if err != nil {
		return 0, err
	}
	defer consumer.Close()
	for records < want {
		fetches := consumer.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			return records, err
		}
		records += fetches.NumRecords()
	}
	return records, nil
}

// caughtUp waits until the WAL holds the topics to their logs' ends.
func (r *Rig) caughtUp(ctx context.Context, topics ...string) error {
	return upload.AwaitEnd(ctx, r.daemon, r.admin, of(topics...), nil)
}

func kerrOf(response *kmsg.CreateTopicsResponse) error {
	var err error
	for _, t := range response.Topics {
		err = errors.Join(err, kerr.ErrorForCode(t.ErrorCode))
	}
	return err
}

// eventually calls check until it is content, for a minute at most.
func eventually(ctx context.Context, check func() error) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		err := check()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(50 * time.Millisecond):
		}
	}
}
