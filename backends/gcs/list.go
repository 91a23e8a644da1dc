package gcs

import (
	"context"
	"errors"
	"iter"
	"strings"

	"cloud.google.com/go/storage"
	"google.golang.org/api/iterator"

	"github.com/walbridge/walbridge/backends"
)

// List implements backends.Bucket. The size of an object that is being written may lag. Objects whose names no Create
// would take, such as those that stand for folders, are left out.
func (b *Bucket) List(ctx context.Context, dir string) iter.Seq2[backends.Object, error] {
	return func(yield func(backends.Object, error) bool) {
		if err := b.list(ctx, dir, yield); err != nil {
			yield(backends.Object{}, b.fail(ctx, "list", dir, err))
		}
	}
}

// list returns nil also where yield wants no more.
func (b *Bucket) list(ctx context.Context, dir string, yield func(backends.Object, error) bool) error {
	if err := backends.CheckDir(dir); err != nil {
		return err
	}
	if err := b.calls.acquire(ctx); err != nil {
		return err
	}
	defer b.calls.release()
	root := b.object("")
	query := &storage.Query{Prefix: root}
	if dir != "" {
		query.Prefix += dir + "/"
	}
	if err := query.SetAttrSelection([]string{"Name", "Size"}); err != nil {
		return err
	}
	for objects := b.reads.Objects(ctx, query); ; {
		o, err := objects.Next()
		if errors.Is(err, iterator.Done) {
			return nil
		}
		if err != nil {
			return err
		}
		name := strings.TrimPrefix(o.Name, root)
		if backends.CheckName(name) != nil {
			continue
		}
		if !yield(backends.Object{Name: name, Size: o.Size}, nil) {
			return nil
		}
	}
}
