package upload

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/walbridge/walbridge/integration/daemon"
	"github.com/walbridge/walbridge/integration/load"
	"github.com/walbridge/walbridge/integration/walend"
	framev1 "github.com/walbridge/walbridge/proto/walbridge/frame/v1"
	walbridgev1 "github.com/walbridge/walbridge/proto/walbridge/v1"
)

// patience is how long the WAL may take to get to the log ends.
const patience = time.Minute

// AwaitEnd waits until the WAL end of every partition is its log end, while nothing is produced. It fails after a
// minute with what is missing. waiting, unless nil, is told now and then what that is.
func AwaitEnd(ctx context.Context, d *daemon.Daemon, admin *kadm.Client, partitions []load.Partition,
	waiting func(error),
) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		err := atEnd(ctx, d, admin, partitions)
		if err == nil {
			return nil
		}
		if waiting != nil {
			waiting(err)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waited %v for the WAL: %w", patience, errors.Join(err, d.Ended()))
		case <-time.After(250 * time.Millisecond):
		}
	}
}

// atEnd compares what the zones hold with what the broker says.
func atEnd(ctx context.Context, d *daemon.Daemon, admin *kadm.Client, partitions []load.Partition) error {
	stored, err := Stored(ctx, d)
	if err != nil {
		return err
	}
	topics := Topics(partitions)
	starts, err := admin.ListStartOffsets(ctx, topics...)
	if err != nil {
		return fmt.Errorf("log start offsets: %w", err)
	}
	ends, err := admin.ListEndOffsets(ctx, topics...)
	if err != nil {
		return fmt.Errorf("log end offsets: %w", err)
	}
	var behind []string
	for _, partition := range partitions {
		start, _ := starts.Lookup(partition.Topic, partition.ID)
		end, _ := ends.Lookup(partition.Topic, partition.ID)
		if err := errors.Join(start.Err, end.Err); err != nil {
			return fmt.Errorf("offsets of %s-%d: %w", partition.Topic, partition.ID, err)
		}
		if walEnd := walend.Of(start.Offset, stored[partition]); walEnd != end.Offset {
			behind = append(behind, fmt.Sprintf("%s-%d: WAL end %d, log end %d",
				partition.Topic, partition.ID, walEnd, end.Offset))
		}
	}
	if len(behind) > 0 {
		return fmt.Errorf("%d partitions are not in the WAL to their log end, such as %s", len(behind), behind[0])
	}
	return nil
}

// Stored lists the entries of every partition that the zones hold. An object that the daemon has a problem with ends in
// an append that was never acknowledged; if it was more than that, offsets are missing.
func Stored(ctx context.Context, d *daemon.Daemon) (map[load.Partition][]*framev1.Entry, error) {
	stored := map[load.Partition][]*framev1.Entry{}
	stream, err := d.Client().ListCombinedSegments(ctx, &walbridgev1.ListCombinedSegmentsRequest{})
	for err == nil {
		var r *walbridgev1.ListCombinedSegmentsResponse
		r, err = stream.Recv()
		for _, e := range r.GetIndex().GetEntries() {
			partition := load.Partition{Topic: e.Topic, ID: e.Partition}
			stored[partition] = append(stored[partition], e)
		}
	}
	if !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("list what is stored: %w", err)
	}
	return stored, nil
}

// Topics are the names of the partitions' topics, each once.
func Topics(partitions []load.Partition) []string {
	var names []string
	for _, p := range partitions {
		if !slices.Contains(names, p.Topic) {
			names = append(names, p.Topic)
		}
	}
	return names
}
