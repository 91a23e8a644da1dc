package file_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Another file system at the path may be the disk below a mount that has gone: it gets nothing.
func TestOtherFileSystem(t *testing.T) {
	other, err := os.MkdirTemp("/dev/shm", "walbridge-test")
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { os.RemoveAll(other) })
	home := t.TempDir()
	var a, b syscall.Stat_t
	if err := errors.Join(syscall.Stat(other, &a), syscall.Stat(home, &b)); err != nil || a.Dev == b.Dev {
		t.Skipf("no second file system to write to: %v", err)
	}
	dir := filepath.Join(t.TempDir(), "zone")
	if err := os.Symlink(home, dir); err != nil {
		t.Fatal(err)
	}
	bucket := open(t, dir)
	if err := errors.Join(os.Remove(dir), os.Symlink(other, dir)); err != nil {
		t.Fatal(err)
	}
	err = put(t.Context(), bucket, "a/b", "content")
	if err == nil || !strings.Contains(err.Error(), "restart the daemon if this one is right") {
		t.Errorf("Create: %v, want one that says what to do", err)
	}
	if entries, err := os.ReadDir(other); err != nil || len(entries) > 0 {
		t.Errorf("the other file system holds %v, %v", entries, err)
	}
}
