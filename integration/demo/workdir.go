package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/walbridge/walbridge/integration/artifact"
)

// marker is the file that says that a directory is the demo's own and may be emptied. Whoever uses it holds its lock.
const marker = ".walbridge-demo"

// workDir makes the directory for everything, or empties it if an earlier demo left it. What the demo leaves there
// stays for people to look at; unlock is called at the end.
func workDir(dir string) (abs string, unlock func(), err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("work directory: %w", err)
		}
	}()
	if dir == "" {
		root, err := artifact.Root()
		if err != nil {
			return "", nil, err
		}
		dir = filepath.Join(root, ".cache", "demo")
	}
	if abs, err = filepath.Abs(dir); err != nil {
		return "", nil, err
	}
	if err := os.MkdirAll(abs, 0o755); err != nil {
		return "", nil, err
	}
	entries, err := os.ReadDir(abs)
	if err != nil {
		return "", nil, err
	}
	ours := slices.ContainsFunc(entries, func(e os.DirEntry) bool { return e.Name() == marker })
	if len(entries) > 0 && !ours {
		return "", nil, fmt.Errorf("%s is not empty, and not of an earlier demo", abs)
	}
	lock, err := os.OpenFile(filepath.Join(abs, marker), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return "", nil, err
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		lock.Close()
		return "", nil, fmt.Errorf("%s is in use by another demo: %w", abs, err)
	}
	for _, e := range entries {
		if e.Name() != marker {
			err = errors.Join(err, os.RemoveAll(filepath.Join(abs, e.Name())))
		}
	}
	if err != nil {
		lock.Close()
		return "", nil, err
	}
	return abs, func() { lock.Close() }, nil
}
