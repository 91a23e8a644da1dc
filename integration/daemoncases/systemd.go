package daemoncases

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/walbridge/walbridge/integration/artifact"
	"github.com/walbridge/walbridge/integration/process"
)

// systemdNotify: the daemon tells systemd that it is ready, alive, reloading and stopping; and when it hangs, it does not
// say that it is alive.
func systemdNotify(ctx context.Context, r *rig) error {
	systemd, err := listenForNotifications(r.path("notify"))
	if err != nil {
		return err
	}
	defer systemd.Close()
	p, err := r.start(ctx, r.configuration(""), systemd.env(watchdogPeriod)...)
	if err != nil {
		return err
	}
	steps := []struct {
		signal syscall.Signal
		want   []string
	}{
		{0, []string{"READY=1", "WATCHDOG=1", "WATCHDOG=1"}},
		{syscall.SIGHUP, []string{"RELOADING=1\nMONOTONIC_USEC=", "READY=1"}},
	}
	for _, s := range steps {
		if err := syscall.Kill(p.PID(), s.signal); err != nil {
			return err
		}
		for _, want := range s.want {
			if err := systemd.await(want, patience); err != nil {
				return err
			}
		}
	}
	if err := syscall.Kill(p.PID(), syscall.SIGSTOP); err != nil {
		return err
	}
	// What was sent before the stop may still be there.
	for systemd.await("WATCHDOG=1", 100*time.Millisecond) == nil {
	}
	if err := systemd.await("WATCHDOG=1", 2*watchdogPeriod); err == nil {
		return errors.New("a stopped process gives signs of life")
	}
	if err := syscall.Kill(p.PID(), syscall.SIGCONT); err != nil {
		return err
	}
	stopped := make(chan error, 1)
	go func() { stopped <- systemd.await("STOPPING=1", patience) }()
	if err := p.Stop(ctx); err != nil {
		return err
	}
	return <-stopped
}

// systemdActivation: the first connection to systemd's socket starts the daemon, which serves it there.
func systemdActivation(ctx context.Context, r *rig) error {
	path, err := exec.LookPath("systemd-socket-activate")
	if err != nil {
		return fmt.Errorf("%w: %w", ErrSkipped, err)
	}
	// What the configuration says is not used, as its folder is not even there.
	if err := r.configure(strings.Replace(r.configuration(""), r.target(), "unix:///nonexistent/w.sock", 1)); err != nil {
		return err
	}
	p, err := process.Start(process.Spec{
		Name: "systemd-socket-activate", Path: path, Log: r.log(),
		Args: []string{"--listen=" + r.socket(), r.binary, "serve", "--config", r.path("w.yaml")},
	})
	if err != nil {
		return err
	}
	r.running = append(r.running, p)
	err = p.Await(ctx, "the socket is there", func(context.Context) error {
		_, err := os.Stat(r.socket())
		return err
	})
	if err != nil {
		return err
	}
	if err := r.expect(ctx, 0, []string{"status", "--target", r.target(), "--timeout", "30s"}, "broker 1 of cluster cluster"); err != nil {
		return err
	}
	if err := p.Stop(ctx); err != nil {
		return err
	}
	if _, err := os.Stat(r.socket()); err != nil {
		return fmt.Errorf("the daemon removed systemd's socket: %w", err)
	}
	return nil
}

// systemdUnits: systemd finds nothing wrong in the units, and little that is exposed.
func systemdUnits(ctx context.Context, r *rig) error {
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		return fmt.Errorf("%w: %w", ErrSkipped, err)
	}
	root, err := artifact.Root()
	if err != nil {
		return err
	}
	var units []string
	for _, name := range []string{"walbridge.service", "walbridge.socket"} {
		b, err := os.ReadFile(filepath.Join(root, "deploy", "systemd", name))
		if err != nil {
			return err
		}
		// Neither the binary nor its manual are installed here.
		text := strings.ReplaceAll(string(b), "/usr/bin/walbridge", r.binary)
		text = strings.ReplaceAll(text, "man:walbridge(1)", "")
		if err := os.WriteFile(r.path(name), []byte(text), 0o644); err != nil {
			return err
		}
		units = append(units, r.path(name))
	}
	out, err := exec.CommandContext(ctx, analyze, append([]string{"verify"}, units...)...).CombinedOutput()
	if err != nil || len(out) > 0 {
		return fmt.Errorf("systemd-analyze verify: %v: %s", err, out)
	}
	// The threshold is in tenths.
	out, err = exec.CommandContext(ctx, analyze, "security", "--offline=true", "--threshold=20", "--no-pager", units[0]).CombinedOutput()
	if err != nil {
		return fmt.Errorf("systemd-analyze security: exposure above 2.0: %w: %s", err, out)
	}
	return nil
}
