package uploadevents

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/walbridge/walbridge/integration/load"
)

// more is how many records each partition of a topic gets before and after an event.
const more = 50

// create creates a topic with a partition for each list of replicas, and begins to load it.
func (s *System) create(ctx context.Context, topic string, configs map[string]string, replicas ...[]int32) error {
	req := kmsg.NewPtrCreateTopicsRequest()
	req.TimeoutMillis = 10_000
	t := kmsg.NewCreateTopicsRequestTopic()
	t.Topic, t.NumPartitions, t.ReplicationFactor = topic, -1, -1
	var partitions []load.Partition
	for i, r := range replicas {
		a := kmsg.NewCreateTopicsRequestTopicReplicaAssignment()
		a.Partition, a.Replicas = int32(i), r
		t.ReplicaAssignment = append(t.ReplicaAssignment, a)
		partitions = append(partitions, load.Partition{Topic: topic, ID: int32(i)})
	}
	for name, value := range configs {
		c := kmsg.NewCreateTopicsRequestTopicConfig()
		c.Name, c.Value = name, &value
		t.Configs = append(t.Configs, c)
	}
	req.Topics = append(req.Topics, t)
	err := until(ctx, topic+" is created", func(ctx context.Context) error {
		resp, err := req.RequestWith(ctx, s.client)
		if err != nil {
			return err
		}
		return kerr.ErrorForCode(resp.Topics[0].ErrorCode) // A topic of that name may be on its way out.
	})
	if err != nil {
		return err
	}
	err = until(ctx, topic+" has leaders", func(ctx context.Context) error {
		for i, r := range replicas {
			if err := s.leads(ctx, topic, int32(i), r[0]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	s.load.Add(partitions...)
	return s.more(ctx, topic)
}

// topic describes a topic.
func (s *System) topic(ctx context.Context, topic string) (kadm.TopicDetail, error) {
	details, err := s.admin.Metadata(ctx, topic)
	if err != nil {
		return kadm.TopicDetail{}, fmt.Errorf("describe %s: %w", topic, err)
	}
	detail := details.Topics[topic]
	if detail.Err != nil {
		return kadm.TopicDetail{}, fmt.Errorf("describe %s: %w", topic, detail.Err)
	}
	return detail, nil
}

// leads fails unless the broker leads the partition.
func (s *System) leads(ctx context.Context, topic string, partition, broker int32) error {
	detail, err := s.topic(ctx, topic)
	if err != nil {
		return err
	}
	if p, ok := detail.Partitions[partition]; !ok || p.Leader != broker {
		return fmt.Errorf("the leader of %s-%d is %d, not %d", topic, partition, p.Leader, broker)
	}
	return nil
}

// awaitLeader waits until the broker leads partition 0 of the topic.
func (s *System) awaitLeader(ctx context.Context, topic string, broker int32) error {
	return until(ctx, "the leader changes", func(ctx context.Context) error { return s.leads(ctx, topic, 0, broker) })
}

// elect has partition 0 of the topic led by the broker, which must be its preferred replica or, for an unclean
// election, its only one alive.
func (s *System) elect(ctx context.Context, how kadm.ElectLeadersHow, topic string, broker int32) error {
	return until(ctx, fmt.Sprintf("%s is led by %d", topic, broker), func(ctx context.Context) error {
		results, err := s.admin.ElectLeaders(ctx, how, kadm.TopicsSet{topic: {0: {}}})
		if err == nil {
			err = results[topic][0].Err
		}
		if err != nil && !errors.Is(err, kerr.ElectionNotNeeded) {
			return fmt.Errorf("elect a leader of %s: %w", topic, err)
		}
		return s.leads(ctx, topic, 0, broker)
	})
}

// inSync waits until exactly these brokers are in sync for partition 0 of the topic.
func (s *System) inSync(ctx context.Context, topic string, want ...int32) error {
	return until(ctx, "replicas are in sync", func(ctx context.Context) error {
		detail, err := s.topic(ctx, topic)
		if err != nil {
			return err
		}
		isr := slices.Sorted(slices.Values(detail.Partitions[0].ISR))
		if !slices.Equal(isr, slices.Sorted(slices.Values(want))) {
			return fmt.Errorf("%v are in sync for %s, not %v", isr, topic, want)
		}
		return nil
	})
}

// more waits until brokers have acknowledged some more records of each partition of the topics.
func (s *System) more(ctx context.Context, topics ...string) error {
	for _, topic := range topics {
		detail, err := s.topic(ctx, topic)
		if err != nil {
			return err
		}
		for id := range detail.Partitions {
			p := load.Partition{Topic: topic, ID: id}
			want := s.load.Acked(p) + more
			err := until(ctx, "the load goes on", func(context.Context) error {
				if n := s.load.Acked(p); n < want {
					return fmt.Errorf("%d records of %s-%d are acknowledged, not yet %d", n, topic, id, want)
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// burst produces megabytes to partition 0 of the topic, beside the load, in batches of many records. It returns the
// offset of one in the middle of such a batch.
func (s *System) burst(ctx context.Context, topic string, megabytes int) (middle int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	value := make([]byte, 32<<10)
	for i := range value {
		value[i] = byte(i * i >> 3)
	}
	for range megabytes {
		var records []*kgo.Record
		for range (1 << 20) / len(value) {
			records = append(records, &kgo.Record{Topic: topic, Value: value})
		}
		results := s.client.ProduceSync(ctx, records...)
		if err := results.FirstErr(); err != nil {
			return 0, fmt.Errorf("produce to %s: %w", topic, err)
		}
		middle = results[len(results)/2].Record.Offset
	}
	return middle, nil
}
