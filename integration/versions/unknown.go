package versions

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/walbridge/walbridge/integration/kafka"
	"github.com/walbridge/walbridge/integration/upload"
)

// unknown is a Kafka that no agent knows yet: the newest one with something renamed, wherever it occurs.
type unknown struct {
	rename renaming
	// hook is what the agent must say that it lacks.
	hook string
}

var (
	movedMethod = unknown{
		rename: member("leaderLogIfLocal", "leaderLogIfHere"),
		hook:   "kafka.cluster.Partition.leaderLogIfLocal(): scala.Option",
	}
	movedWovenMethod = unknown{
		rename: member("appendRecordsToLeader", "appendAsLeader"),
		hook:   "kafka.cluster.Partition.appendRecordsToLeader",
	}
	movedClass = unknown{
		rename: class("kafka/server/ReplicaManager", "kafka/server/LocalReplicaManager"),
		hook:   "class kafka.server.ReplicaManager",
	}
)

// runsAsStock runs such a broker with the agent: it must serve as any, end cleanly, and say in one line of its log
// which hook of which version is missing; nothing is stored.
func (u unknown) runsAsStock(ctx context.Context, dir string) error {
	ours, err := upload.Option()
	if err != nil {
		return err
	}
	libs, err := u.rename.libs(dir, kafka.Newest)
	if err != nil {
		return err
	}
	s, err := start(ctx, dir, kafka.Config{Version: kafka.Newest, Libs: libs, Options: []string{ours}})
	if err != nil {
		return err
	}
	defer s.close()
	if err := s.serve(ctx); err != nil {
		return err
	}
	if err := s.stop(ctx); err != nil {
		return err
	}
	stored, err := upload.Stored(ctx, s.daemon)
	if err == nil && len(stored) > 0 {
		err = fmt.Errorf("entries of %d partitions are stored", len(stored))
	}
	return errors.Join(err, s.saysOnly("Walbridge is off: Kafka "+kafka.Newest+" lacks the hook "+u.hook))
}

// saysOnly fails unless the agent's only line contains want.
func (s *system) saysOnly(want string) error {
	lines, err := s.agentSays()
	if err == nil && (len(lines) != 1 || !strings.Contains(lines[0], want)) {
		err = fmt.Errorf("the agent logged %q, and not only %q", lines, want)
	}
	return err
}
