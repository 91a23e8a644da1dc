package peer

import (
	"fmt"
	"net"

	"golang.org/x/sys/unix"
)

// local asks the kernel, which noted it when the peer connected (unix(7), SO_PEERCRED).
func local(c *net.UnixConn) (Peer, error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return Peer{}, err
	}
	var cred *unix.Ucred
	var credErr error
	if err := raw.Control(func(fd uintptr) {
		cred, credErr = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	}); err != nil {
		return Peer{}, err
	}
	if credErr != nil {
		return Peer{}, fmt.Errorf("%w: %w", errUnknown, credErr)
	}
	return Peer{Name: fmt.Sprintf("uid %d", cred.Uid), UID: cred.Uid, GID: cred.Gid, PID: cred.Pid, Local: true}, nil
}
