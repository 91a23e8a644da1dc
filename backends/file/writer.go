package file

import (
	"context"
	"os"

	"github.com/walbridge/walbridge/backends"
)

// writer implements backends.Writer.
type writer struct {
	bucket *Bucket
	root   *os.Root // where the file was created
	name   string
	file   *os.File
	info   os.FileInfo // tells whether the name still is this file
	size   int64
	dead   bool
}

func (w *writer) Append(ctx context.Context, p []byte, crc uint32) error {
	if err := w.append(ctx, p, crc); err != nil {
		w.dead = true
		return w.bucket.fail("append", w.name, err)
	}
	w.size += int64(len(p))
	return nil
}

func (w *writer) append(ctx context.Context, p []byte, crc uint32) error {
	switch {
	case w.dead:
		return backends.ErrClosed
	case int64(len(p)) > maxAppend:
		return backends.ErrTooLarge
	case backends.Checksum(p) != crc:
		return backends.ErrChecksum
	}
	off := w.size // the call may outlive this one, and so touches nothing of w that changes
	return detachErr(ctx, w.bucket.appends, func() error { return w.store(p, off) })
}

func (w *writer) store(p []byte, off int64) error {
	if _, err := w.file.WriteAt(p, off); err != nil {
		return err
	}
	if err := w.bucket.datasync(w.file); err != nil {
		return err
	}
	// Deleted under this writer, it or the directory: bytes that nobody can read must not be reported as stored.
	root, err := w.bucket.place.here()
	if err != nil {
		return err
	}
	if root != w.root {
		return backends.ErrNotFound
	}
	info, err := root.Lstat(w.name)
	if err != nil {
		return err
	}
	if !os.SameFile(info, w.info) {
		return backends.ErrNotFound
	}
	return nil
}

// Close lets the file go also where ctx has ended; a system call of an Append that is still on its way keeps it until
// that returns. Closing takes no slot, since it has to happen.
func (w *writer) Close(ctx context.Context) error {
	w.dead = true
	closed := make(chan error, 1)
	go func() { closed <- w.file.Close() }()
	var err error
	select {
	case err = <-closed:
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err != nil {
		return w.bucket.fail("close", w.name, err)
	}
	return nil
}
