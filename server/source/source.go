// Package source reads sections of the broker's log from the broker's own segment files (ADR 10).
package source

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	framev1 "github.com/walbridge/walbridge/proto/walbridge/frame/v1"
)

// ErrSource is returned where a file cannot be read, or does not hold what the entry describes.
var ErrSource = errors.New("cannot take the section from the broker's file")

// Read returns the bytes of a section, entry.Length of them from position of the file, once it has made sure that they
// are exactly the record batches that the entry describes. It sets the entry's max_timestamp_ms to theirs. Every error
// is ErrSource. It waits for nothing but the disk, which nothing can interrupt.
//
// The file is opened each time: a topic that is deleted and made anew under its name has another file of the same path,
// with batches that may look the same.
func Read(path string, position uint64, entry *framev1.Entry) ([]byte, error) {
	bytes, err := read(path, position, entry.GetLength())
	if err != nil {
		return nil, fmt.Errorf("%w: %s-%d, %d bytes at position %d of %q: %w", ErrSource, entry.GetTopic(),
			entry.GetPartition(), entry.GetLength(), position, path, err)
	}
	maxTimestamp, err := check(bytes, entry)
	if err != nil {
		return nil, fmt.Errorf("%w: %s-%d, %d bytes at position %d of %q: %w", ErrSource, entry.GetTopic(),
			entry.GetPartition(), entry.GetLength(), position, path, err)
	}
	entry.MaxTimestampMs = maxTimestamp
	return bytes, nil
}

func read(path string, position uint64, length uint32) ([]byte, error) {
	if !filepath.IsAbs(path) || !strings.HasSuffix(path, ".log") {
		return nil, errors.New("a log segment has an absolute path that ends in .log")
	}
	// Not blocking, since what is there may be a pipe.
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // Nothing was written.
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("it is no regular file but %v", info.Mode())
	}
	if size := uint64(info.Size()); position > size || uint64(length) > size-position {
		return nil, fmt.Errorf("the file has only %d bytes", size)
	}
	bytes := make([]byte, length)
	if _, err := io.ReadFull(io.NewSectionReader(f, int64(position), int64(length)), bytes); err != nil {
		return nil, err
	}
	return bytes, nil
}
