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
	"strings"
	"syscall"
	"time"

	"github.com/walbridge/walbridge/integration/artifact"
	"github.com/walbridge/walbridge/integration/process"
)

// gcsZones is the fake of Cloud Storage, in a process of its own, with a zonal bucket for each zone.
type gcsZones struct{ process *process.Process }

// startGCS starts the fake and has the daemon, which does not run yet, use it: its zones' URLs are changed from
// directories to buckets, and its environment, which is ours, tells the SDK where the service is.
func startGCS(ctx context.Context, dir string) (*gcsZones, error) {
	root, err := artifact.Root()
	if err != nil {
		return nil, err
	}
	binary := filepath.Join(dir, "gcsfake")
	build := exec.CommandContext(ctx, "go", "build", "-o", binary, "./backends/gcs/gcstest/gcsfake")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build the fake of Cloud Storage: %w\n%s", err, out)
	}
	stdout, address := io.Pipe()
	p, err := process.Start(process.Spec{
		Name: "gcsfake", Path: binary, Log: filepath.Join(dir, "gcsfake.log"), Stdout: address,
		Args: []string{"-zonal", strings.Join(zones, ",")},
	})
	if err != nil {
		return nil, err
	}
	z := &gcsZones{p}
	if err := z.use(ctx, dir, stdout); err != nil {
		p.Kill()
		return nil, err
	}
	return z, nil
}

// use waits for the fake's address and puts it to use.
func (z *gcsZones) use(ctx context.Context, dir string, stdout *io.PipeReader) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	defer context.AfterFunc(ctx, func() { _ = stdout.CloseWithError(ctx.Err()) })()
	address, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		return fmt.Errorf("address of the fake of Cloud Storage: %w", errors.Join(err, z.process.Ended()))
	}
	if err := os.Setenv("STORAGE_EMULATOR_HOST_GRPC", strings.TrimSpace(address)); err != nil {
		return err
	}
	path := filepath.Join(dir, "walbridge.yaml")
	config, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	buckets := strings.ReplaceAll(string(config), "file://"+dir+"/", "gs://")
	return os.WriteFile(path, []byte(buckets), 0o644)
}

// loseLast has the fake lose the last zone's bucket.
func (z *gcsZones) loseLast() error {
	if err := syscall.Kill(z.process.PID(), syscall.SIGUSR1); err != nil {
		return fmt.Errorf("lose the bucket of %s: %w", zones[len(zones)-1], err)
	}
	return nil
}
