package file

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"syscall"

	"github.com/walbridge/walbridge/backends"
)

// sentinels are the contract's words for what the system says.
var sentinels = []struct{ system, contract error }{
	{fs.ErrExist, backends.ErrExists},
	{fs.ErrNotExist, backends.ErrNotFound},
	{fs.ErrPermission, backends.ErrDenied},
	{syscall.EROFS, backends.ErrDenied},
	{syscall.ENAMETOOLONG, backends.ErrName}, // a part of a name may have 255 bytes only
}

// fail says what was done to which file, and adds the contract's sentinel.
func (b *Bucket) fail(op, name string, err error) error {
	where := fmt.Sprintf("file: %s %s", op, filepath.Join(b.place.path, name))
	if path, ok := err.(*fs.PathError); ok {
		err = path.Err // its path is said already
	}
	for _, s := range sentinels {
		if errors.Is(err, s.system) {
			return fmt.Errorf("%s: %w: %w", where, s.contract, err)
		}
	}
	return fmt.Errorf("%s: %w", where, err)
}

// gone tells whether there is nothing at a path, be it that a directory on the way to it is missing or is a file.
func gone(err error) bool { return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) }
