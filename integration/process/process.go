// Package process runs the children of an integration: each in its own process group, with its output in a file, and
// never outliving the one that started it.
package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// Spec says what to run.
type Spec struct {
	// Name is what errors call the process.
	Name string
	Path string
	Args []string
	// Env is added to our own environment.
	Env []string
	// Log is the file that standard output and standard error are appended to.
	Log string
	// Stdout, if set, gets the standard output instead.
	Stdout io.Writer
}

// Process is a child that was started. All methods are safe for concurrent use.
type Process struct {
	spec    Spec
	cmd     *exec.Cmd
	exited  chan struct{}
	waitErr error
}

// Start starts the process. Where the system is Linux, it is killed when we die, however we die.
func Start(spec Spec) (*Process, error) {
	log, err := os.OpenFile(spec.Log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, fmt.Errorf("%s: log: %w", spec.Name, err)
	}
	defer log.Close()
	cmd := exec.Command(spec.Path, spec.Args...)
	cmd.Env = append(os.Environ(), spec.Env...)
	cmd.Stdout, cmd.Stderr = log, log
	if spec.Stdout != nil {
		cmd.Stdout = spec.Stdout
	}
	cmd.SysProcAttr = attr()
	p := &Process{spec: spec, cmd: cmd, exited: make(chan struct{})}
	started := make(chan error)
	go p.run(started)
	if err := <-started; err != nil {
		return nil, fmt.Errorf("%s: start: %w", spec.Name, err)
	}
	return p, nil
}

// run starts the child and waits for it on one thread: Pdeathsig fires when the thread that forked ends.
func (p *Process) run(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := p.cmd.Start()
	started <- err
	if err != nil {
		return
	}
	p.waitErr = p.cmd.Wait()
	close(p.exited)
}

// Exited is closed when the process has ended.
func (p *Process) Exited() <-chan struct{} { return p.exited }

// Ended is nil while the process runs; afterwards it says how it ended and what it logged last.
func (p *Process) Ended() error {
	select {
	case <-p.exited:
		return p.died()
	default:
		return nil
	}
}

// PID is the process's id.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Wait waits until the process ends. An exit status other than 0 is an error that carries the end of the log; when ctx
// ends first, the process is killed.
func (p *Process) Wait(ctx context.Context) error {
	select {
	case <-p.exited:
		if p.waitErr != nil {
			return p.died()
		}
		return nil
	case <-ctx.Done():
		p.Kill()
		return fmt.Errorf("%s: %w", p.spec.Name, context.Cause(ctx))
	}
}

// Await calls ready until it returns nil. It fails as soon as the process ends or ctx does; each call of ready gets at
// most a second.
func (p *Process) Await(ctx context.Context, what string, ready func(context.Context) error) error {
	for {
		attempt, cancel := context.WithTimeout(ctx, time.Second)
		err := ready(attempt)
		cancel()
		if err == nil {
			return nil
		}
		select {
		case <-p.exited:
			return fmt.Errorf("wait until %s: %w", what, p.died())
		case <-ctx.Done():
			return fmt.Errorf("%s: wait until %s: %w, last: %w\n%s",
				p.spec.Name, what, context.Cause(ctx), err, tail(p.spec.Log))
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// Stop sends SIGTERM and waits until the process has ended, which must be with status 0 or, as a JVM does it, by the
// signal's own status. When ctx ends first, the process is killed and Stop fails.
func (p *Process) Stop(ctx context.Context) error {
	if err := p.signal(syscall.SIGTERM); err != nil {
		return p.died()
	}
	err := p.Wait(ctx)
	if p.cmd.ProcessState != nil && p.cmd.ProcessState.ExitCode() == 128+int(syscall.SIGTERM) {
		return nil
	}
	return err
}

// Kill sends SIGKILL to the process and all that it started, and waits until it has ended.
func (p *Process) Kill() {
	_ = p.signal(syscall.SIGKILL) // an error means that it has ended already
	<-p.exited
}

// Pause stops the process, and all that it started, where it stands, until Resume.
func (p *Process) Pause() error { return p.signalled(syscall.SIGSTOP) }

// Resume lets a paused process go on.
func (p *Process) Resume() error { return p.signalled(syscall.SIGCONT) }

func (p *Process) signalled(sig syscall.Signal) error {
	if err := p.signal(sig); err != nil {
		return fmt.Errorf("%s: %v: %w", p.spec.Name, sig, err)
	}
	return nil
}

// signal signals the group. It fails where the process was waited for, whose id may be another's by now.
func (p *Process) signal(sig syscall.Signal) error {
	select {
	case <-p.exited:
		return os.ErrProcessDone
	default:
		return syscall.Kill(-p.cmd.Process.Pid, sig)
	}
}

// died says how the process ended and what it logged last.
func (p *Process) died() error {
	err := p.waitErr
	if err == nil {
		err = errors.New("exit status 0")
	}
	return fmt.Errorf("%s ended: %w; the end of %s:\n%s", p.spec.Name, err, p.spec.Log, tail(p.spec.Log))
}
