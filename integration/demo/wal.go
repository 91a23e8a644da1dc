package main

import (
	"context"

	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/walbridge/walbridge/integration/upload"
)

// awaitWAL waits until the WAL end of every partition is its log end. Nothing is produced any more.
func (s *system) awaitWAL(ctx context.Context, p *progress) error {
	err := upload.AwaitEnd(ctx, s.daemon, kadm.NewClient(s.client), s.partitions, func(err error) {
		p.now("waiting for the WAL: %v", err)
	})
	if err == nil {
		p.done("the WAL end is the log end, in all %d partitions", len(s.partitions))
	}
	return err
}
