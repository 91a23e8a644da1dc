package file

import (
	"cmp"
	"context"
	"os"
	"path"

	"github.com/walbridge/walbridge/backends"
)

// Delete implements backends.Bucket. It goes from directory to directory and confirms names when their directory is
// synced, so that no crash brings them back. Directories that are empty then are removed.
func (b *Bucket) Delete(ctx context.Context, names []string) ([]string, error) {
	for _, name := range names {
		if err := backends.CheckName(name); err != nil {
			return nil, b.fail("delete", name, err)
		}
	}
	var deleted []string
	for len(deleted) < len(names) {
		some := sameDir(names[len(deleted):])
		if err := detachErr(ctx, b.others, func() error { return b.deleteIn(path.Dir(some[0]), some) }); err != nil {
			return deleted, b.fail("delete", some[0], err)
		}
		deleted = append(deleted, some...)
	}
	return deleted, nil
}

// sameDir returns the names at the front that are of one directory.
func sameDir(names []string) []string {
	for i, name := range names {
		if path.Dir(name) != path.Dir(names[0]) {
			return names[:i]
		}
	}
	return names
}

// deleteIn deletes files of one directory.
func (b *Bucket) deleteIn(dir string, names []string) error {
	root, err := b.place.here()
	if err != nil {
		return err
	}
	d, err := root.Open(dir)
	if gone(err) {
		return nil
	}
	if err != nil {
		return err
	}
	defer d.Close()
	if info, err := d.Stat(); err != nil || !info.IsDir() {
		return err // an object has nothing below it
	}
	for _, name := range names {
		err := unlink(root, d, name)
		if err == nil || gone(err) {
			continue
		}
		if info, err2 := root.Lstat(name); err2 == nil && info.IsDir() {
			continue // a directory is no object
		}
		return err
	}
	if err := b.sync(d); err != nil {
		return err
	}
	prune(root, dir)
	return nil
}

// prune removes dir and those above it as far as they are empty. A Create that comes in between makes them anew; one
// that has its file there keeps them.
func prune(root *os.Root, dir string) {
	for ; dir != "."; dir = path.Dir(dir) {
		parent, err := root.Open(path.Dir(dir))
		if err != nil {
			return
		}
		if cmp.Or(rmdir(parent, dir), parent.Close()) != nil {
			return
		}
	}
}
