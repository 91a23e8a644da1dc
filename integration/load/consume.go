package load

import (
	"context"
	"fmt"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// Count reads the partitions from their log start to their log end, as a consumer of that isolation level does, and
// returns how many records it saw, markers of transactions not among them. It ends when ctx does.
func Count(ctx context.Context, brokers []string, partitions []Partition, level kgo.IsolationLevel) (int, error) {
	consume := map[string]map[int32]kgo.Offset{}
	for _, p := range partitions {
		if consume[p.Topic] == nil {
			consume[p.Topic] = map[int32]kgo.Offset{}
		}
		consume[p.Topic][p.ID] = kgo.NewOffset().AtStart()
	}
	client, err := kgo.NewClient(kgo.SeedBrokers(brokers...), kgo.ConsumePartitions(consume),
		kgo.FetchIsolationLevel(level), kgo.KeepControlRecords())
	if err != nil {
		return 0, err
	}
	defer client.Close()
	left, err := lastOffsets(ctx, kadm.NewClient(client), partitions)
	if err != nil {
		return 0, err
	}
	n := 0
	for len(left) > 0 {
		fetches := client.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			return n, fmt.Errorf("consume, %d partitions not yet to their end: %w", len(left), err)
		}
		fetches.EachRecord(func(r *kgo.Record) {
			if !r.Attrs.IsControl() {
				n++
			}
			// The last thing in a log is a transaction's marker or a record that is committed.
			if p := (Partition{Topic: r.Topic, ID: r.Partition}); r.Offset >= left[p] {
				delete(left, p)
			}
		})
	}
	return n, nil
}

// lastOffsets are the last offsets of those partitions that are not empty.
func lastOffsets(ctx context.Context, admin *kadm.Client, partitions []Partition) (map[Partition]int64, error) {
	var topics []string
	for _, p := range partitions {
		topics = append(topics, p.Topic)
	}
	starts, err := admin.ListStartOffsets(ctx, topics...)
	if err != nil {
		return nil, fmt.Errorf("log start offsets: %w", err)
	}
	ends, err := admin.ListEndOffsets(ctx, topics...)
	if err != nil {
		return nil, fmt.Errorf("log end offsets: %w", err)
	}
	last := map[Partition]int64{}
	for _, p := range partitions {
		start, _ := starts.Lookup(p.Topic, p.ID)
		end, ok := ends.Lookup(p.Topic, p.ID)
		if !ok {
			return nil, fmt.Errorf("the broker does not know %s-%d", p.Topic, p.ID)
		}
		if end.Err != nil {
			return nil, fmt.Errorf("log end offset of %s-%d: %w", p.Topic, p.ID, end.Err)
		}
		if end.Offset > start.Offset {
			last[p] = end.Offset - 1
		}
	}
	return last, nil
}
