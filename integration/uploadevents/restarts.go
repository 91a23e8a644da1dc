package uploadevents

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
)

// election has a broker die and others take over.
func (s *System) election(ctx context.Context) error {
	const topic = "e2e.elected"
	if err := s.create(ctx, topic, nil, []int32{3, 1}, []int32{3, 2}); err != nil {
		return err
	}
	s.broker(3).Kill()
	if err := s.awaitLeader(ctx, topic, 1); err != nil {
		return err
	}
	if err := s.more(ctx, topic); err != nil {
		return err
	}
	return s.checked(ctx, topic)
}

// megabytes are in each log before a broker restarts.
const megabytes = 4

// cleanRestart stops and starts a broker: nothing is stored again.
func (s *System) cleanRestart(ctx context.Context) error {
	return s.restart(ctx, "clean_restart", func(id int32, _ []string) error {
		ctx, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		return s.broker(id).Stop(ctx)
	})
}

// killed kills a broker and starts it: what is stored again is less than the checkpoint's last seconds.
func (s *System) killed(ctx context.Context) error {
	return s.restart(ctx, "kill", func(id int32, topics []string) error {
		if err := s.awaitCheckpoints(ctx, id, topics...); err != nil {
			return err
		}
		s.broker(id).Kill()
		return nil
	})
}

// restart ends a broker and starts it again. It is to go on uploading where it was, both a partition that nobody else
// has and one that another broker leads meanwhile.
func (s *System) restart(ctx context.Context, name string, end func(id int32, topics []string) error) error {
	const id = 2
	topics := []string{"e2e." + name + ".alone", "e2e." + name + ".replicated"}
	if err := s.create(ctx, topics[0], nil, []int32{id}); err != nil {
		return err
	}
	if err := s.create(ctx, topics[1], nil, []int32{id, 1}); err != nil {
		return err
	}
	before := map[string]position{}
	for _, topic := range topics {
		if _, err := s.burst(ctx, topic, megabytes); err != nil {
			return err
		}
		p, err := s.position(ctx, id, topic)
		if err != nil {
			return err
		}
		before[topic] = p
	}
	if err := end(id, topics); err != nil {
		return err
	}
	if err := s.awaitLeader(ctx, topics[1], 1); err != nil {
		return err
	}
	if err := s.more(ctx, topics[1]); err != nil {
		return err
	}
	if err := s.broker(id).Start(ctx); err != nil {
		return err
	}
	if err := s.inSync(ctx, topics[1], id, 1); err != nil {
		return err
	}
	for _, topic := range topics {
		if err := s.elect(ctx, kadm.ElectPreferredReplica, topic, id); err != nil {
			return err
		}
	}
	if err := s.more(ctx, topics...); err != nil {
		return err
	}
	verified, err := s.check(ctx, topics...)
	if err != nil {
		return err
	}
	var uploaded int64
	for _, topic := range topics {
		n, err := s.uploadedAfter(ctx, id, topic, before[topic])
		if err != nil {
			return err
		}
		uploaded += n
	}
	s.Figures[name+"_uploaded_bytes"], s.Figures[name+"_log_bytes"] = uploaded, verified.LogBytes
	return nil
}

// position is where the WAL of a partition is at some time.
type position struct {
	brokerEpoch int64
	end         int64
}

// position waits until the WAL has partition 0 of the topic as far as its log goes now.
func (s *System) position(ctx context.Context, broker int32, topic string) (p position, err error) {
	err = s.each(ctx, []string{topic}, func(_ kadm.PartitionDetail, _ kadm.TopicID, _, end int64) error {
		p.end = end
		return nil
	})
	if err != nil {
		return p, err
	}
	return p, until(ctx, "the WAL has the log", func(ctx context.Context) error {
		entries, err := s.entries(ctx, broker, topic)
		if err != nil {
			return err
		}
		last := int64(-1)
		for _, e := range entries {
			p.brokerEpoch = max(p.brokerEpoch, e.BrokerEpoch)
			last = max(last, e.LastOffset)
		}
		if last < p.end-1 {
			return fmt.Errorf("%s is stored up to %d, not %d", topic, last, p.end)
		}
		return nil
	})
}

// uploadedAfter is how many bytes of partition 0 of the topic a later start of the broker has stored. It fails where
// any of them was stored at that position already.
func (s *System) uploadedAfter(ctx context.Context, broker int32, topic string, before position) (int64, error) {
	entries, err := s.entries(ctx, broker, topic)
	if err != nil {
		return 0, err
	}
	var bytes int64
	for _, e := range entries {
		if e.BrokerEpoch <= before.brokerEpoch {
			continue
		}
		bytes += int64(e.Length)
		if e.LastOffset < before.end {
			return 0, fmt.Errorf("%s: offsets %d-%d are stored again after the restart, though all below %d were stored",
				topic, e.BaseOffset, e.LastOffset, before.end)
		}
	}
	if bytes == 0 {
		return 0, fmt.Errorf("%s: nothing is stored after the restart", topic)
	}
	return bytes, nil
}

// awaitCheckpoints waits until the broker's agent has written checkpoints that know all that is stored of the topics
// now: the second ones from now on, since the first may have been under way. The topics are under load.
func (s *System) awaitCheckpoints(ctx context.Context, id int32, topics ...string) error {
	for range 2 {
		for dir, before := range s.checkpoints(id, topics) {
			err := until(ctx, "there is a checkpoint", func(context.Context) error {
				if !written(dir).After(before) {
					return fmt.Errorf("the last checkpoint in %s is of %v", dir, before)
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

// checkpoints are the log directories of the broker that have partition 0 of a topic, and when their checkpoints were
// written.
func (s *System) checkpoints(id int32, topics []string) map[string]time.Time {
	checkpoints := map[string]time.Time{}
	for _, dir := range s.broker(id).LogDirs {
		for _, topic := range topics {
			if _, err := os.Stat(filepath.Join(dir, topic+"-0")); err == nil {
				checkpoints[dir] = written(dir)
			}
		}
	}
	return checkpoints
}

// written is when the checkpoint in the log directory was written; the zero time where there is none yet.
func written(dir string) time.Time {
	info, err := os.Stat(filepath.Join(dir, "walbridge-checkpoint"))
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// uncleanElection loses records that are stored: the leader is alone with them when it dies, an older replica takes
// over, and the old leader truncates its log and leads again.
func (s *System) uncleanElection(ctx context.Context) error {
	const topic = "e2e.unclean"
	const leader, older = 1, 2
	configs := map[string]string{"unclean.leader.election.enable": "true", "min.insync.replicas": "1"}
	if err := s.create(ctx, topic, configs, []int32{leader, older}); err != nil {
		return err
	}
	s.broker(older).Kill()
	if err := s.inSync(ctx, topic, leader); err != nil {
		return err
	}
	if err := s.more(ctx, topic); err != nil {
		return err
	}
	if _, err := s.position(ctx, leader, topic); err != nil {
		return err
	}
	s.broker(leader).Kill()
	if err := s.broker(older).Start(ctx); err != nil {
		return err
	}
	if err := s.elect(ctx, kadm.ElectLiveReplica, topic, older); err != nil {
		return err
	}
	if err := s.more(ctx, topic); err != nil {
		return err
	}
	if err := s.broker(leader).Start(ctx); err != nil {
		return err
	}
	if err := s.inSync(ctx, topic, leader, older); err != nil {
		return err
	}
	if err := s.elect(ctx, kadm.ElectPreferredReplica, topic, leader); err != nil {
		return err
	}
	if err := s.more(ctx, topic); err != nil {
		return err
	}
	verified, err := s.check(ctx, topic)
	if err != nil {
		return err
	}
	if verified.TruncatedBatches == 0 {
		return errors.New("nothing that is stored was truncated: the election lost nothing")
	}
	s.Figures["truncated_batches"] = verified.TruncatedBatches
	return nil
}
