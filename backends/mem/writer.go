package mem

import (
	"context"
	"fmt"

	"github.com/walbridge/walbridge/backends"
)

// writer implements backends.Writer.
type writer struct {
	bucket  *Bucket
	name    string
	object  *object // nil until there is one
	appends int
	closed  bool
}

func (w *writer) Append(ctx context.Context, p []byte, crc uint32) error {
	if err := w.append(ctx, p, crc); err != nil {
		w.closed = true
		return fmt.Errorf("mem: append %s: %w", w.name, err)
	}
	w.appends++
	return nil
}

func (w *writer) append(ctx context.Context, p []byte, crc uint32) error {
	caps := w.bucket.caps
	switch {
	case w.closed:
		return backends.ErrClosed
	case w.appends >= caps.Appends:
		return backends.ErrTooMany
	case int64(len(p)) > caps.MaxAppend:
		return backends.ErrTooLarge
	case backends.Checksum(p) != crc:
		return backends.ErrChecksum
	case ctx.Err() != nil:
		return ctx.Err()
	}
	w.bucket.mu.Lock()
	defer w.bucket.mu.Unlock()
	if w.object == nil {
		o, err := w.bucket.add(w.name)
		if err != nil {
			return err
		}
		w.object = o
	}
	// Deleted under this Writer: bytes that nobody can read must not be reported as stored.
	if w.bucket.objects[w.name] != w.object {
		return backends.ErrNotFound
	}
	w.object.data = append(w.object.data, p...)
	return nil
}

func (w *writer) Close(context.Context) error {
	w.closed = true
	return nil
}
