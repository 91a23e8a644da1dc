package uploadevents

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/walbridge/walbridge/integration/load"
	"github.com/walbridge/walbridge/integration/upload"
	"github.com/walbridge/walbridge/integration/walend"
	framev1 "github.com/walbridge/walbridge/proto/walbridge/frame/v1"
)

// check ends the load of the topics, waits until the WAL of each partition's leader has its log's end, and verifies
// that it holds exactly that log.
func (s *System) check(ctx context.Context, topics ...string) (*upload.Verified, error) {
	if err := s.load.Remove(ctx, topics...); err != nil {
		return nil, err
	}
	if err := until(ctx, "the WAL has the logs' ends", func(ctx context.Context) error {
		return s.stored(ctx, topics...)
	}); err != nil {
		return nil, err
	}
	return s.verify(ctx, topics...)
}

// verify compares the WAL of each partition's leader with the leader's log. Nothing may be produced meanwhile. Where
// retention moves a log's start under it, it compares again.
func (s *System) verify(ctx context.Context, topics ...string) (*upload.Verified, error) {
	starts, err := s.starts(ctx, topics)
	for err == nil {
		v, failed := s.verifyFrom(ctx, starts)
		if failed == nil {
			return v, nil
		}
		before := starts
		if starts, err = s.starts(ctx, topics); err == nil && reflect.DeepEqual(starts, before) {
			err = failed
		}
	}
	return nil, err
}

// starts are the log start offsets of the topics' partitions, by leader and partition.
func (s *System) starts(ctx context.Context, topics []string) (map[int32]map[string]int64, error) {
	starts := map[int32]map[string]int64{}
	err := s.each(ctx, topics, func(p kadm.PartitionDetail, _ kadm.TopicID, start, _ int64) error {
		if starts[p.Leader] == nil {
			starts[p.Leader] = map[string]int64{}
		}
		starts[p.Leader][fmt.Sprintf("%s-%d", p.Topic, p.Partition)] = start
		return nil
	})
	return starts, err
}

func (s *System) verifyFrom(ctx context.Context, starts map[int32]map[string]int64) (*upload.Verified, error) {
	all := new(upload.Verified)
	for leader, of := range starts {
		v, err := upload.VerifyPartitions(ctx, s.dir, s.cluster, s.broker(leader), s.daemons[leader-1], of)
		if err != nil {
			return nil, fmt.Errorf("the WAL of broker %d: %w", leader, err)
		}
		all.Partitions += v.Partitions
		all.Records += v.Records
		all.LogBytes += v.LogBytes
		all.TruncatedBatches += v.TruncatedBatches
	}
	return all, nil
}

// stored fails unless the WAL end of each partition of the topics is its log end, at its leader.
func (s *System) stored(ctx context.Context, topics ...string) error {
	entries := map[int32]map[load.Partition][]*framev1.Entry{} // by leader
	return s.each(ctx, topics, func(p kadm.PartitionDetail, topic kadm.TopicID, start, end int64) (err error) {
		if entries[p.Leader] == nil {
			if entries[p.Leader], err = upload.Stored(ctx, s.daemons[p.Leader-1]); err != nil {
				return err
			}
		}
		of := of(topic, entries[p.Leader][load.Partition{Topic: p.Topic, ID: p.Partition}])
		if walEnd := walend.Of(start, of); walEnd != end {
			return fmt.Errorf("%s-%d at broker %d: WAL end %d, log end %d", p.Topic, p.Partition, p.Leader, walEnd, end)
		}
		return nil
	})
}

// entries are what the WAL of the broker holds of partition 0 of the topic.
func (s *System) entries(ctx context.Context, broker int32, topic string) ([]*framev1.Entry, error) {
	detail, err := s.topic(ctx, topic)
	if err != nil {
		return nil, err
	}
	stored, err := upload.Stored(ctx, s.daemons[broker-1])
	return of(detail.ID, stored[load.Partition{Topic: topic}]), err
}

// of leaves out the entries of other topics of the same name.
func of(topic kadm.TopicID, entries []*framev1.Entry) (of []*framev1.Entry) {
	for _, e := range entries {
		if kadm.TopicID(e.TopicId) == topic {
			of = append(of, e)
		}
	}
	return of
}

// each calls f for each partition of the topics, with its log's start and end.
func (s *System) each(ctx context.Context, topics []string,
	f func(p kadm.PartitionDetail, topic kadm.TopicID, start, end int64) error,
) error {
	starts, err := s.admin.ListStartOffsets(ctx, topics...)
	if err != nil {
		return fmt.Errorf("log start offsets: %w", err)
	}
	ends, err := s.admin.ListEndOffsets(ctx, topics...)
	if err != nil {
		return fmt.Errorf("log end offsets: %w", err)
	}
	for _, name := range topics {
		detail, err := s.topic(ctx, name)
		if err != nil {
			return err
		}
		for _, p := range detail.Partitions.Sorted() {
			start, _ := starts.Lookup(name, p.Partition)
			end, _ := ends.Lookup(name, p.Partition)
			err := errors.Join(p.Err, start.Err, end.Err)
			if err == nil && p.Leader < 0 {
				err = errors.New("it has no leader")
			}
			if err == nil {
				err = f(p, detail.ID, start.Offset, end.Offset)
			}
			if err != nil {
				return fmt.Errorf("%s-%d: %w", name, p.Partition, err)
			}
		}
	}
	return nil
}
