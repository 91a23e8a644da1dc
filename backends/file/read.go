package file

import (
	"context"
	"errors"
	"io"
	"os"
	"sync"

	"github.com/walbridge/walbridge/backends"
)

// chunk is how much is read before it is copied to the caller: it stays in the processor's cache, and a read that
// outlasts its ctx holds no more memory than this.
const chunk = 256 << 10

var chunks = sync.Pool{New: func() any { return new([chunk]byte) }}

// ReadAt implements backends.Bucket.
func (b *Bucket) ReadAt(ctx context.Context, name string, p []byte, off int64) error {
	if err := backends.CheckName(name); err != nil {
		return b.fail("read", name, err)
	}
	if off < 0 {
		return b.fail("read", name, backends.ErrRange)
	}
	dst := &target{p: p}
	err := detachErr(ctx, b.others, func() error { return b.read(name, off, int64(len(p)), dst) })
	if err != nil {
		dst.revoke()
		return b.fail("read", name, err)
	}
	return nil
}

func (b *Bucket) read(name string, off, n int64, dst *target) error {
	root, err := b.place.here()
	if err != nil {
		return err
	}
	f, err := root.Open(name)
	if gone(err) {
		return backends.ErrNotFound
	}
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return backends.ErrNotFound
	case off > info.Size() || n > info.Size()-off:
		return backends.ErrRange
	}
	return copyAt(f, off, n, dst)
}

func copyAt(f *os.File, off, n int64, dst *target) error {
	buf := chunks.Get().(*[chunk]byte)
	defer chunks.Put(buf)
	for done := int64(0); done < n; {
		part := buf[:min(n-done, chunk)]
		if _, err := f.ReadAt(part, off+done); err != nil {
			if errors.Is(err, io.EOF) {
				err = backends.ErrRange
			}
			return err
		}
		dst.put(part, done)
		done += int64(len(part))
	}
	return nil
}

// target is the buffer of a ReadAt. It is the caller's again, and must not change any more, when the ReadAt returns,
// while the system call may still be on its way.
type target struct {
	mu sync.Mutex
	p  []byte // nil once revoked
}

func (t *target) put(part []byte, at int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.p != nil {
		copy(t.p[at:], part)
	}
}

func (t *target) revoke() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.p = nil
}
