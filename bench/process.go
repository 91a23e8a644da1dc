package main

import (
	"bufio"
	"context"
	"encoding/json"
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

// daemonArg and daemonSettings make this program a daemon over discarding zones.
const daemonArg = "daemon"

// daemonSettings are whose daemon it is, how long its zones take, how long its copies linger, and whether it prints
// the lags of probes.
type daemonSettings struct {
	Cluster                string
	Create, Append, Linger time.Duration
	Lags                   bool
}

// daemonProcess is a daemon in a process of its own: its memory is its own, and it shares no scheduler with its client.
type daemonProcess struct {
	*stack
	process *exec.Cmd
	stdin   io.Closer
	// stdout is what it prints after its start.
	stdout *bufio.Scanner
}

func startDaemon(ctx context.Context, settings daemonSettings) (*daemonProcess, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	arg, err := json.Marshal(settings)
	if err != nil {
		return nil, err
	}
	child := exec.CommandContext(ctx, self, daemonArg, string(arg))
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
	return &daemonProcess{stack: s, process: child, stdin: stdin, stdout: lines}, nil
}

func (d *daemonProcess) stop() error {
	return errors.Join(d.conn.Close(), d.stdin.Close(), d.process.Wait())
}

// daemonMain serves until its input ends, and prints its socket's path when it is ready.
func daemonMain(arg string) error {
	var settings daemonSettings
	if err := json.Unmarshal([]byte(arg), &settings); err != nil {
		return err
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
	zones := threeZones(settings.Create, settings.Append)
	if settings.Lags {
		printLags(zones, os.Stdout)
	}
	return daemon.Run(ctx, l, daemonOptions(settings.Cluster, zones, settings.Linger, func() { fmt.Println(path) }))
}
