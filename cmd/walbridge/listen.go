package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"os/user"
	"strconv"
	"time"

	"github.com/coreos/go-systemd/v22/activation"
	"golang.org/x/sys/unix"

	"github.com/walbridge/walbridge/cmd/walbridge/config"
	"github.com/walbridge/walbridge/server/peer"
)

// listen returns the socket that systemd opened for us, or else opens the one that is configured.
func listen(c *config.Config) (net.Listener, error) {
	passed, err := activation.Listeners()
	if err != nil {
		return nil, fmt.Errorf("socket activation: %w", err)
	}
	switch {
	case len(passed) == 1 && passed[0] != nil:
		return passed[0], nil
	case len(passed) > 0:
		for _, l := range passed {
			if l != nil {
				l.Close()
			}
		}
		return nil, fmt.Errorf("socket activation: got %d sockets, want one that listens", len(passed))
	}
	u, err := url.Parse(c.Listen)
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	if u.Scheme == "tcp" {
		l, err := net.Listen("tcp", u.Host)
		if err != nil {
			return nil, fmt.Errorf("listen: %w", err)
		}
		return l, nil
	}
	gid := -1
	if c.Socket.Group != "" {
		id, err := groupID(c.Socket.Group)
		if err != nil {
			return nil, fmt.Errorf("socket.group: %w", err)
		}
		gid = int(id)
	}
	return listenUnix(u.Path, uint32(c.Socket.Mode), gid)
}

// listenUnix listens on a socket whose mode and group (-1: as it comes) are in force before the first connection can
// be: nobody connects to a socket that is bound and does not listen.
func listenUnix(path string, mode uint32, gid int) (_ net.Listener, err error) {
	if err := removeStale(path); err != nil {
		return nil, err
	}
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", path, err)
	}
	f := os.NewFile(uintptr(fd), path)
	defer f.Close()
	if err := unix.Bind(fd, &unix.SockaddrUnix{Name: path}); err != nil {
		return nil, fmt.Errorf("listen on %s: %w", path, err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(path))
		}
	}()
	if err := os.Chmod(path, fs.FileMode(mode)); err != nil {
		return nil, fmt.Errorf("socket.mode: %w", err)
	}
	if gid >= 0 {
		if err := os.Lchown(path, -1, gid); err != nil {
			return nil, fmt.Errorf("socket.group: %w", err)
		}
	}
	if err := unix.Listen(fd, unix.SOMAXCONN); err != nil {
		return nil, fmt.Errorf("listen on %s: %w", path, err)
	}
	l, err := net.FileListener(f)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", path, err)
	}
	if u, ok := l.(*net.UnixListener); ok {
		u.SetUnlinkOnClose(true)
	}
	return l, nil
}

// removeStale removes the socket that a killed daemon left, and refuses to take it from a live one.
func removeStale(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	if info.Mode().Type() != fs.ModeSocket {
		return fmt.Errorf("listen: %s is there and is not a socket", path)
	}
	conn, err := net.DialTimeout("unix", path, time.Second)
	if err == nil {
		conn.Close()
		return fmt.Errorf("listen: another process serves %s", path)
	}
	return os.Remove(path)
}

// allowed resolves the names of those who may connect.
func allowed(s config.Socket) (a peer.Allow, err error) {
	for _, name := range s.AllowUsers {
		id, err := userID(name)
		if err != nil {
			return peer.Allow{}, fmt.Errorf("socket.allow_users: %w", err)
		}
		a.UIDs = append(a.UIDs, id)
	}
	for _, name := range s.AllowGroups {
		id, err := groupID(name)
		if err != nil {
			return peer.Allow{}, fmt.Errorf("socket.allow_groups: %w", err)
		}
		a.GIDs = append(a.GIDs, id)
	}
	return a, nil
}

func userID(name string) (uint32, error) {
	if id, err := strconv.ParseUint(name, 10, 32); err == nil {
		return uint32(id), nil
	}
	u, err := user.Lookup(name)
	if err != nil {
		return 0, err
	}
	id, err := strconv.ParseUint(u.Uid, 10, 32)
	return uint32(id), err
}

func groupID(name string) (uint32, error) {
	if id, err := strconv.ParseUint(name, 10, 32); err == nil {
		return uint32(id), nil
	}
	g, err := user.LookupGroup(name)
	if err != nil {
		return 0, err
	}
	id, err := strconv.ParseUint(g.Gid, 10, 32)
	return uint32(id), err
}
