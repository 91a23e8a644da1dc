package file

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/walbridge/walbridge/backends"
)

func mustOpen(t *testing.T, dir string) *Bucket {
	t.Helper()
	b, err := Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

func mustCreate(t *testing.T, b *Bucket, name string) backends.Writer {
	t.Helper()
	w, err := b.Create(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close(context.Background()) })
	return w
}

func appendTo(ctx context.Context, w backends.Writer, p string) error {
	return w.Append(ctx, []byte(p), backends.Checksum([]byte(p)))
}

// A Create syncs the file and every directory that leads to it, also where they have been there; a Delete syncs the
// directory, after the file has gone.
func TestSyncOnCreateAndDelete(t *testing.T) {
	dir := t.TempDir()
	b := mustOpen(t, dir)
	var mu sync.Mutex
	var synced []string
	b.sync = func(f *os.File) error {
		mu.Lock()
		defer mu.Unlock()
		name, err := filepath.Rel(dir, f.Name())
		synced = append(synced, name)
		return errors.Join(err, fsync(f))
	}
	for _, name := range []string{"a/b/first", "a/b/second"} {
		synced = nil
		mustCreate(t, b, name)
		if want := []string{".", "a", "a/b", name}; !slices.Equal(slices.Sorted(slices.Values(synced)), want) {
			t.Errorf("Create(%s) synced %q, want %q", name, synced, want)
		}
	}
	synced = nil
	b.sync = func(f *os.File) error {
		if _, err := os.Lstat(filepath.Join(dir, "a/b/first")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("at the sync of Delete the file is still there, error %v", err)
		}
		synced = append(synced, f.Name())
		return nil
	}
	if _, err := b.Delete(t.Context(), []string{"a/b/first"}); err != nil {
		t.Error(err)
	}
	if want := []string{filepath.Join(dir, "a/b")}; !slices.Equal(synced, want) {
		t.Errorf("Delete synced %q, want %q", synced, want)
	}
}

// Every Append is synced, with all its bytes, before it returns.
func TestSyncOnAppend(t *testing.T) {
	b := mustOpen(t, t.TempDir())
	var sizes []int64
	b.datasync = func(f *os.File) error {
		info, err := f.Stat()
		sizes = append(sizes, info.Size())
		return errors.Join(err, fdatasync(f))
	}
	w := mustCreate(t, b, "a/b")
	for i := range 3 {
		if err := appendTo(t.Context(), w, "12345"); err != nil {
			t.Fatal(err)
		}
		if want := int64(5 * (i + 1)); len(sizes) != i+1 || sizes[i] != want {
			t.Fatalf("after Append %d, synced at sizes %v, want a last one of %d", i, sizes, want)
		}
	}
}

// What the system refuses reaches the caller with the file's path, and nothing is reported as durable.
func TestSyncFails(t *testing.T) {
	dir := t.TempDir()
	b := mustOpen(t, dir)
	w := mustCreate(t, b, "a/b")
	if err := appendTo(t.Context(), w, "12345"); err != nil {
		t.Fatal(err)
	}
	b.datasync = func(f *os.File) error { return &fs.PathError{Op: "write", Path: f.Name(), Err: syscall.ENOSPC} }
	err := appendTo(t.Context(), w, "67890")
	if path := filepath.Join(dir, "a/b"); !errors.Is(err, syscall.ENOSPC) || strings.Count(err.Error(), path) != 1 {
		t.Errorf("Append to a full disk: %v, want ENOSPC and once the path %s", err, path)
	}
	b.datasync = fdatasync
	if err := appendTo(t.Context(), w, "67890"); !errors.Is(err, backends.ErrClosed) {
		t.Errorf("Append after a failed one: %v, want ErrClosed", err)
	}
	p := make([]byte, 5)
	if err := b.ReadAt(t.Context(), "a/b", p, 0); err != nil || string(p) != "12345" {
		t.Errorf("the Append before the failed one reads %q, %v", p, err)
	}

	b.sync = func(*os.File) error { return syscall.EIO }
	if _, err := b.Create(t.Context(), "a/c"); !errors.Is(err, syscall.EIO) {
		t.Errorf("Create whose sync fails: %v, want EIO", err)
	}
	if deleted, err := b.Delete(t.Context(), []string{"a/b"}); !errors.Is(err, syscall.EIO) || len(deleted) > 0 {
		t.Errorf("Delete whose sync fails = %q, %v, want EIO and nothing confirmed", deleted, err)
	}
}

// A disk that does not answer: every Append returns when its ctx ends, no more than maxCalls of them are in the kernel,
// reads and closes go on, and everything is let go when the disk answers.
func TestStuckDisk(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		b := mustOpen(t, dir)
		var mu sync.Mutex
		inKernel, most := 0, 0
		answer := make(chan struct{})
		b.datasync = func(*os.File) error {
			mu.Lock()
			inKernel++
			most = max(most, inKernel)
			mu.Unlock()
			<-answer
			return nil
		}
		for i := range maxCalls + 10 {
			w := mustCreate(t, b, "a/"+string(rune('A'+i/26%26))+string(rune('A'+i%26)))
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			start := time.Now()
			err := appendTo(ctx, w, "12345")
			if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != time.Second {
				t.Fatalf("Append %d: %v after %v, want the deadline's error after 1s", i, err, time.Since(start))
			}
			if err := appendTo(t.Context(), w, "67890"); !errors.Is(err, backends.ErrClosed) {
				t.Errorf("Append after a stuck one: %v, want ErrClosed", err)
			}
			if err := w.Close(t.Context()); err != nil {
				t.Errorf("Close after a stuck Append: %v", err)
			}
			cancel()
		}
		mu.Lock()
		if most != maxCalls {
			t.Errorf("%d system calls at once, want %d", most, maxCalls)
		}
		mu.Unlock()
		if err := b.ReadAt(t.Context(), "a/AA", make([]byte, 5), 0); err != nil {
			t.Errorf("ReadAt while Appends are stuck: %v", err)
		}
		close(answer)
		synctest.Wait()
		if len(b.appends) != 0 {
			t.Errorf("%d slots are taken after the disk answered", len(b.appends))
		}
	})
}

// A Create that outlasts its ctx does not keep its file open.
func TestStuckCreate(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		b := mustOpen(t, dir)
		var created *os.File
		answer := make(chan struct{})
		b.sync = func(f *os.File) error {
			if filepath.Base(f.Name()) == "b" {
				created = f
				<-answer
			}
			return nil
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := b.Create(ctx, "a/b"); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("Create: %v, want the deadline's error", err)
		}
		close(answer)
		synctest.Wait()
		if _, err := created.Stat(); !errors.Is(err, fs.ErrClosed) {
			t.Errorf("the file is still open, error %v", err)
		}
	})
}

func TestSentinels(t *testing.T) {
	b := mustOpen(t, t.TempDir())
	for system, want := range map[error]error{
		syscall.EEXIST: backends.ErrExists,
		syscall.ENOENT: backends.ErrNotFound,
		syscall.EACCES: backends.ErrDenied,
		syscall.EPERM:  backends.ErrDenied,
		syscall.EROFS:  backends.ErrDenied,
	} {
		err := b.fail("create", "a/b", &fs.PathError{Op: "openat", Path: "a/b", Err: system})
		if !errors.Is(err, want) || !errors.Is(err, system) {
			t.Errorf("%v becomes %v, want it and %v", system, err, want)
		}
	}
}
