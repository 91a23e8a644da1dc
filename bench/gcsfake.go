package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
)

// gcsBucket is the fake's zonal bucket.
const gcsBucket = "bench"

// gcsFake is the fake of Cloud Storage in a process of its own, so that its work is not counted as the client's.
type gcsFake struct {
	address string
	child   *exec.Cmd
	stdin   io.Closer
	dir     string
}

// startGCSFake builds and starts the fake, with the latencies of the service that the blog measured. It keeps no bytes.
func startGCSFake(ctx context.Context) (*gcsFake, error) {
	dir, err := os.MkdirTemp("", "walbridge-bench-")
	if err != nil {
		return nil, err
	}
	f := &gcsFake{dir: dir}
	if err := f.start(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("fake of Cloud Storage: %w", err), os.RemoveAll(dir))
	}
	return f, nil
}

func (f *gcsFake) start(ctx context.Context) error {
	path := filepath.Join(f.dir, "gcsfake")
	build := exec.CommandContext(ctx, "go", "build", "-o", path, "./backends/gcs/gcstest/gcsfake")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build: %w\n%s", err, out)
	}
	f.child = exec.CommandContext(ctx, path, "-zonal", gcsBucket, "-until-eof", "-discard",
		"-create", "40ms", "-finalize", "40ms", "-append", "1ms", "-close", "5ms")
	f.child.Stderr = os.Stderr
	stdin, err := f.child.StdinPipe()
	if err != nil {
		return err
	}
	stdout, err := f.child.StdoutPipe()
	if err != nil {
		return err
	}
	if err := f.child.Start(); err != nil {
		return err
	}
	f.stdin = stdin
	lines := bufio.NewScanner(stdout)
	if !lines.Scan() {
		return errors.Join(errors.New("it did not start"), f.child.Wait())
	}
	f.address = lines.Text()
	return nil
}

func (f *gcsFake) stop() error {
	return errors.Join(f.stdin.Close(), f.child.Wait(), os.RemoveAll(f.dir))
}
