package integration_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/walbridge/walbridge/integration/artifact"
)

// buildDemo builds the demo, once for all tests.
var buildDemo = sync.OnceValues(func() (string, error) {
	root, err := artifact.Root()
	if err != nil {
		return "", err
	}
	path := filepath.Join(root, "bin", "demo")
	if out, err := exec.Command("go", "build", "-o", path, "./demo").CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the demo: %w\n%s", err, out)
	}
	return path, nil
})

// run is what a demo printed last, and its exit status.
type run struct {
	lastLine string
	status   int
	output   string
}

// runDemo runs the demo. interruptAt, if set, is what the output contains when it gets a SIGINT.
func runDemo(t *testing.T, interruptAt string, args ...string) run {
	t.Helper()
	if testing.Short() {
		t.Skip("runs a real broker")
	}
	path, err := buildDemo()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, args...)
	out := &watched{until: interruptAt, then: func() { _ = cmd.Process.Signal(os.Interrupt) }}
	cmd.Stdout, cmd.Stderr = out, out
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	output := out.all.String()
	t.Log(output)
	lines := strings.Split(strings.TrimSuffix(output, "\n"), "\n")
	return run{lastLine: lines[len(lines)-1], status: cmd.ProcessState.ExitCode(), output: output}
}

// watched collects an output and calls then once it contains until.
type watched struct {
	all   bytes.Buffer
	until string
	then  func()
}

func (w *watched) Write(p []byte) (int, error) {
	w.all.Write(p)
	if w.until != "" && bytes.Contains(w.all.Bytes(), []byte(w.until)) {
		w.until = ""
		w.then()
	}
	return len(p), nil
}

func (r run) check(t *testing.T, status int, lastLine string) {
	t.Helper()
	if r.status != status {
		t.Errorf("exit status %d, want %d", r.status, status)
	}
	if !regexp.MustCompile("^" + lastLine + "$").MatchString(r.lastLine) {
		t.Errorf("last line %q, want %q", r.lastLine, lastLine)
	}
}

// theDemo is the demo as `make demo` runs it, once for all tests; it leaves .cache/demo.
var theDemo struct {
	sync.Once
	run
}

func runTheDemo(t *testing.T) run {
	t.Helper()
	if testing.Short() {
		t.Skip("runs a real broker")
	}
	theDemo.Do(func() { theDemo.run = runDemo(t, "") })
	return theDemo.run
}

func TestDemo(t *testing.T) {
	runTheDemo(t).check(t, 0, `demo: ok partitions=12 records=200000 objects=\d+ bytes=\d{8,} zones=2/3`)
}

// The daemon is killed in the middle of the load: the broker takes every record, and all of them are stored.
func TestDemoKillDaemon(t *testing.T) {
	r := runDemo(t, "", "--work-dir", socketDir(t), "--records", "100000", "--kill-daemon")
	r.check(t, 0, `demo: ok partitions=12 records=100000 objects=\d+ bytes=\d+ zones=2/3`)
	if !strings.Contains(r.output, "killed the daemon after") {
		t.Error("the daemon was not killed")
	}
}

// One wrong byte, stored or in the broker's log, makes the demo fail and name the place.
func TestDemoFindsAWrongByte(t *testing.T) {
	for where, reason := range map[string]string{
		"wal": `.*checksum mismatch.*`, // By then the lost zone may say that it has no such object, or nothing.
		"log": `demo\.[a-z]+-\d+: .*`,
	} {
		t.Run(where, func(t *testing.T) {
			r := runDemo(t, "", "--work-dir", socketDir(t), "--records", "20000", "--wrong-byte", where)
			r.check(t, 1, "demo: failed: "+reason)
		})
	}
}

// Ctrl-C ends the demo, and everything that it has started.
func TestDemoInterrupted(t *testing.T) {
	dir := socketDir(t)
	r := runDemo(t, "lost zone-c", "--work-dir", dir)
	r.check(t, 1, "demo: failed: interrupted")
	commands, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, command := range commands {
		// One that is gone by now is no error.
		if line, _ := os.ReadFile(command); bytes.Contains(line, []byte(dir)) {
			t.Errorf("%s still runs", bytes.ReplaceAll(line, []byte{0}, []byte(" ")))
		}
	}
}

// What is missing is named, with the command that brings it, before anything starts.
func TestDemoNamesWhatIsMissing(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the demo")
	}
	if _, err := buildDemo(); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", t.TempDir())
	r := runDemo(t, "", "--work-dir", t.TempDir())
	r.check(t, 1, "demo: failed: java is missing; run: apt-get install .*")
}

// A directory with somebody else's files is not emptied.
func TestDemoKeepsOffAForeignDirectory(t *testing.T) {
	dir := t.TempDir()
	precious := filepath.Join(dir, "precious")
	if err := os.WriteFile(precious, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	runDemo(t, "", "--work-dir", dir).check(t, 1, "demo: failed: work directory: .* is not empty.*")
	if _, err := os.Stat(precious); err != nil {
		t.Error(err)
	}
}
