package file_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/walbridge/walbridge/backends"
)

// The kernel blocks who opens a named pipe, as a dead NFS server does; the ReadAt returns all the same.
func TestStuckRead(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	b := open(t, dir)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := b.ReadAt(ctx, "pipe", make([]byte, 1), 0); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("ReadAt: %v, want the deadline's error", err)
	}
	w, err := os.OpenFile(pipe, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if err := b.ReadAt(t.Context(), "pipe", make([]byte, 1), 0); !errors.Is(err, backends.ErrNotFound) {
		t.Errorf("ReadAt of a pipe: %v, want ErrNotFound", err)
	}
	if got := list(t, b); len(got) != 0 {
		t.Errorf("List = %q: a pipe is no object", got)
	}
}
