package main

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/walbridge/walbridge/integration/load"
	"github.com/walbridge/walbridge/integration/upload"
)

// verify reads every stored entry back and compares it with the broker's segments and with what was produced.
func verify(ctx context.Context, s *system, opts options, p *progress) (*upload.Verified, error) {
	p.now("reading every entry back through the shim, and comparing with the broker's segment files")
	v, err := upload.Verify(ctx, s.dir, s.cluster, s.cluster.Brokers[0], s.daemon, upload.Topics(s.partitions))
	if err != nil {
		return nil, err
	}
	p.done("%d entries, %d bytes, are the broker's own, byte for byte", v.Entries, v.Bytes)
	return v, holds(v, opts)
}

// holds checks that what was verified is what was produced.
func holds(v *upload.Verified, opts options) error {
	if v.Partitions != opts.partitions {
		return fmt.Errorf("%d partitions verified, not %d", v.Partitions, opts.partitions)
	}
	if v.Records != opts.records {
		return fmt.Errorf("%d records verified, but %d produced", v.Records, opts.records)
	}
	const fewest = 1000 // below that not every producer has something to do
	if opts.records < fewest {
		return nil
	}
	kinds := append(slices.Sorted(maps.Keys(load.Codecs)), "plain", "idempotent", "transactional", "commit", "abort")
	for _, kind := range kinds {
		if v.Batches[kind] == 0 {
			return fmt.Errorf("no record batch of kind %s among those verified", kind)
		}
	}
	return nil
}
