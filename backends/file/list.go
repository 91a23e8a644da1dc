package file

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"iter"
	"os"
	"path"

	"github.com/walbridge/walbridge/backends"
)

// page is how many directory entries are read at once.
const page = 256

// List implements backends.Bucket. Sizes are those of the moment.
func (b *Bucket) List(ctx context.Context, dir string) iter.Seq2[backends.Object, error] {
	return func(yield func(backends.Object, error) bool) {
		if err := backends.CheckDir(dir); err != nil {
			yield(backends.Object{}, b.fail("list", dir, err))
			return
		}
		root, err := detach(ctx, b.others, b.place.here, func(*os.Root) {})
		if err != nil {
			yield(backends.Object{}, b.fail("list", dir, err))
			return
		}
		w := &walk{root: root, pending: []string{cmp.Or(dir, ".")}}
		for {
			objects, err := detach(ctx, b.others, w.next, func([]backends.Object) { w.close() })
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				yield(backends.Object{}, b.fail("list", dir, err))
				return
			}
			for _, o := range objects {
				if !yield(o, nil) {
					w.close()
					return
				}
			}
		}
	}
}

// walk is a listing on its way. Between two calls of next it holds at most one directory open, and none after an error.
type walk struct {
	root    *os.Root
	pending []string // directories still to be read

	name string
	dir  *os.Root // nil between two directories
	file *os.File // dir's entries
}

// next returns the objects of one page or io.EOF.
func (w *walk) next() ([]backends.Object, error) {
	for {
		if err := w.open(); err != nil {
			return nil, err
		}
		entries, err := w.file.ReadDir(page)
		if errors.Is(err, io.EOF) || gone(err) {
			w.close()
			continue
		}
		var objects []backends.Object
		if err == nil {
			objects, err = w.objects(entries)
		}
		if err != nil {
			w.close()
			return nil, err
		}
		if len(objects) > 0 {
			return objects, nil
		}
	}
}

// open goes to the next directory, unless it is in one. One that has been deleted meanwhile, or is an object, is empty.
func (w *walk) open() (err error) {
	for w.dir == nil {
		if len(w.pending) == 0 {
			return io.EOF
		}
		last := len(w.pending) - 1
		w.name, w.pending = w.pending[last], w.pending[:last]
		if w.dir, err = w.root.OpenRoot(w.name); err != nil {
			w.dir = nil
			if info, err2 := w.root.Lstat(w.name); !gone(err2) && (err2 != nil || info.IsDir()) {
				return err
			}
			continue
		}
		if w.file, err = w.dir.Open("."); err != nil {
			w.close()
			return err
		}
	}
	return nil
}

// objects returns the objects among the entries of a directory, and notes the directories.
func (w *walk) objects(entries []fs.DirEntry) ([]backends.Object, error) {
	objects := make([]backends.Object, 0, len(entries))
	for _, e := range entries {
		name := path.Join(w.name, e.Name())
		switch {
		case backends.CheckName(name) != nil:
		case e.IsDir():
			w.pending = append(w.pending, name)
		case e.Type().IsRegular():
			info, err := w.dir.Lstat(e.Name())
			if gone(err) {
				continue
			}
			if err != nil {
				return nil, err
			}
			objects = append(objects, backends.Object{Name: name, Size: info.Size()})
		}
	}
	return objects, nil
}

func (w *walk) close() {
	if w.dir != nil {
		w.file.Close()
		w.dir.Close()
		w.dir, w.file = nil, nil
	}
}
