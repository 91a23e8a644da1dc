package file

import (
	"os"
	"syscall"
)

// fdatasync makes a file's bytes and length durable, and not the time of its change.
func fdatasync(f *os.File) error {
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var err2 error
	err = conn.Control(func(fd uintptr) {
		for {
			if err2 = syscall.Fdatasync(int(fd)); err2 != syscall.EINTR {
				return
			}
		}
	})
	if err != nil {
		return err
	}
	return err2
}
