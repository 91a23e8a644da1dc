package hookproof

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// sameLogs waits until every replica of every partition is in sync and has the leader's log, byte for byte, and returns
// how many bytes one replica of them all has. Nothing is produced meanwhile.
func (r *Rig) sameLogs(ctx context.Context, topic string) (int64, error) {
	var size int64
	err := r.await(ctx, "the replicas of "+topic+" are the same", func() error {
		partitions, err := r.partitions(ctx, topic)
		if err != nil {
			return err
		}
		size = 0
		for _, p := range partitions {
			if len(p.ISR) != len(p.Replicas) {
				return fmt.Errorf("%s-%d: in sync %v of %v", topic, p.Partition, p.ISR, p.Replicas)
			}
			leader, err := r.log(int(p.Leader), topic, p.Partition)
			if err != nil {
				return err
			}
			size += int64(len(leader))
			for _, id := range p.Replicas {
				own, err := r.log(int(id), topic, p.Partition)
				if err != nil {
					return err
				}
				if !bytes.Equal(leader, own) {
					return fmt.Errorf("%s-%d: broker %d has %d bytes, leader %d has %d, or others", topic, p.Partition,
						id, len(own), p.Leader, len(leader))
				}
			}
		}
		return nil
	})
	if err == nil && size == 0 {
		err = fmt.Errorf("the logs of %s are empty", topic)
	}
	return size, err
}

// log is what the broker's segments of a partition hold.
func (r *Rig) log(broker int, topic string, partition int32) ([]byte, error) {
	dir := filepath.Join(r.broker(broker).LogDirs[0], fmt.Sprintf("%s-%d", topic, partition))
	segments, err := filepath.Glob(filepath.Join(dir, "*.log"))
	if err != nil {
		return nil, err
	}
	var all []byte
	for _, segment := range slices.Sorted(slices.Values(segments)) {
		b, err := os.ReadFile(segment)
		if err != nil {
			return nil, fmt.Errorf("log of broker %d: %w", broker, err)
		}
		all = append(all, b...)
	}
	return all, nil
}
