// Package mem is a store in memory, for tests. It can behave like a store that appends (GCS Rapid, a file system) and
// like one that writes an object whole (S3).
//
// It starts no goroutine, does no I/O and waits for nothing but a mutex held for the length of a copy, so it works in a
// testing/synctest bubble.
package mem

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"math"
	"strings"
	"sync"

	"github.com/walbridge/walbridge/backends"
)

// Options shape a Bucket. The zero value is a store that appends.
type Options struct {
	// Appends is how many Appends one object takes; 0 means any number.
	Appends int
	// MaxAppend is the longest Append in bytes; 0 means any length.
	MaxAppend int64
	// CreateOnAppend has an object come into being with its first Append, as on S3: Create touches nothing, there is no
	// empty object, and ErrExists surfaces at the Append.
	CreateOnAppend bool
}

// Bucket is a store in memory. Its objects live as long as it does: Close keeps them, so a test can stop what it tests
// and start it again on the same Bucket.
type Bucket struct {
	caps           backends.Caps
	createOnAppend bool

	mu      sync.RWMutex
	objects map[string]*object
}

// object is guarded by Bucket.mu. Its identity tells a Writer whether the name still is the object it created.
type object struct{ data []byte }

// New returns an empty Bucket.
func New(o Options) *Bucket {
	return &Bucket{
		caps: backends.Caps{
			Appends:   cmp.Or(o.Appends, math.MaxInt),
			MaxAppend: cmp.Or(o.MaxAppend, math.MaxInt64),
		},
		createOnAppend: o.CreateOnAppend,
		objects:        make(map[string]*object),
	}
}

// Create implements backends.Bucket.
func (b *Bucket) Create(ctx context.Context, name string) (backends.Writer, error) {
	w := &writer{bucket: b, name: name}
	err := cmp.Or(backends.CheckName(name), ctx.Err())
	if err == nil && !b.createOnAppend {
		b.mu.Lock()
		defer b.mu.Unlock()
		w.object, err = b.add(name)
	}
	if err != nil {
		return nil, fmt.Errorf("mem: create %s: %w", name, err)
	}
	return w, nil
}

// add makes the object name. The caller holds mu.
func (b *Bucket) add(name string) (*object, error) {
	if b.objects[name] != nil {
		return nil, backends.ErrExists
	}
	o := new(object)
	b.objects[name] = o
	return o, nil
}

// ReadAt implements backends.Bucket.
func (b *Bucket) ReadAt(ctx context.Context, name string, p []byte, off int64) error {
	if err := b.copyAt(ctx, name, p, off); err != nil {
		return fmt.Errorf("mem: read %s at %d+%d: %w", name, off, len(p), err)
	}
	return nil
}

func (b *Bucket) copyAt(ctx context.Context, name string, p []byte, off int64) error {
	if err := cmp.Or(backends.CheckName(name), ctx.Err()); err != nil {
		return err
	}
	b.mu.RLock()
	defer b.mu.RUnlock()
	o := b.objects[name]
	if o == nil {
		return backends.ErrNotFound
	}
	if size := int64(len(o.data)); off < 0 || off > size || int64(len(p)) > size-off {
		return backends.ErrRange
	}
	copy(p, o.data[off:])
	return nil
}

// List implements backends.Bucket. It lists the objects of the moment it starts, with exact sizes.
func (b *Bucket) List(ctx context.Context, dir string) iter.Seq2[backends.Object, error] {
	return func(yield func(backends.Object, error) bool) {
		objects, err := b.below(ctx, dir)
		for _, o := range objects {
			if err = ctx.Err(); err != nil {
				break
			}
			if !yield(o, nil) {
				return
			}
		}
		if err != nil {
			yield(backends.Object{}, fmt.Errorf("mem: list %q: %w", dir, err))
		}
	}
}

// below returns a copy of what is listed, so that mu is not held while a caller looks at it.
func (b *Bucket) below(ctx context.Context, dir string) ([]backends.Object, error) {
	if err := cmp.Or(backends.CheckDir(dir), ctx.Err()); err != nil {
		return nil, err
	}
	if dir != "" {
		dir += "/"
	}
	b.mu.RLock()
	defer b.mu.RUnlock()
	var list []backends.Object
	for name, o := range b.objects {
		if strings.HasPrefix(name, dir) {
			list = append(list, backends.Object{Name: name, Size: int64(len(o.data))})
		}
	}
	return list, nil
}

// Delete implements backends.Bucket. It deletes all the names or, where one is invalid or ctx has ended, none.
func (b *Bucket) Delete(ctx context.Context, names []string) ([]string, error) {
	for _, name := range names {
		if err := backends.CheckName(name); err != nil {
			return nil, fmt.Errorf("mem: delete %s: %w", name, err)
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("mem: delete %d objects: %w", len(names), err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, name := range names {
		delete(b.objects, name)
	}
	return names, nil
}

// Caps implements backends.Bucket.
func (b *Bucket) Caps() backends.Caps { return b.caps }

// Close implements backends.Bucket; there is nothing to release.
func (b *Bucket) Close() error { return nil }
