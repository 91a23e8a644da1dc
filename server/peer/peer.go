// Package peer decides who may connect to the daemon, and how often: the kernel says which user's process is at the other
// end of a unix socket, and no peer gets so many connections that another gets none.
package peer

import (
	"errors"
	"fmt"
	"net"
	"slices"
)

// Peer is who is at the other end of a connection.
type Peer struct {
	// Name tells peers apart and names them in logs: "uid 1000", or a host's address.
	Name string
	// UID, GID and PID are those of the process on a unix socket. Local tells whether they are known.
	UID, GID uint32
	PID      int32
	Local    bool
}

// Allow says who may connect by a unix socket. The zero value lets everyone in whom the socket's file mode does.
type Allow struct {
	UIDs, GIDs []uint32
}

// permits tells whether p may connect. Root and the daemon's own user (self) may always: they could anyway.
func (a Allow) permits(p Peer, self uint32) bool {
	if !p.Local || len(a.UIDs)+len(a.GIDs) == 0 || p.UID == 0 || p.UID == self {
		return true
	}
	return slices.Contains(a.UIDs, p.UID) || slices.Contains(a.GIDs, p.GID)
}

var errUnknown = errors.New("the kernel does not say who it is")

// of returns the peer of c.
func of(c net.Conn) (Peer, error) {
	if u, ok := c.(*net.UnixConn); ok {
		return local(u)
	}
	host, _, err := net.SplitHostPort(c.RemoteAddr().String())
	if err != nil {
		return Peer{}, fmt.Errorf("peer %v: %w", c.RemoteAddr(), err)
	}
	return Peer{Name: host}, nil
}
