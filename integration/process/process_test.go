package process_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/walbridge/walbridge/integration/process"
)

// start runs a shell script and returns when it has printed its first line.
func start(t *testing.T, script string) *process.Process {
	t.Helper()
	log := filepath.Join(t.TempDir(), "log")
	p, err := process.Start(process.Spec{Name: "child", Path: "/bin/sh", Args: []string{"-c", script}, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	eventually(t, "it has printed a line", func() bool {
		b, _ := os.ReadFile(log)
		return len(b) > 0
	})
	return p
}

func TestDeathIsReportedWithTheEndOfTheLog(t *testing.T) {
	p := start(t, "for i in $(seq 100); do echo line $i; done; echo broken >&2; exit 3")
	err := p.Await(t.Context(), "it is ready", func(context.Context) error { return errors.New("not yet") })
	for _, want := range []string{"child ended", "exit status 3", "line 100\n    broken"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %q does not contain %q", err, want)
		}
	}
	if strings.Contains(err.Error(), "line 50\n") {
		t.Errorf("error %q has more than the end of the log", err)
	}
	if p.Ended() == nil {
		t.Error("Ended is nil after the end")
	}
}

func TestAwaitEndsWithItsContext(t *testing.T) {
	p := start(t, "echo starting; sleep 60")
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	notYet := errors.New("not yet")
	err := p.Await(ctx, "it is ready", func(context.Context) error { return notYet })
	if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, notYet) {
		t.Errorf("error = %v, want the context's and the last attempt's", err)
	}
	if p.Ended() != nil {
		t.Error("the process was ended")
	}
}

func TestStop(t *testing.T) {
	p := start(t, `trap 'exit 0' TERM; echo up; while :; do sleep 0.01; done`)
	if err := p.Stop(t.Context()); err != nil {
		t.Errorf("stop: %v", err)
	}
}

func TestStopKillsWhatDoesNotStop(t *testing.T) {
	p := start(t, `trap '' TERM; echo up; while :; do sleep 0.01; done`)
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if err := p.Stop(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error = %v, want the deadline's", err)
	}
	if p.Ended() == nil {
		t.Error("it still runs")
	}
}

func TestKillKillsTheWholeGroup(t *testing.T) {
	var out bytes.Buffer
	p, err := process.Start(process.Spec{
		Name: "child", Path: "/bin/sh", Args: []string{"-c", "sleep 60 & wait"},
		Log: filepath.Join(t.TempDir(), "log"), Stdout: &out,
	})
	if err != nil {
		t.Fatal(err)
	}
	// It returns at the end of the output, which the grandchild holds open.
	killed := make(chan struct{})
	go func() {
		p.Kill()
		close(killed)
	}()
	select {
	case <-killed:
	case <-time.After(10 * time.Second):
		t.Error("the grandchild still runs")
	}
}

// The child of a process that is killed is killed too. This test starts itself to be that process.
func TestNoChildOutlivesUs(t *testing.T) {
	const role = "WALBRIDGE_PROCESS_TEST_LOG"
	if log := os.Getenv(role); log != "" {
		_, _ = process.Start(process.Spec{
			Name: "child", Path: "/bin/sh", Args: []string{"-c", "echo $$; exec sleep 60"}, Log: log,
		})
		select {}
	}
	log := filepath.Join(t.TempDir(), "log")
	parent := exec.Command(os.Args[0], "-test.run", "^"+t.Name()+"$")
	parent.Env = append(os.Environ(), role+"="+log)
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	var child int
	eventually(t, "the child runs", func() bool {
		b, _ := os.ReadFile(log)
		child, _ = strconv.Atoi(strings.TrimSpace(string(b)))
		return child != 0
	})
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait()
	eventually(t, "the child is gone", func() bool { return gone(child) })
}

// gone reports whether a process has ended; an orphan may be left a zombie by an init that does not wait.
func gone(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err != nil || strings.Contains(string(stat), ") Z ")
}

func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	timeout := time.After(10 * time.Second)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !is() {
		select {
		case <-tick.C:
		case <-timeout:
			t.Fatalf("waited 10 seconds until %s", what)
		}
	}
}
