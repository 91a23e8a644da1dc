//go:build unix

package file

import (
	"os"
	"path"
	"syscall"

	"golang.org/x/sys/unix"
)

// fsync makes a file or a directory durable.
func fsync(f *os.File) error { return f.Sync() }

// sameDevice tells whether two files are on one file system.
func sameDevice(a, b os.FileInfo) bool {
	x, ok := a.Sys().(*syscall.Stat_t)
	y, ok2 := b.Sys().(*syscall.Stat_t)
	return ok && ok2 && x.Dev == y.Dev
}

// unlink removes the file name, which lies in dir, and nothing but a file.
func unlink(_ *os.Root, dir *os.File, name string) error { return unlinkat(dir, name, 0) }

// rmdir removes the directory name, which lies in dir, and only while it is empty.
func rmdir(dir *os.File, name string) error { return unlinkat(dir, name, unix.AT_REMOVEDIR) }

func unlinkat(dir *os.File, name string, flags int) error {
	conn, err := dir.SyscallConn()
	if err != nil {
		return err
	}
	var err2 error
	err = conn.Control(func(fd uintptr) {
		for {
			if err2 = unix.Unlinkat(int(fd), path.Base(name), flags); err2 != unix.EINTR {
				return
			}
		}
	})
	if err != nil {
		return err
	}
	return err2
}
