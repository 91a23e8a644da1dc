package file

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
)

// errElsewhere is the error where another file system has come to the bucket's path: it may be the disk below a mount
// that has gone, which must not get the zone's objects.
var errElsewhere = errors.New("another file system than the one it was opened in: mount that one again, or restart the " +
	"daemon if this one is right")

// place is the directory at a path. A directory that was replaced by another one of the same file system, as by
// rm -r and mkdir, is followed; one of another file system is not.
type place struct {
	path string

	mu   sync.Mutex
	root *os.Root
	info os.FileInfo // of root
}

func openPlace(path string) (*place, error) {
	root, info, err := openRoot(path)
	if err != nil {
		return nil, err
	}
	return &place{path: path, root: root, info: info}, nil
}

func openRoot(path string) (*os.Root, os.FileInfo, error) {
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, nil, err
	}
	info, err := root.Stat(".")
	if err != nil {
		return nil, nil, errors.Join(err, root.Close())
	}
	return root, info, nil
}

// here returns the directory that is at the path now.
func (p *place) here() (*os.Root, error) {
	info, err := os.Stat(p.path)
	if err != nil {
		return nil, noPlace(err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if os.SameFile(info, p.info) {
		return p.root, nil
	}
	if !sameDevice(info, p.info) {
		return nil, fmt.Errorf("the bucket's directory is on %w", errElsewhere)
	}
	root, info, err := openRoot(p.path)
	if err != nil {
		return nil, noPlace(err)
	}
	p.root.Close() // What is under way in it goes on.
	p.root, p.info = root, info
	return root, nil
}

// noPlace is err of the bucket's directory. That it is missing must not read as if an object were.
func noPlace(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the bucket's directory is not there: %v", err)
	}
	return fmt.Errorf("the bucket's directory: %w", err)
}

func (p *place) close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.root.Close()
}
