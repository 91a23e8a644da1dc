package quorum

import (
	"context"
	"fmt"
	"sync"

	"github.com/walbridge/walbridge/backends"
)

// Delete implements backends.Bucket. It deletes in every zone, and confirms what every zone confirms: a copy that one
// zone keeps would be listed, and read, again. So nothing is confirmed while a zone does not answer; what the other
// zones have deleted stays deleted, and the caller tries again later. A broken zone is asked once per ProbeInterval at
// most.
//
// In each zone it waits until the zone has done what a closed Writer of the name left it to do: Close, then Delete,
// leaves nothing.
func (b *Bucket) Delete(ctx context.Context, names []string) ([]string, error) {
	for _, name := range names {
		if err := backends.CheckName(name); err != nil {
			return nil, fmt.Errorf("quorum: delete %s: %w", name, err)
		}
	}
	what := fmt.Sprintf("delete %d objects", len(names))
	if err := b.checkOpen(ctx); err != nil {
		return nil, fmt.Errorf("quorum: %s: %w", what, err)
	}
	var group sync.WaitGroup
	deleted, errs := make([][]string, len(b.zones)), make([]error, len(b.zones))
	for i := range b.zones {
		group.Go(func() { deleted[i], errs[i] = b.deleteIn(ctx, i, what, names) })
	}
	group.Wait() // Each of them ends with ctx.
	confirmed := inAll(names, deleted)
	if len(b.zones) > count(errs, nil) {
		return confirmed, &failure{what: what, is: sweepSentinels(ctx, errs), zones: errs}
	}
	return confirmed, nil
}

// deleteIn deletes names in zone i and returns those whose absence it confirms.
func (b *Bucket) deleteIn(ctx context.Context, i int, what string, names []string) ([]string, error) {
	z := b.zones[i]
	if reason := z.unfit(0); reason == reasonBreaker {
		return nil, fmt.Errorf("zone %s: %s: the zone is down", z.name, what)
	}
	ctx, cancel := context.WithTimeout(ctx, b.opts.SweepTimeout)
	defer cancel()
	for _, name := range names {
		if w := b.writers.get(name); w != nil {
			if err := w.wait(ctx, w.zones[i].quiet); err != nil {
				return nil, fmt.Errorf("zone %s: delete %s: its writer is not done: %w", z.name, name, err)
			}
		}
	}
	result := make(chan []string, 1)
	err := z.call(ctx, opSweep, what, b.opts.SweepTimeout, func(ctx context.Context) error {
		deleted, err := z.bucket.Delete(ctx, names)
		result <- deleted
		return err
	})
	select {
	case deleted := <-result:
		return deleted, err
	default:
		return nil, err // Given up.
	}
}

// inAll returns the names that are in every one of lists.
func inAll(names []string, lists [][]string) []string {
	in := make(map[string]int, len(names)) // name -> in how many lists, of those from the first on without a gap
	for i, list := range lists {
		for _, name := range list {
			if in[name] == i {
				in[name] = i + 1
			}
		}
	}
	var all []string
	for _, name := range names {
		if in[name] == len(lists) {
			all = append(all, name)
		}
	}
	return all
}
