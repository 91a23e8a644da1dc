package main

import (
	"errors"
	"io/fs"
	"net/url"
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// fewFiles is what a daemon's connections, pre-warmed writers and zones come to at the default limits.
const fewFiles = 4096

// host looks at what the daemon needs of the machine.
func (e *examination) host() {
	if me, err := user.Current(); err == nil {
		e.fine("user", "checking as %s (uid %s, gid %s)", me.Username, me.Uid, me.Gid)
		if me.Uid == "0" {
			e.warn("user", "run it as the daemon's user: runuser -u walbridge -- walbridge doctor",
				"root may do what the daemon's user may not")
		}
	}
	var clock unix.Timex
	switch state, err := unix.Adjtimex(&clock); {
	case err != nil:
		e.warn("clock", "see that the host's clock is kept by NTP", "the kernel does not tell its state: %v", err)
	case state == unix.TIME_ERROR || clock.Status&unix.STA_UNSYNC != 0:
		e.warn("clock", "start chrony or systemd-timesyncd: object names carry the time, and stores refuse requests that "+
			"are minutes off", "nothing keeps the clock: the kernel says that it is not synchronized")
	default:
		e.fine("clock", "synchronized, off by at most %d ms", clock.Maxerror/1000)
	}
	var files unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &files); err == nil {
		if files.Max < fewFiles {
			e.warn("open files", "set LimitNOFILE=65536 in the unit, or ulimit -n", "the limit is %d", files.Max)
		} else {
			e.fine("open files", "the limit is %d", files.Max)
		}
	}
}

// access looks at the socket's folder and at the names in the configuration.
func (e *examination) access() {
	if _, err := allowed(e.config.Socket); err != nil {
		e.wrong("socket", "create the user or group, or correct the name", "%v", err)
	}
	if e.config.Socket.Group != "" {
		if _, err := groupID(e.config.Socket.Group); err != nil {
			e.wrong("socket", "create the group, or correct socket.group", "%v", err)
		}
	}
	if e.config.TLS.Enabled() {
		e.certificates()
	}
	u, err := url.Parse(e.config.Listen)
	if err != nil || u.Scheme != "unix" {
		return
	}
	switch info, err := os.Stat(u.Path); {
	case err == nil && info.Mode().Type() != fs.ModeSocket:
		e.wrong("socket", "remove it, or change listen", "%s is there and is not a socket", u.Path)
	case err == nil && info.Mode().Perm()&0o007 != 0:
		e.wrong("socket", "restart the daemon, or correct SocketMode= in walbridge.socket",
			"%s is open to everyone: mode %04o", u.Path, info.Mode().Perm())
	case err == nil:
		e.fine("socket", "%s, mode %04o", u.Path, info.Mode().Perm())
	case errors.Is(err, fs.ErrNotExist):
		if _, err := os.Stat(filepath.Dir(u.Path)); err != nil {
			e.wrong("socket", "start it by systemd, which makes the folder, or make it", "its folder: %v", err)
		}
	default:
		e.wrong("socket", "let the daemon's user into the folder", "%v", err)
	}
}

// soon is how long before the end of the daemon's certificate the doctor says so.
const soon = 14 * 24 * time.Hour

// certificates looks at the files that a TCP listener needs.
func (e *examination) certificates() {
	c, err := loadCertificates(e.config.TLS)
	if err != nil {
		e.wrong("certificates", "put PEM files that belong together there, readable by the daemon's user", "%v", err)
		return
	}
	end := c.current.Load().Certificates[0].Leaf.NotAfter
	const renew = "put a new one there and reload the daemon"
	switch left := time.Until(end).Round(time.Minute); {
	case left <= 0:
		e.wrong("certificates", renew, "%s is over since %s", e.config.TLS.Certificate, end.Format(time.RFC3339))
	case left < soon:
		e.warn("certificates", renew, "%s ends in %v, at %s", e.config.TLS.Certificate, left, end.Format(time.RFC3339))
	default:
		e.fine("certificates", "certificate, key and client_ca can be used until %s", end.Format(time.RFC3339))
	}
}

// disk looks at the file system of a zone in files.
func (e *examination) disk(zone, dir string) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return // The zone's own check says more.
	}
	free := uint64(s.Bavail) * uint64(s.Bsize)
	percent := 100 * float64(s.Bavail) / max(float64(s.Blocks), 1)
	do := "make room: copies fail in this zone when it is full"
	switch {
	case percent < 3:
		e.wrong("zone "+zone, do, "%s: %.1f %% free, %d MiB", dir, percent, free>>20)
	case percent < 10:
		e.warn("zone "+zone, do, "%s: %.1f %% free, %d MiB", dir, percent, free>>20)
	default:
		e.fine("zone "+zone, "%s: %.0f %% free, %d MiB", dir, percent, free>>20)
	}
	if s.Files > 0 && s.Ffree < s.Files/20 {
		e.warn("zone "+zone, "make room: every object is a file", "%s: %d of %d inodes free", dir, s.Ffree, s.Files)
	}
}

// oneDisk warns of two zones that fail together.
func (e *examination) oneDisk() {
	zones := map[uint64][]string{}
	for _, z := range e.config.Zones {
		u, err := url.Parse(z.URL)
		var s unix.Stat_t
		if err == nil && u.Scheme == "file" && unix.Stat(u.Path, &s) == nil {
			zones[uint64(s.Dev)] = append(zones[uint64(s.Dev)], z.Name)
		}
	}
	for _, names := range zones {
		if len(names) > 1 {
			e.warn("zones", "put them on file systems that fail apart, each in its own zone",
				"%s are on one file system: what takes one takes all", strings.Join(names, ", "))
		}
	}
}
