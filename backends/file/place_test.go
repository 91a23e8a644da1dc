package file_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/walbridge/walbridge/backends"
)

// A directory that goes takes the objects with it, and says nothing about them; one that comes in its place is the
// bucket, without a restart.
func TestReplacedDirectory(t *testing.T) {
	for name, remove := range map[string]func(dir string) error{
		"removed": os.RemoveAll,
		"renamed": func(dir string) error { return os.Rename(dir, dir+".old") },
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "zone")
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			b := open(t, dir)
			mustPut(t, b, "a/old", "content")
			w, err := b.Create(t.Context(), "a/open")
			if err != nil {
				t.Fatal(err)
			}
			defer w.Close(t.Context())
			if err := remove(dir); err != nil {
				t.Fatal(err)
			}
			readErr := b.ReadAt(t.Context(), "a/old", make([]byte, 7), 0)
			_, deleteErr := b.Delete(t.Context(), []string{"a/old"})
			var listErr error
			for _, err := range b.List(t.Context(), "") {
				listErr = err
			}
			for op, err := range map[string]error{
				"read": readErr, "delete": deleteErr, "list": listErr, "create": put(t.Context(), b, "a/new", "content"),
			} {
				if err == nil || errors.Is(err, backends.ErrNotFound) || !strings.Contains(err.Error(), "is not there") {
					t.Errorf("%s without a directory: %v, want one that says so", op, err)
				}
			}
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := w.Append(t.Context(), []byte("x"), backends.Checksum([]byte("x"))); !errors.Is(err, backends.ErrNotFound) {
				t.Errorf("an append to what was in the old directory: %v, want ErrNotFound", err)
			}
			mustPut(t, b, "a/new", "content")
			if _, err := os.Stat(filepath.Join(dir, "a", "new")); err != nil {
				t.Errorf("the object is not in the new directory: %v", err)
			}
			if err := b.ReadAt(t.Context(), "a/old", make([]byte, 7), 0); !errors.Is(err, backends.ErrNotFound) {
				t.Errorf("what was in the old directory: %v, want ErrNotFound", err)
			}
		})
	}
}
