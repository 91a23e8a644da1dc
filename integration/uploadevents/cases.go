package uploadevents

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/walbridge/walbridge/integration/load"
)

// Case is one event, with topics of its own.
type Case struct {
	Name string
	run  func(s *System, ctx context.Context) error
}

// Run has the event happen and checks the WAL after it. Brokers that the case before has left dead are started first.
func (c Case) Run(ctx context.Context, s *System) error {
	for _, b := range s.cluster.Brokers {
		if b.Ended() == nil {
			continue
		}
		if err := b.Start(ctx); err != nil {
			return err
		}
	}
	return c.run(s, ctx)
}

// Cases are all of them, in the order to run them in.
var Cases = []Case{
	{"preferred-leader", (*System).preferredLeader},
	{"reassignment", (*System).reassignment},
	{"segment-roll", (*System).segmentRoll},
	{"retention", (*System).retention},
	{"delete-records", (*System).deleteRecords},
	{"recreated-topic", (*System).recreatedTopic},
	{"partition-increase", (*System).partitionIncrease},
	{"log-dir-move", (*System).logDirMove},
	{"election", (*System).election},
	{"clean-restart", (*System).cleanRestart},
	{"kill-9", (*System).killed},
	{"unclean-election", (*System).uncleanElection},
	// What all that has left is still right, and the check can fail.
	{"in-the-end", (*System).inTheEnd},
	{"notices-a-wrong-byte", (*System).noticesAWrongByte},
	{"notices-a-skipped-batch", (*System).noticesASkippedBatch},
}

// smallSegments are the smallest that Kafka allows.
var smallSegments = map[string]string{"segment.bytes": "1048576"}

// checked ends the load of the topics and verifies them.
func (s *System) checked(ctx context.Context, topics ...string) error {
	_, err := s.check(ctx, topics...)
	return err
}

// preferredLeader moves the leadership there and back by elections of a new preferred replica.
func (s *System) preferredLeader(ctx context.Context) error {
	const topic = "e2e.preferred"
	if err := s.create(ctx, topic, nil, []int32{1, 2}, []int32{1, 2}); err != nil {
		return err
	}
	for _, replicas := range [][]int32{{2, 1}, {1, 2}, {2, 1}} {
		if err := s.assign(ctx, topic, replicas...); err != nil {
			return err
		}
		if err := s.elect(ctx, kadm.ElectPreferredReplica, topic, replicas[0]); err != nil {
			return err
		}
		if err := s.more(ctx, topic); err != nil {
			return err
		}
	}
	return s.checked(ctx, topic)
}

// reassignment moves a partition to brokers that have nothing of it, and back.
func (s *System) reassignment(ctx context.Context) error {
	const topic = "e2e.reassigned"
	if err := s.create(ctx, topic, nil, []int32{1, 2}); err != nil {
		return err
	}
	for _, replicas := range [][]int32{{3}, {1, 3}} {
		if err := s.assign(ctx, topic, replicas...); err != nil {
			return err
		}
		if err := s.elect(ctx, kadm.ElectPreferredReplica, topic, replicas[0]); err != nil {
			return err
		}
		if err := s.more(ctx, topic); err != nil {
			return err
		}
	}
	return s.checked(ctx, topic)
}

// assign gives partition 0 of the topic other replicas, and waits until they are in sync.
func (s *System) assign(ctx context.Context, topic string, replicas ...int32) error {
	req := kadm.AlterPartitionAssignmentsReq{topic: {0: replicas}}
	results, err := s.admin.AlterPartitionAssignments(ctx, req)
	if err == nil {
		err = results.Error()
	}
	if err != nil {
		return fmt.Errorf("assign %s-0 to %v: %w", topic, replicas, err)
	}
	return s.inSync(ctx, topic, replicas...)
}

func (s *System) segmentRoll(ctx context.Context) error {
	const topic = "e2e.rolled"
	if err := s.create(ctx, topic, smallSegments, []int32{1, 3}); err != nil {
		return err
	}
	if _, err := s.burst(ctx, topic, 4); err != nil {
		return err
	}
	if err := s.checked(ctx, topic); err != nil {
		return err
	}
	if n := s.segments(1, topic); n < 4 {
		return fmt.Errorf("%s has %d segments: it has not rolled", topic, n)
	}
	return nil
}

// segments counts those of partition 0 of the topic in any log directory of the broker.
func (s *System) segments(broker int32, topic string) (n int) {
	for _, dir := range s.broker(broker).LogDirs {
		files, _ := filepath.Glob(filepath.Join(dir, topic+"-0", "*.log")) // the pattern is right
		n += len(files)
	}
	return n
}

func (s *System) retention(ctx context.Context) error {
	const topic = "e2e.retained"
	if err := s.create(ctx, topic, smallSegments, []int32{2, 3}); err != nil {
		return err
	}
	if _, err := s.burst(ctx, topic, 3); err != nil {
		return err
	}
	if err := s.configure(ctx, topic, "retention.bytes", "1048576"); err != nil {
		return err
	}
	if err := until(ctx, "old segments are deleted", func(ctx context.Context) error {
		return s.startsBeyond(ctx, topic, 0)
	}); err != nil {
		return err
	}
	if _, err := s.burst(ctx, topic, 2); err != nil {
		return err
	}
	// A segment must not go while it is compared.
	if err := s.configure(ctx, topic, "retention.bytes", "-1"); err != nil {
		return err
	}
	return s.checked(ctx, topic)
}

func (s *System) configure(ctx context.Context, topic, name, value string) error {
	results, err := s.admin.AlterTopicConfigs(ctx, []kadm.AlterConfig{{Name: name, Value: &value}}, topic)
	if err == nil {
		for _, r := range results {
			err = errors.Join(err, r.Err)
		}
	}
	if err != nil {
		return fmt.Errorf("set %s of %s: %w", name, topic, err)
	}
	return nil
}

// startsBeyond fails unless the log of partition 0 of the topic starts beyond offset.
func (s *System) startsBeyond(ctx context.Context, topic string, offset int64) error {
	return s.each(ctx, []string{topic}, func(p kadm.PartitionDetail, _ kadm.TopicID, start, _ int64) error {
		if start <= offset {
			return fmt.Errorf("the log starts at %d", start)
		}
		return nil
	})
}

// deleteRecords moves the log start into segments and batches, and has another broker upload the log from there on.
func (s *System) deleteRecords(ctx context.Context) error {
	const topic = "e2e.deleted"
	if err := s.create(ctx, topic, nil, []int32{3, 1}); err != nil {
		return err
	}
	for range 2 {
		if err := s.more(ctx, topic); err != nil {
			return err
		}
		middle, err := s.burst(ctx, topic, 1)
		if err == nil {
			err = s.deleteBefore(ctx, topic, middle)
		}
		if err != nil {
			return err
		}
	}
	if err := s.assign(ctx, topic, 1, 3); err != nil {
		return err
	}
	if err := s.elect(ctx, kadm.ElectPreferredReplica, topic, 1); err != nil {
		return err
	}
	if err := s.more(ctx, topic); err != nil {
		return err
	}
	return s.checked(ctx, topic)
}

// deleteBefore deletes the records of partition 0 of the topic below offset.
func (s *System) deleteBefore(ctx context.Context, topic string, offset int64) error {
	var offsets kadm.Offsets
	offsets.AddOffset(topic, 0, offset, -1)
	results, err := s.admin.DeleteRecords(ctx, offsets)
	if err == nil {
		err = results.Error()
	}
	if err != nil {
		return fmt.Errorf("delete records of %s before %d: %w", topic, offset, err)
	}
	return s.startsBeyond(ctx, topic, offset-1)
}

// recreatedTopic deletes a topic and creates another one of the same name.
func (s *System) recreatedTopic(ctx context.Context) error {
	const topic = "e2e.recreated"
	for range 2 {
		if err := s.create(ctx, topic, nil, []int32{1, 2}); err != nil {
			return err
		}
		if err := s.load.Remove(ctx, topic); err != nil {
			return err
		}
		if _, err := s.admin.DeleteTopic(ctx, topic); err != nil {
			return fmt.Errorf("delete %s: %w", topic, err)
		}
	}
	if err := s.create(ctx, topic, nil, []int32{2, 1}); err != nil {
		return err
	}
	return s.checked(ctx, topic)
}

func (s *System) partitionIncrease(ctx context.Context) error {
	const topic = "e2e.increased"
	if err := s.create(ctx, topic, nil, []int32{1, 2}); err != nil {
		return err
	}
	results, err := s.admin.CreatePartitions(ctx, 3, topic)
	if err == nil {
		err = results.Error()
	}
	if err != nil {
		return fmt.Errorf("add partitions to %s: %w", topic, err)
	}
	if err := until(ctx, "the partitions are there", func(ctx context.Context) error {
		detail, err := s.topic(ctx, topic)
		if err == nil && len(detail.Partitions) != 4 {
			err = fmt.Errorf("%s has %d partitions", topic, len(detail.Partitions))
		}
		return err
	}); err != nil {
		return err
	}
	for id := range int32(4) {
		s.load.Add(load.Partition{Topic: topic, ID: id})
	}
	if err := s.more(ctx, topic); err != nil {
		return err
	}
	return s.checked(ctx, topic)
}

// logDirMove moves the leader's log to the other log directory, and back.
func (s *System) logDirMove(ctx context.Context) error {
	const topic = "e2e.moved"
	const leader = 2
	if err := s.create(ctx, topic, nil, []int32{leader, 3}); err != nil {
		return err
	}
	for range 2 {
		if _, err := s.burst(ctx, topic, 1); err != nil {
			return err
		}
		if err := s.move(ctx, topic, leader); err != nil {
			return err
		}
		if err := s.more(ctx, topic); err != nil {
			return err
		}
	}
	return s.checked(ctx, topic)
}

// move moves partition 0 of the topic to a log directory of the broker that does not have it.
func (s *System) move(ctx context.Context, topic string, broker int32) error {
	target := ""
	for _, dir := range s.broker(broker).LogDirs {
		if matches, _ := filepath.Glob(filepath.Join(dir, topic+"-0")); len(matches) == 0 {
			target = dir
		}
	}
	var alter kadm.AlterReplicaLogDirsReq
	alter.Add(target, kadm.TopicsSet{topic: {0: {}}})
	results, err := s.admin.AlterBrokerReplicaLogDirs(ctx, broker, alter)
	if err == nil {
		results.Each(func(r kadm.AlterReplicaLogDirsResponse) { err = errors.Join(err, r.Err) })
	}
	if err != nil {
		return fmt.Errorf("move %s-0 to %s: %w", topic, target, err)
	}
	return until(ctx, "the log is moved", func(ctx context.Context) error {
		dirs, err := s.admin.DescribeBrokerLogDirs(ctx, broker, kadm.TopicsSet{topic: {0: {}}})
		if err != nil {
			return err
		}
		var in []string
		dirs.EachPartition(func(p kadm.DescribedLogDirPartition) {
			in = append(in, fmt.Sprintf("%s future=%v", p.Dir, p.IsFuture))
		})
		if got := strings.Join(in, ", "); got != target+" future=false" {
			return fmt.Errorf("%s-0 is in %s", topic, got)
		}
		return nil
	})
}
