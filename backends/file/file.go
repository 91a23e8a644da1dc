// Package file is a store in a directory of a file system: a zone's shared one (EFS, Filestore, NFS, CephFS), or a
// local disk. An object is a regular file under its own name, so cp, ls and a backup program work on a bucket.
//
// Durability. An Append is written and synced (fdatasync on Linux) before it returns; a Create syncs the new file, its
// directory and every directory above it up to the bucket's, whoever made them. The directory itself is not synced into
// the one it lies in. Bytes may be readable before they are durable, which is harmless: nobody is told of them before.
//
// Torn writes. An Append writes behind the bytes that are there and never over them, so whatever becomes of it, earlier
// Appends stay readable; this leans on the disk not losing the bytes of a sector it rewrites with the same content.
// What a crash leaves behind the last whole Append, a piece of one or zeros, is for the frame's checksums to find, and
// no extent names it.
//
// Sharing. Any number of processes may use a directory. Every ReadAt opens the file anew, which is what makes NFS look
// at the server (close-to-open consistency). Files that cannot be objects, such as those that start with a dot, are
// neither listed nor readable, and nothing leads out of the directory, not even a symbolic link (os.Root).
//
// Names. A file system knows no object a beside an object a/b, and no part of a name longer than 255 bytes.
//
// Deadlines. A system call cannot be taken back. One that outlasts its ctx goes on in its own goroutine and its result
// is dropped; their number is bounded, beyond it operations wait, until their ctx ends, for one that returns.
package file

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"math"
	"os"
	"path"

	"github.com/walbridge/walbridge/backends"
	"golang.org/x/sync/errgroup"
)

const (
	// maxAppend keeps one Append within one write call and one deadline.
	maxAppend = 1 << 30

	// maxCalls bounds the operations that are in the kernel at once, each of which may hold a thread, a Create one for
	// each directory it syncs: as many Appends, and as many of all others, so that slow reads do not stop the writes.
	maxCalls = 128

	// createAttempts bounds the races a Create may lose against Deletes that remove its directory.
	createAttempts = 100

	dirMode  = 0o750
	fileMode = 0o640
)

// Bucket is a directory. Make one with Open.
type Bucket struct {
	place *place

	appends, others slots

	// The system's ways to make a file or a directory durable, and a file's bytes and length only; tests watch and
	// break them.
	sync, datasync func(*os.File) error
}

// Open opens the directory dir, which has to exist: where a file system is not mounted, a directory made on the way
// would take its objects to another disk. A directory that is replaced later by one of the same file system is the
// bucket from then on; what was in the other one is gone.
func Open(ctx context.Context, dir string) (*Bucket, error) {
	p, err := detach(ctx, nil, func() (*place, error) { return openPlace(dir) }, func(p *place) { _ = p.close() })
	if err != nil {
		return nil, fmt.Errorf("file: open bucket: %w", err)
	}
	return &Bucket{
		place:    p,
		appends:  make(slots, maxCalls),
		others:   make(slots, maxCalls),
		sync:     fsync,
		datasync: fdatasync,
	}, nil
}

// Create implements backends.Bucket. The object exists, empty and durable, when it returns.
func (b *Bucket) Create(ctx context.Context, name string) (backends.Writer, error) {
	if err := backends.CheckName(name); err != nil {
		return nil, b.fail("create", name, err)
	}
	w, err := detach(ctx, b.others, func() (*writer, error) { return b.create(name) }, func(w *writer) { w.file.Close() })
	if err != nil {
		return nil, b.fail("create", name, err)
	}
	return w, nil
}

func (b *Bucket) create(name string) (*writer, error) {
	root, err := b.place.here()
	if err != nil {
		return nil, err
	}
	f, err := createFile(root, name)
	if err != nil {
		return nil, err
	}
	w := &writer{bucket: b, root: root, name: name, file: f}
	if w.info, err = f.Stat(); err == nil {
		err = b.syncNew(root, f, path.Dir(name))
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return w, nil
}

// createFile makes the file, and the directories above it where they are missing. A Delete, of this process or of
// another, may remove an empty directory between the two; then both are made again.
func createFile(root *os.Root, name string) (*os.File, error) {
	var err error
	for range createAttempts {
		var f *os.File
		f, err = root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
		if !errors.Is(err, fs.ErrNotExist) {
			return f, err
		}
		if err = root.MkdirAll(path.Dir(name), dirMode); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	// The name was never there, which is not what ErrNotFound would say.
	return nil, fmt.Errorf("its directory vanished %d times, at last: %v", createAttempts, err)
}

// syncNew makes a new file, the directory dir it is in, and those above that durable. It does so also where they have
// been there before: the process that made them need not have come to its own sync yet. It syncs all at once, since a
// file system gathers what is synced together into one write of its journal.
func (b *Bucket) syncNew(root *os.Root, f *os.File, dir string) error {
	var group errgroup.Group
	group.Go(func() error { return b.sync(f) })
	for d := range above(dir) {
		group.Go(func() error { return b.syncDir(root, d) })
	}
	return group.Wait()
}

func (b *Bucket) syncDir(root *os.Root, dir string) error {
	d, err := root.Open(dir)
	if err != nil {
		return err
	}
	return cmp.Or(b.sync(d), d.Close())
}

// above yields dir and the directories that lead to it, up to the bucket's own.
func above(dir string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for yield(dir) && dir != "." {
			dir = path.Dir(dir)
		}
	}
}

// Caps implements backends.Bucket.
func (b *Bucket) Caps() backends.Caps {
	return backends.Caps{Appends: math.MaxInt, MaxAppend: maxAppend}
}

// Close implements backends.Bucket. It does not wait for system calls that outlasted their ctx.
func (b *Bucket) Close() error {
	if err := b.place.close(); err != nil {
		return fmt.Errorf("file: close bucket %s: %w", b.place.path, err)
	}
	return nil
}
