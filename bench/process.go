package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/walbridge/walbridge/server/daemon"
)

// daemonArg and three durations make this program a daemon over discarding zones.
const daemonArg = "daemon"

// daemonTimes are how long a daemon's zones take, and how long its copies linger.
type daemonTimes struct{ create, append, linger time.Duration }

// daemonProcess is a daemon in a process of its own: its memory is its own, and it shares no scheduler with its client.
type daemonProcess struct {
	*stack
	process *exec.Cmd
	stdin   io.Closer
}

func startDaemon(ctx context.Context, t daemonTimes) (*daemonProcess, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	child := exec.CommandContext(ctx, self, daemonArg, t.create.String(), t.append.String(), t.linger.String())
	child.Stderr = os.Stderr
	stdin, err := child.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := child.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := child.Start(); err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(stdout)
	if !lines.Scan() {
		return nil, errors.Join(errors.New("the daemon did not start"), child.Wait())
	}
	s, err := dialStack(lines.Text())
	if err != nil {
		return nil, err
	}
	return &daemonProcess{stack: s, process: child, stdin: stdin}, nil
}

func (d *daemonProcess) stop() error {
	return errors.Join(d.conn.Close(), d.stdin.Close(), d.process.Wait())
}

// daemonMain serves until its input ends, and prints its socket's path when it is ready.
func daemonMain(args []string) error {
	var d [3]time.Duration
	for i := range d {
		var err error
		if d[i], err = time.ParseDuration(args[i]); err != nil {
			return err
		}
	}
	dir, err := os.MkdirTemp("", "walbridge-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "sock")
	l, err := net.Listen("unix", path)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	return daemon.Run(ctx, l, daemonOptions(clusterID, threeZones(d[0], d[1]), d[2], func() { fmt.Println(path) }))
}
