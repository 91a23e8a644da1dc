package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// makeWrong flips one byte in the middle of the largest stored object, in every zone, or of the broker's largest
// segment. It is how a test shows that the check can fail.
func makeWrong(s *system, where string) error {
	var dirs []string
	var suffix string
	switch where {
	case "":
		return nil
	case "log":
		dirs, suffix = s.cluster.Brokers[0].LogDirs, ".log"
	case "wal":
		for _, zone := range zones[:len(zones)-1] {
			dirs = append(dirs, s.daemon.ZoneDir(zone))
		}
	}
	name, err := largest(dirs[0], suffix)
	for _, dir := range dirs {
		if err == nil {
			err = flip(filepath.Join(dir, name))
		}
	}
	if err != nil {
		return fmt.Errorf("flip a byte: %w", err)
	}
	return nil
}

// largest finds the largest file below dir whose name ends in suffix, of the demo's topics in a broker's directory.
func largest(dir, suffix string) (name string, err error) {
	size := int64(-1)
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, suffix) {
			return err
		}
		if suffix != "" && !strings.HasPrefix(filepath.Base(filepath.Dir(path)), "demo.") {
			return nil
		}
		info, err := d.Info()
		if err == nil && info.Size() > size {
			size = info.Size()
			name, err = filepath.Rel(dir, path)
		}
		return err
	})
	if err == nil && name == "" {
		err = errors.New("nothing to flip in " + dir)
	}
	return name, err
}

func flip(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	var b [1]byte
	middle := info.Size() / 2
	if _, err := f.ReadAt(b[:], middle); err != nil {
		return err
	}
	b[0] ^= 1
	_, err = f.WriteAt(b[:], middle)
	return err
}
