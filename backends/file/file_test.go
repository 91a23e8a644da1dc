package file_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/walbridge/walbridge/backends"
	"github.com/walbridge/walbridge/backends/backendtest"
	"github.com/walbridge/walbridge/backends/file"
)

func open(t testing.TB, dir string) *file.Bucket {
	t.Helper()
	b, err := file.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func put(ctx context.Context, b backends.Bucket, name, content string) error {
	w, err := b.Create(ctx, name)
	if err != nil {
		return err
	}
	p := []byte(content)
	return errors.Join(w.Append(ctx, p, backends.Checksum(p)), w.Close(ctx))
}

func mustPut(t *testing.T, b backends.Bucket, name, content string) {
	t.Helper()
	if err := put(t.Context(), b, name, content); err != nil {
		t.Fatal(err)
	}
}

func list(t *testing.T, b backends.Bucket) (names []string) {
	t.Helper()
	for o, err := range b.List(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, o.Name)
	}
	slices.Sort(names)
	return names
}

func TestConformance(t *testing.T) {
	backendtest.Run(t, func(t *testing.T) backends.Bucket { return open(t, t.TempDir()) })
}

// A bucket whose file system is not mounted is an error and not an empty bucket.
func TestOpenMissing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "zone")
	if _, err := file.Open(t.Context(), dir); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), dir) {
		t.Errorf("Open of a missing directory: %v, want one that names it", err)
	}
	if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Open made the directory, or %v", err)
	}
}

// Objects are plain files: what is appended is in them, and nothing else.
func TestPlainFiles(t *testing.T) {
	dir := t.TempDir()
	b := open(t, dir)
	mustPut(t, b, "a/b/c", "content")
	if got, err := os.ReadFile(filepath.Join(dir, "a/b/c")); err != nil || string(got) != "content" {
		t.Errorf("the file holds %q, %v", got, err)
	}
	for o, err := range b.List(t.Context(), "a") {
		if want := (backends.Object{Name: "a/b/c", Size: 7}); err != nil || o != want {
			t.Errorf("List yields %+v, %v, want %+v", o, err, want)
		}
	}
}

// Files that are no objects are not listed, and nothing leads out of the bucket.
func TestForeignFiles(t *testing.T) {
	outside := t.TempDir()
	secret := filepath.Join(outside, "secret")
	dir := t.TempDir()
	b := open(t, dir)
	mustPut(t, b, "a/b", "content")
	for _, err := range []error{
		os.WriteFile(secret, []byte("secret"), 0o600),
		os.WriteFile(filepath.Join(dir, "a/.tmp"), nil, 0o600),
		os.WriteFile(filepath.Join(dir, "a/b~"), nil, 0o600),
		os.Mkdir(filepath.Join(dir, ".snapshot"), 0o700),
		os.WriteFile(filepath.Join(dir, ".snapshot/b"), nil, 0o600),
		os.Mkdir(filepath.Join(dir, "lost+found"), 0o700),
		os.Symlink(secret, filepath.Join(dir, "a/link")),
		os.Symlink("../../"+filepath.Base(outside)+"/secret", filepath.Join(dir, "a/relative")),
		os.Symlink(outside, filepath.Join(dir, "linked")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if got := list(t, b); !slices.Equal(got, []string{"a/b"}) {
		t.Errorf("List = %q, want a/b alone", got)
	}
	for _, name := range []string{"a/link", "a/relative", "linked/secret"} {
		if err := b.ReadAt(t.Context(), name, make([]byte, 6), 0); err == nil {
			t.Errorf("ReadAt(%s) leaves the bucket", name)
		}
	}
	if err := put(t.Context(), b, "linked/new", "content"); err == nil {
		t.Error("Create leaves the bucket")
	}
	if err := put(t.Context(), b, "a/link", "content"); !errors.Is(err, backends.ErrExists) {
		t.Errorf("Create over a symbolic link: %v, want ErrExists", err)
	}
	if _, err := b.Delete(t.Context(), []string{"linked/secret"}); err == nil {
		t.Error("Delete leaves the bucket")
	}
	if got, err := os.ReadFile(secret); err != nil || string(got) != "secret" {
		t.Errorf("the file outside holds %q, %v", got, err)
	}
	if entries, err := os.ReadDir(outside); err != nil || len(entries) != 1 {
		t.Errorf("outside there is %v, %v", entries, err)
	}
}

func TestLongPart(t *testing.T) {
	name := "a/" + strings.Repeat("n", 300)
	if err := put(t.Context(), open(t, t.TempDir()), name, "content"); !errors.Is(err, backends.ErrName) {
		t.Errorf("Create of a part of 300 bytes: %v, want ErrName", err)
	}
}

func TestDenied(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root is denied nothing")
	}
	dir := t.TempDir()
	b := open(t, dir)
	mustPut(t, b, "a/b", "content")
	sub := filepath.Join(dir, "a")
	if err := os.Chmod(sub, 0o500); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Chmod(sub, 0o700) })
	if err := put(t.Context(), b, "a/c", "content"); !errors.Is(err, backends.ErrDenied) {
		t.Errorf("Create: %v, want ErrDenied", err)
	}
	if deleted, err := b.Delete(t.Context(), []string{"a/b"}); !errors.Is(err, backends.ErrDenied) || len(deleted) > 0 {
		t.Errorf("Delete = %q, %v, want ErrDenied", deleted, err)
	}
	if err := os.Chmod(filepath.Join(sub, "b"), 0); err != nil {
		t.Fatal(err)
	}
	if err := b.ReadAt(t.Context(), "a/b", make([]byte, 1), 0); !errors.Is(err, backends.ErrDenied) {
		t.Errorf("ReadAt: %v, want ErrDenied", err)
	}
}

// Deletes leave no empty directories behind, and touch no others.
func TestPrune(t *testing.T) {
	dir := t.TempDir()
	b := open(t, dir)
	for _, name := range []string{"a/1/x", "a/1/y", "a/2/x", "b/1/x"} {
		mustPut(t, b, name, "content")
	}
	for _, step := range []struct {
		del  string
		want []string
	}{
		{"a/1/x", []string{"a", "a/1", "a/2", "b", "b/1"}},
		{"a/1/y", []string{"a", "a/2", "b", "b/1"}},
		{"a/2/x", []string{"b", "b/1"}},
		{"b/1/x", nil},
	} {
		if _, err := b.Delete(t.Context(), []string{step.del}); err != nil {
			t.Fatal(err)
		}
		if got := dirs(t, dir); !slices.Equal(got, step.want) {
			t.Errorf("directories after the Delete of %s: %q, want %q", step.del, got, step.want)
		}
	}
}

// dirs returns the directories below dir.
func dirs(t *testing.T, dir string) (names []string) {
	t.Helper()
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if d.IsDir() && name != "." {
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// Two processes create and delete in one directory: none sees the other's cleaning up.
func TestSharedDirectory(t *testing.T) {
	dir := t.TempDir()
	ours, theirs := open(t, dir), open(t, dir)
	mustPut(t, ours, "a/b", "content")
	p := make([]byte, 7)
	if err := theirs.ReadAt(t.Context(), "a/b", p, 0); err != nil || string(p) != "content" {
		t.Fatalf("the other process reads %q, %v", p, err)
	}
	if err := put(t.Context(), theirs, "a/b", "other"); !errors.Is(err, backends.ErrExists) {
		t.Fatalf("the other process creates it again: %v, want ErrExists", err)
	}
	var group sync.WaitGroup
	for i, b := range []*file.Bucket{ours, theirs, ours, theirs} {
		group.Go(func() {
			for j := range 100 {
				name := fmt.Sprintf("minute/%d/%d", j%2, i)
				if err := put(t.Context(), b, name, name); err != nil {
					t.Error(err)
				}
				if err := b.ReadAt(t.Context(), name, make([]byte, len(name)), 0); err != nil {
					t.Error(err)
				}
				if _, err := b.Delete(t.Context(), []string{name}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	if got := list(t, ours); !slices.Equal(got, []string{"a/b"}) {
		t.Errorf("left over: %q", got)
	}
}
