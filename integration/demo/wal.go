package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/walbridge/walbridge/integration/load"
	"github.com/walbridge/walbridge/integration/walend"
	framev1 "github.com/walbridge/walbridge/proto/walbridge/frame/v1"
	walbridgev1 "github.com/walbridge/walbridge/proto/walbridge/v1"
)

// awaitWAL waits until the WAL end of every partition is its log end. Nothing is produced any more.
func (s *system) awaitWAL(ctx context.Context, p *progress) error {
	const patience = time.Minute
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		behind, err := s.behind(ctx)
		switch {
		case err == nil && len(behind) == 0:
			p.done("the WAL end is the log end, in all %d partitions", len(s.partitions))
			return nil
		case err == nil:
			err = fmt.Errorf("%d partitions are not in the WAL to their log end, such as %v", len(behind), behind[0])
		}
		p.now("waiting for the WAL: %v", err)
		select {
		case <-ctx.Done():
			return fmt.Errorf("waited %v for the WAL: %w", patience, errors.Join(err, s.daemon.Ended()))
		case <-time.After(250 * time.Millisecond):
		}
	}
}

// lag is a partition whose WAL end is not its log end.
type lag struct {
	load.Partition
	walEnd, logEnd int64
}

func (l lag) String() string {
	return fmt.Sprintf("%s-%d: WAL end %d, log end %d", l.Topic, l.ID, l.walEnd, l.logEnd)
}

// behind compares what the zones hold with what the broker says.
func (s *system) behind(ctx context.Context) ([]lag, error) {
	stored, err := s.stored(ctx)
	if err != nil {
		return nil, err
	}
	admin := kadm.NewClient(s.client)
	starts, err := admin.ListStartOffsets(ctx, s.topics()...)
	if err != nil {
		return nil, fmt.Errorf("log start offsets: %w", err)
	}
	ends, err := admin.ListEndOffsets(ctx, s.topics()...)
	if err != nil {
		return nil, fmt.Errorf("log end offsets: %w", err)
	}
	var behind []lag
	for _, partition := range s.partitions {
		start, _ := starts.Lookup(partition.Topic, partition.ID)
		end, _ := ends.Lookup(partition.Topic, partition.ID)
		if err := errors.Join(start.Err, end.Err); err != nil {
			return nil, fmt.Errorf("offsets of %s-%d: %w", partition.Topic, partition.ID, err)
		}
		if walEnd := walend.Of(start.Offset, stored[partition]); walEnd != end.Offset {
			behind = append(behind, lag{Partition: partition, walEnd: walEnd, logEnd: end.Offset})
		}
	}
	return behind, nil
}

// stored lists the entries of every partition. An object that the daemon has a problem with ends in an append that was
// never acknowledged; if it was more than that, offsets are missing.
func (s *system) stored(ctx context.Context) (map[load.Partition][]*framev1.Entry, error) {
	stored := map[load.Partition][]*framev1.Entry{}
	stream, err := s.daemon.Client().ListCombinedSegments(ctx, &walbridgev1.ListCombinedSegmentsRequest{})
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
