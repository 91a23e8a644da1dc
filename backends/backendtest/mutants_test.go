package backendtest

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"path"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/walbridge/walbridge/backends"
)

// mutant is a store with one thing wrong in it.
type mutant struct {
	name  string
	wrap  func(backends.Bucket) backends.Bucket
	fails []string
}

// broken replaces methods of a Bucket; those that are nil stay.
type broken struct {
	backends.Bucket
	create func(context.Context, string) (backends.Writer, error)
	readAt func(context.Context, string, []byte, int64) error
	list   func(context.Context, string) listing
	delete func(context.Context, []string) ([]string, error)
	caps   func() backends.Caps
}

func (b *broken) Create(ctx context.Context, name string) (backends.Writer, error) {
	if b.create != nil {
		return b.create(ctx, name)
	}
	return b.Bucket.Create(ctx, name)
}

func (b *broken) ReadAt(ctx context.Context, name string, p []byte, off int64) error {
	if b.readAt != nil {
		return b.readAt(ctx, name, p, off)
	}
	return b.Bucket.ReadAt(ctx, name, p, off)
}

func (b *broken) List(ctx context.Context, dir string) listing {
	if b.list != nil {
		return b.list(ctx, dir)
	}
	return b.Bucket.List(ctx, dir)
}

func (b *broken) Delete(ctx context.Context, names []string) ([]string, error) {
	if b.delete != nil {
		return b.delete(ctx, names)
	}
	return b.Bucket.Delete(ctx, names)
}

func (b *broken) Caps() backends.Caps {
	if b.caps != nil {
		return b.caps()
	}
	return b.Bucket.Caps()
}

// brokenWriter replaces methods of a Writer; those that are nil stay.
type brokenWriter struct {
	backends.Writer
	append func(ctx context.Context, p []byte, crc uint32) error
	close  func(context.Context) error
}

func (w *brokenWriter) Append(ctx context.Context, p []byte, crc uint32) error {
	if w.append != nil {
		return w.append(ctx, p, crc)
	}
	return w.Writer.Append(ctx, p, crc)
}

func (w *brokenWriter) Close(ctx context.Context) error {
	if w.close != nil {
		return w.close(ctx)
	}
	return w.Writer.Close(ctx)
}

// writers returns a mutant's wrap that breaks its Writers.
func writers(breakIt func(backends.Writer) *brokenWriter) func(backends.Bucket) backends.Bucket {
	return func(b backends.Bucket) backends.Bucket {
		return &broken{Bucket: b, create: func(ctx context.Context, name string) (backends.Writer, error) {
			w, err := b.Create(ctx, name)
			if err != nil {
				return nil, err
			}
			return breakIt(w), nil
		}}
	}
}

// lists returns a mutant's wrap that breaks its listings.
func lists(breakIt func(backends.Bucket, context.Context, string) listing,
) func(backends.Bucket) backends.Bucket {
	return func(b backends.Bucket) backends.Bucket {
		return &broken{Bucket: b, list: func(ctx context.Context, dir string) listing {
			return breakIt(b, ctx, dir)
		}}
	}
}

// listing is what a List returns.
type listing = iter.Seq2[backends.Object, error]

// filtered lists what keep lets through.
func filtered(seq listing, keep func(backends.Object) bool,
) listing {
	return func(yield func(backends.Object, error) bool) {
		for o, err := range seq {
			if (err != nil || keep(o)) && !yield(o, err) {
				return
			}
		}
	}
}

var mutants = []mutant{
	{"create overwrites", func(b backends.Bucket) backends.Bucket {
		return &broken{Bucket: b, create: func(ctx context.Context, name string) (backends.Writer, error) {
			w, err := b.Create(ctx, name)
			if errors.Is(err, backends.ErrExists) {
				b.Delete(ctx, []string{name})
				w, err = b.Create(ctx, name)
			}
			return w, err
		}}
	}, []string{"Create/Exists", "Create/ExistsEmpty", "Create/Concurrent"}},

	{"an existing object is another error", func(b backends.Bucket) backends.Bucket {
		return &broken{Bucket: b, create: func(ctx context.Context, name string) (backends.Writer, error) {
			w, err := b.Create(ctx, name)
			if errors.Is(err, backends.ErrExists) {
				err = backends.ErrDenied
			}
			return w, err
		}}
	}, []string{"Create/Exists", "Create/ExistsEmpty", "Create/Concurrent", "Create/Empty"}},

	{"an empty object is not listed", lists(
		func(b backends.Bucket, ctx context.Context, dir string) listing {
			return filtered(b.List(ctx, dir), func(o backends.Object) bool { return o.Size > 0 })
		}), []string{"Create/Empty"}},

	{"a writer ends with the ctx of its Create", func(b backends.Bucket) backends.Bucket {
		return &broken{Bucket: b, create: func(created context.Context, name string) (backends.Writer, error) {
			w, err := b.Create(created, name)
			return &brokenWriter{Writer: w, append: func(_ context.Context, p []byte, crc uint32) error {
				return w.Append(created, p, crc)
			}}, err
		}}
	}, []string{"Create/OutlivesCtx"}},

	{"bytes are stored at Close", writers(func(w backends.Writer) *brokenWriter {
		var kept []byte
		return &brokenWriter{
			Writer: w,
			append: func(_ context.Context, p []byte, _ uint32) error {
				kept = append(kept, p...)
				return nil
			},
			close: func(ctx context.Context) error {
				return errors.Join(w.Append(ctx, kept, backends.Checksum(kept)), w.Close(ctx))
			},
		}
	}), []string{"Append/Readable", "Append/Many", "Concurrency"}},

	{"only the first Append counts", writers(func(w backends.Writer) *brokenWriter {
		var once sync.Once
		return &brokenWriter{Writer: w, append: func(ctx context.Context, p []byte, crc uint32) (err error) {
			once.Do(func() { err = w.Append(ctx, p, crc) })
			return err
		}}
	}), []string{"Append/Many", "Append/TooMany", "Concurrency"}},

	{"an Append ends at 1 MiB", writers(func(w backends.Writer) *brokenWriter {
		return &brokenWriter{Writer: w, append: func(ctx context.Context, p []byte, crc uint32) error {
			if len(p) > 1<<20 {
				p = p[:1<<20]
				crc = backends.Checksum(p)
			}
			return w.Append(ctx, p, crc)
		}}
	}), []string{"Append/Large", "Append/TooLarge"}},

	{"the checksum is not looked at", writers(func(w backends.Writer) *brokenWriter {
		return &brokenWriter{Writer: w, append: func(ctx context.Context, p []byte, _ uint32) error {
			return w.Append(ctx, p, backends.Checksum(p))
		}}
	}), []string{"Append/Checksum"}},

	{"the checksum is looked at afterwards", writers(func(w backends.Writer) *brokenWriter {
		return &brokenWriter{Writer: w, append: func(ctx context.Context, p []byte, crc uint32) error {
			if err := w.Append(ctx, p, backends.Checksum(p)); err != nil {
				return err
			}
			if crc != backends.Checksum(p) {
				return errors.Join(backends.ErrChecksum, w.Close(ctx))
			}
			return nil
		}}
	}), []string{"Append/Checksum"}},

	{"a wrong checksum is not final", writers(func(w backends.Writer) *brokenWriter {
		return &brokenWriter{Writer: w, append: func(ctx context.Context, p []byte, crc uint32) error {
			if crc != backends.Checksum(p) {
				return backends.ErrChecksum
			}
			return w.Append(ctx, p, crc)
		}}
	}), []string{"Append/Checksum"}},

	{"Append scribbles", writers(func(w backends.Writer) *brokenWriter {
		return &brokenWriter{Writer: w, append: func(ctx context.Context, p []byte, crc uint32) error {
			err := w.Append(ctx, p, crc)
			if cap(p) > len(p) {
				p[:cap(p)][len(p)]++
			}
			return err
		}}
	}), []string{"Append/Untouched"}},

	{"a closed writer writes", writers(func(w backends.Writer) *brokenWriter {
		return &brokenWriter{Writer: w, close: func(context.Context) error { return nil }}
	}), []string{"Append/AfterClose"}},

	{"an Append to a deleted object is lost in silence", writers(func(w backends.Writer) *brokenWriter {
		return &brokenWriter{Writer: w, append: func(ctx context.Context, p []byte, crc uint32) error {
			if err := w.Append(ctx, p, crc); !errors.Is(err, backends.ErrNotFound) {
				return err
			}
			return nil
		}}
	}), []string{"Append/AfterDelete"}},

	{"more Appends than told", func(b backends.Bucket) backends.Bucket {
		return &broken{Bucket: b, caps: func() backends.Caps { return backends.Caps{Appends: 2, MaxAppend: 2 << 20} }}
	}, []string{"Append/TooMany"}},

	{"larger Appends than told", func(b backends.Bucket) backends.Bucket {
		return &broken{Bucket: b, caps: func() backends.Caps { return backends.Caps{Appends: 4, MaxAppend: 1 << 20} }}
	}, []string{"Append/TooLarge"}},

	{"a read takes what is there", func(b backends.Bucket) backends.Bucket {
		return &broken{Bucket: b, readAt: func(ctx context.Context, name string, p []byte, off int64) error {
			for {
				err := b.ReadAt(ctx, name, p, off)
				if !errors.Is(err, backends.ErrRange) || len(p) == 0 {
					return err
				}
				p = p[:len(p)-1]
			}
		}}
	}, []string{"ReadAt/Range", "Append/Readable"}},

	{"a negative offset is 0", func(b backends.Bucket) backends.Bucket {
		return &broken{Bucket: b, readAt: func(ctx context.Context, name string, p []byte, off int64) error {
			return b.ReadAt(ctx, name, p, max(off, 0))
		}}
	}, []string{"ReadAt/Range"}},

	{"an empty range is always there", func(b backends.Bucket) backends.Bucket {
		return &broken{Bucket: b, readAt: func(ctx context.Context, name string, p []byte, off int64) error {
			if len(p) == 0 {
				return nil
			}
			return b.ReadAt(ctx, name, p, off)
		}}
	}, []string{"ReadAt/Range", "ReadAt/NotFound"}},

	{"a missing object is out of range", func(b backends.Bucket) backends.Bucket {
		return &broken{Bucket: b, readAt: func(ctx context.Context, name string, p []byte, off int64) error {
			err := b.ReadAt(ctx, name, p, off)
			if errors.Is(err, backends.ErrNotFound) {
				err = backends.ErrRange
			}
			return err
		}}
	}, []string{"ReadAt/NotFound", "Delete/Gone"}},

	{"a read fills the whole buffer", func(b backends.Bucket) backends.Bucket {
		return &broken{Bucket: b, readAt: func(ctx context.Context, name string, p []byte, off int64) error {
			if whole := p[:cap(p)]; b.ReadAt(ctx, name, whole, off) == nil {
				return nil
			}
			return b.ReadAt(ctx, name, p, off)
		}}
	}, []string{"ReadAt/Confined"}},

	{"List is flat", lists(func(b backends.Bucket, ctx context.Context, dir string) listing {
		return filtered(b.List(ctx, dir), func(o backends.Object) bool {
			parent := path.Dir(o.Name)
			return parent == dir || dir == "" && parent == "."
		})
	}), []string{"List/Recursive", "List/Many", "List/DeleteDuring", "Concurrency"}},

	{"List takes a prefix", lists(func(b backends.Bucket, ctx context.Context, dir string) listing {
		return filtered(b.List(ctx, ""), func(o backends.Object) bool { return strings.HasPrefix(o.Name, dir) })
	}), []string{"List/Boundaries"}},

	{"List stops after a page", lists(func(b backends.Bucket, ctx context.Context, dir string) listing {
		n := 0
		return filtered(b.List(ctx, dir), func(backends.Object) bool { n++; return n <= 50 })
	}), []string{"List/Many"}},

	{"List does not stop", lists(func(b backends.Bucket, ctx context.Context, dir string) listing {
		return func(yield func(backends.Object, error) bool) {
			for o, err := range b.List(ctx, dir) {
				yield(o, err)
			}
		}
	}), []string{"List/Stop"}},

	{"List fails on what is deleted", lists(func(b backends.Bucket, ctx context.Context, dir string) listing {
		return func(yield func(backends.Object, error) bool) {
			for o, err := range b.List(ctx, dir) {
				if !yield(o, errors.Join(err, b.ReadAt(ctx, o.Name, nil, 0))) {
					return
				}
				if err := b.ReadAt(ctx, o.Name, nil, 0); err != nil {
					yield(backends.Object{}, err)
					return
				}
			}
		}
	}), []string{"List/DeleteDuring"}},

	{"deleting nothing is an error", func(b backends.Bucket) backends.Bucket {
		return &broken{Bucket: b, delete: func(ctx context.Context, names []string) ([]string, error) {
			for i, name := range names {
				if err := b.ReadAt(ctx, name, nil, 0); errors.Is(err, backends.ErrNotFound) {
					return names[:i], err
				}
			}
			return b.Delete(ctx, names)
		}}
	}, []string{"Delete/Gone", "Delete/Directory"}},

	{"a directory is deleted with what is in it", func(b backends.Bucket) backends.Bucket {
		return &broken{Bucket: b, delete: func(ctx context.Context, names []string) ([]string, error) {
			for _, name := range names {
				for o := range b.List(ctx, name) {
					b.Delete(ctx, []string{o.Name})
				}
			}
			return b.Delete(ctx, names)
		}}
	}, []string{"Delete/Directory"}},

	{"more are confirmed than are deleted", func(b backends.Bucket) backends.Bucket {
		return &broken{Bucket: b, delete: func(ctx context.Context, names []string) ([]string, error) {
			_, err := b.Delete(ctx, names[:min(len(names), 20)])
			return names, err
		}}
	}, []string{"Delete/Many", "List/Many"}},

	{"names are cleaned", func(b backends.Bucket) backends.Bucket {
		clean := func(name string) string { return strings.TrimLeft(path.Clean("/"+name), "/.") }
		return &broken{
			Bucket: b,
			create: func(ctx context.Context, name string) (backends.Writer, error) { return b.Create(ctx, clean(name)) },
			readAt: func(ctx context.Context, name string, p []byte, off int64) error {
				return b.ReadAt(ctx, clean(name), p, off)
			},
			list: func(ctx context.Context, dir string) listing { return b.List(ctx, clean(dir)) },
		}
	}, []string{"Names/Invalid"}},

	{"case does not matter", func(b backends.Bucket) backends.Bucket {
		return &broken{Bucket: b, create: func(ctx context.Context, name string) (backends.Writer, error) {
			return b.Create(ctx, strings.ToLower(name))
		}}
	}, []string{"Names/Valid"}},

	{"ctx is ignored", func(b backends.Bucket) backends.Bucket {
		return &broken{Bucket: b, readAt: func(ctx context.Context, name string, p []byte, off int64) error {
			return b.ReadAt(context.WithoutCancel(ctx), name, p, off)
		}}
	}, []string{"Ctx/Ended"}},

	{"an ended ctx is any error", writers(func(w backends.Writer) *brokenWriter {
		return &brokenWriter{Writer: w, append: func(ctx context.Context, p []byte, crc uint32) error {
			if err := w.Append(ctx, p, crc); err != nil {
				return errors.New(err.Error())
			}
			return nil
		}}
	}), []string{"Ctx/Ended"}},

	{"caps follow the load", func(b backends.Bucket) backends.Bucket {
		var calls atomic.Int64
		return &broken{Bucket: b, caps: func() backends.Caps {
			return backends.Caps{Appends: 4, MaxAppend: 2<<20 - calls.Add(1)}
		}}
	}, []string{"Caps/Constant"}},

	{"a durable byte is readable later", func(b backends.Bucket) backends.Bucket {
		var mu sync.Mutex
		seen := make(map[string]bool)
		return &broken{Bucket: b, readAt: func(ctx context.Context, name string, p []byte, off int64) error {
			mu.Lock()
			defer mu.Unlock()
			if !seen[name] {
				seen[name] = true
				return backends.ErrNotFound
			}
			return b.ReadAt(ctx, name, p, off)
		}}
	}, []string{"Append/Readable", "Append/Large", "ReadAt/Range"}},

	{"a read returns zeros", func(b backends.Bucket) backends.Bucket {
		return &broken{Bucket: b, readAt: func(ctx context.Context, name string, p []byte, off int64) error {
			return b.ReadAt(ctx, name, bytes.Clone(p), off)
		}}
	}, []string{"Append/Readable", "ReadAt/Range", "Create/Exists", "Delete/Directory"}},
}
