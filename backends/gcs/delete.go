package gcs

import (
	"context"
	"errors"
	"slices"
	"sync"

	"cloud.google.com/go/storage"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/walbridge/walbridge/backends"
)

// parallelDeletes is how many objects one Delete deletes at once; the API has no call for many.
const parallelDeletes = 16

// Delete implements backends.Bucket. After the first failure it starts no more deletes.
func (b *Bucket) Delete(ctx context.Context, names []string) (deleted []string, err error) {
	for _, name := range names {
		if err := backends.CheckName(name); err != nil {
			return nil, b.fail(ctx, "delete", name, err)
		}
	}
	// Once each: two that finalize an object fence each other.
	names = slices.Compact(slices.Sorted(slices.Values(names)))
	var mu sync.Mutex
	group, running := errgroup.WithContext(ctx)
	group.SetLimit(parallelDeletes)
	for _, name := range names {
		if running.Err() != nil {
			break
		}
		group.Go(func() error {
			// Not running: a delete that is under way may as well be confirmed.
			if err := b.deleteOne(ctx, name); err != nil {
				return b.fail(ctx, "delete", name, err)
			}
			mu.Lock()
			defer mu.Unlock()
			deleted = append(deleted, name)
			return nil
		})
	}
	err = group.Wait()
	if err == nil && len(deleted) < len(names) {
		err = b.fail(ctx, "delete", names[0], ctx.Err())
	}
	return deleted, err
}

func (b *Bucket) deleteOne(ctx context.Context, name string) error {
	if err := b.calls.acquire(ctx); err != nil {
		return err
	}
	defer b.calls.release()
	object := b.reads.Object(b.object(name))
	err := object.Delete(ctx)
	if status.Code(err) == codes.FailedPrecondition && b.zonal && !b.opts.KeepUnfinalized {
		// Whatever comes of it: another one may have finalized or deleted the object meanwhile.
		finalizeErr := b.finalize(ctx, object)
		if err = object.Delete(ctx); status.Code(err) == codes.FailedPrecondition {
			err = errors.Join(err, finalizeErr)
		}
	}
	if errors.Is(err, storage.ErrObjectNotExist) {
		return nil
	}
	return err
}

// finalize takes the object over from its writer, if it has one, and makes it immutable.
func (b *Bucket) finalize(ctx context.Context, object *storage.ObjectHandle) error {
	attrs, err := object.Attrs(ctx)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	w, _, err := object.Generation(attrs.Generation).NewWriterFromAppendableObject(ctx, &storage.AppendableWriterOpts{
		FinalizeOnClose: true,
	})
	if err != nil {
		return err
	}
	return w.Close()
}
