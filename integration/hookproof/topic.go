package hookproof

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/walbridge/walbridge/integration/load"
)

// settled is how long a cluster may take to get back into order.
const settled = time.Minute

// create creates a topic with a partition for each list of replicas, the preferred leader first.
func (r *Rig) create(ctx context.Context, topic string, replicas ...[]int32) error {
	request := kmsg.NewPtrCreateTopicsRequest()
	request.TimeoutMillis = int32(settled.Milliseconds())
	t := kmsg.NewCreateTopicsRequestTopic()
	t.Topic, t.NumPartitions, t.ReplicationFactor = topic, -1, -1
	for i, on := range replicas {
		a := kmsg.NewCreateTopicsRequestTopicReplicaAssignment()
		a.Partition, a.Replicas = int32(i), on
		t.ReplicaAssignment = append(t.ReplicaAssignment, a)
	}
	request.Topics = append(request.Topics, t)
	response, err := request.RequestWith(ctx, r.client)
	if err == nil {
		err = kerr.ErrorForCode(response.Topics[0].ErrorCode)
	}
	if err != nil {
		return fmt.Errorf("create topic %s: %w", topic, err)
	}
	return r.await(ctx, topic+" is in order", func() error { return r.inOrder(ctx, topic) })
}

// load produces records of all kinds to all partitions of the topic, and waits until every one is acknowledged.
func (r *Rig) load(ctx context.Context, topic string, records int, seed uint64) error {
	return r.loadCounted(ctx, topic, records, seed, new(atomic.Int64))
}

func (r *Rig) loadCounted(ctx context.Context, topic string, records int, seed uint64, acked *atomic.Int64) error {
	details, err := r.partitions(ctx, topic)
	if err != nil {
		return err
	}
	var partitions []load.Partition
	for _, p := range details {
		partitions = append(partitions, load.Partition{Topic: topic, ID: p.Partition})
	}
	return load.Run(ctx, load.Config{
		Brokers: r.cluster.Addresses(), Partitions: partitions, Records: records, Seed: seed,
		Acked: func() { acked.Add(1) },
	})
}

func (r *Rig) partitions(ctx context.Context, topic string) ([]kadm.PartitionDetail, error) {
	topics, err := r.admin.ListTopics(ctx, topic)
	if err == nil {
		err = topics[topic].Err
	}
	if err != nil {
		return nil, fmt.Errorf("partitions of %s: %w", topic, err)
	}
	return topics[topic].Partitions.Sorted(), nil
}

// inOrder is nil where every partition has its preferred leader and all replicas in sync.
func (r *Rig) inOrder(ctx context.Context, topic string) error {
	partitions, err := r.partitions(ctx, topic)
	if err != nil {
		return err
	}
	for _, p := range partitions {
		if p.Leader != p.Replicas[0] || len(p.ISR) != len(p.Replicas) {
			return fmt.Errorf("%s-%d: leader %d, in sync %v, replicas %v", topic, p.Partition, p.Leader, p.ISR, p.Replicas)
		}
	}
	return nil
}

// prefer makes the replicas of every partition begin with the broker, has it elected and waits until it leads.
func (r *Rig) prefer(ctx context.Context, topic string, broker int32) error {
	partitions, err := r.partitions(ctx, topic)
	if err != nil {
		return err
	}
	move, elect := kadm.AlterPartitionAssignmentsReq{}, kadm.TopicsSet{}
	for _, p := range partitions {
		order := []int32{broker}
		for _, id := range slices.Sorted(slices.Values(p.Replicas)) {
			if id != broker {
				order = append(order, id)
			}
		}
		move.Assign(topic, p.Partition, order)
		elect.Add(topic, p.Partition)
	}
	if _, err := r.admin.AlterPartitionAssignments(ctx, move); err != nil {
		return fmt.Errorf("reorder the replicas of %s: %w", topic, err)
	}
	return r.await(ctx, fmt.Sprintf("broker %d leads %s", broker, topic), func() error {
		if _, err := r.admin.ElectLeaders(ctx, kadm.ElectPreferredReplica, elect); err != nil {
			return fmt.Errorf("elect leaders of %s: %w", topic, err)
		}
		return r.inOrder(ctx, topic)
	})
}

// electLive waits until the broker leads the topic's only partition, in sync or not: one that was paused too long for
// the controller is not.
func (r *Rig) electLive(ctx context.Context, topic string, broker int32) error {
	var set kadm.TopicsSet
	set.Add(topic, 0)
	return r.await(ctx, fmt.Sprintf("broker %d leads %s", broker, topic), func() error {
		if _, err := r.admin.ElectLeaders(ctx, kadm.ElectLiveReplica, set); err != nil {
			return fmt.Errorf("elect a leader of %s: %w", topic, err)
		}
		partitions, err := r.partitions(ctx, topic)
		if err == nil && partitions[0].Leader != broker {
			err = fmt.Errorf("broker %d leads", partitions[0].Leader)
		}
		return err
	})
}

// await waits until f is nil, for a minute at most.
func (r *Rig) await(ctx context.Context, what string, f func() error) error {
	ctx, cancel := context.WithTimeout(ctx, settled)
	defer cancel()
	for {
		err := f()
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
