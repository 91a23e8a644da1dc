//go:build !unix

package file

import (
	"errors"
	"os"
)

// fsync makes a file durable; a directory cannot be synced here.
func fsync(f *os.File) error {
	if info, err := f.Stat(); err != nil || info.IsDir() {
		return err
	}
	return f.Sync()
}

// sameDevice tells whether two files are on one file system; here nobody knows.
func sameDevice(_, _ os.FileInfo) bool { return true }

// unlink removes the file name.
func unlink(root *os.Root, _ *os.File, name string) error {
	info, err := root.Lstat(name)
	if err != nil || info.IsDir() {
		return err
	}
	return root.Remove(name)
}

// rmdir leaves the directory: there is no call here that removes a directory and never a file.
func rmdir(*os.File, string) error { return errors.ErrUnsupported }
