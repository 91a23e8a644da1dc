package gcs

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/walbridge/walbridge/backends"
)

// ReadAt implements backends.Bucket. The SDK checks the service's checksum of every message.
func (b *Bucket) ReadAt(ctx context.Context, name string, p []byte, off int64) error {
	if err := backends.CheckName(name); err != nil {
		return b.fail(ctx, "read", name, err)
	}
	if err := b.calls.acquire(ctx); err != nil {
		return b.fail(ctx, "read", name, err)
	}
	defer b.calls.release()
	if err := b.readAt(ctx, name, p, off); err != nil {
		return fmt.Errorf("%w, at %d+%d", b.fail(ctx, "read", name, err), off, len(p))
	}
	return nil
}

func (b *Bucket) readAt(ctx context.Context, name string, p []byte, off int64) error {
	object := b.reads.Object(b.object(name))
	if len(p) == 0 && off > 0 {
		// An empty range may lie at the end, but not beyond it: the byte before it has to be there. The size that
		// metadata tells may lag.
		p, off = make([]byte, 1), off-1
	}
	if len(p) == 0 || off < 0 {
		_, err := object.Attrs(ctx)
		if err == nil && off < 0 {
			err = backends.ErrRange
		}
		return err
	}
	r, err := object.NewRangeReader(ctx, off, int64(len(p)))
	if err != nil {
		return err
	}
	defer r.Close()
	// The object may be longer than the reader believes, and shorter than p; only the bytes tell.
	_, err = io.ReadFull(r, p)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return backends.ErrRange
	}
	return err
}
