package daemoncases

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/walbridge/walbridge/integration/hostile"
	"github.com/walbridge/walbridge/integration/process"
)

// watchdog: while lanes hang systemd gets no sign of life, although the process lives, and gets them again when they go
// on. What they hang in is the log: nobody reads the pipe that standard error is, and a zone is lost that they would
// tell of.
func watchdog(ctx context.Context, r *rig) error {
	log := r.path("stderr")
	if err := syscall.Mkfifo(log, 0o600); err != nil {
		return err
	}
	reader, err := os.OpenFile(log, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer reader.Close()
	systemd, err := listenForNotifications(r.path("notify"))
	if err != nil {
		return err
	}
	defer systemd.Close()
	if err := r.configure(r.configuration("timeouts: {zone: 500ms, copy: 1s}\ncombine: {appends: 1}\n")); err != nil {
		return err
	}
	p, err := process.Start(process.Spec{
		Name: "walbridge", Path: "/bin/sh", Log: r.log(),
		Args: []string{"-c", `exec "$0" "$@" 2>"$STDERR"`, r.binary, "serve", "--config", r.path("w.yaml")},
		Env:  append(systemd.env(watchdogPeriod), "STDERR="+log),
	})
	if err != nil {
		return err
	}
	r.running = append(r.running, p)
	if err := systemd.await("READY=1", patience); err != nil {
		return err
	}
	if err := fill(log); err != nil {
		return err
	}
	for range 3 { // Idle lanes do not hang.
		if err := systemd.await("WATCHDOG=1", patience); err != nil {
			return err
		}
	}
	stop := copyOnAndOn(ctx, r.target())
	defer stop()
	if err := os.RemoveAll(r.path("zone-c")); err != nil {
		return err
	}
	for began := time.Now(); systemd.await("WATCHDOG=1", 5*watchdogPeriod) == nil; {
		if time.Since(began) > patience {
			return errors.New("a daemon whose lanes hang gives signs of life")
		}
	}
	if err := p.Ended(); err != nil {
		return err
	}
	said := make(chan string, 1)
	go func() {
		b, _ := io.ReadAll(reader)
		said <- string(b)
	}()
	if err := systemd.await("WATCHDOG=1", patience); err != nil {
		return fmt.Errorf("the lanes go on: %w", err)
	}
	if err := p.Stop(ctx); err != nil {
		return err
	}
	return contains(strings.Trim(<-said, "\x00"), "zone is down", "a lane is stuck; no more signs of life")
}

// fill fills a pipe.
func fill(path string) error {
	fd, err := syscall.Open(path, syscall.O_WRONLY|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer syscall.Close(fd)
	for n := 4096; n > 0; {
		switch _, err := syscall.Write(fd, make([]byte, n)); {
		case errors.Is(err, syscall.EAGAIN):
			n /= 2
		case err != nil && !errors.Is(err, syscall.EINTR):
			return err
		}
	}
	return nil
}

// copyOnAndOn sends copies, whatever comes of them, until stop is called.
func copyOnAndOn(ctx context.Context, target string) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var all sync.WaitGroup
	all.Go(func() {
		conn, err := grpc.NewClient(target, grpc.WithTransportCredentials(insecure.NewCredentials()))
		if err != nil {
			return
		}
		defer conn.Close()
		for ctx.Err() == nil {
			_ = hostile.HonestCopy(ctx, conn, "cluster", 1, make([]byte, 1000))
		}
	})
	return func() {
		cancel()
		all.Wait()
	}
}
