// Package daemoncases are what an operator relies on in the built daemon, each a case that ends with nil or with what is
// wrong: how it takes its configuration, how it lives under systemd, whom it lets in, and what it tells.
package daemoncases

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/walbridge/walbridge/integration/process"
)

// Case is one thing that must hold.
type Case struct {
	Name string
	run  func(context.Context, *rig) error
}

// ErrSkipped is what a case returns that this machine cannot run.
var ErrSkipped = errors.New("skipped")

// Run runs the case with the binary in dir, a directory of its own with a short path. It leaves no process behind.
func (c Case) Run(ctx context.Context, binary, dir string) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	r := &rig{binary: binary, dir: dir}
	defer r.killAll()
	for _, zone := range []string{"a", "b", "c"} {
		if err := os.MkdirAll(r.path("zone-"+zone), 0o755); err != nil {
			return err
		}
	}
	return c.run(ctx, r)
}

// All are the cases.
var All = []Case{
	{"configuration_mistakes", configurationMistakes},
	{"exit_codes", exitCodes},
	{"reload", reload},
	{"secrets_stay_secret", secretsStaySecret},
	{"systemd_notify", systemdNotify},
	{"systemd_watchdog", watchdog},
	{"systemd_activation", systemdActivation},
	{"systemd_units", systemdUnits},
	{"socket_mode", socketMode},
	{"peer_credentials", peerCredentials},
	{"mtls_and_new_certificates", mutualTLS},
	{"one_debug_line_per_copy", debugLines},
	{"traces", traces},
	{"profiles_on_admin_socket_only", profiles},
	{"status", status},
	{"replaced_zone", replacedZone},
	{"doctor", doctor},
}

// rig is the place where a case runs.
type rig struct {
	binary, dir string
	running     []*process.Process
}

func (r *rig) path(name string) string { return filepath.Join(r.dir, name) }
func (r *rig) socket() string          { return r.path("w.sock") }
func (r *rig) target() string          { return "unix://" + r.socket() }
func (r *rig) log() string             { return r.path("walbridge.log") }

// configuration is a file that is right, with more appended.
func (r *rig) configuration(more string) string {
	return fmt.Sprintf(`cluster_id: cluster
broker_id: 1
listen: %s
zones:
  - {name: a, url: "file://%s"}
  - {name: b, url: "file://%s"}
  - {name: c, url: "file://%s"}
%s`, r.target(), r.path("zone-a"), r.path("zone-b"), r.path("zone-c"), more)
}

func (r *rig) configure(text string) error {
	return os.WriteFile(r.path("w.yaml"), []byte(text), 0o644)
}

// start runs `walbridge serve` on the configuration and returns when it has logged that it serves.
func (r *rig) start(ctx context.Context, text string, env ...string) (*process.Process, error) {
	if err := r.configure(text); err != nil {
		return nil, err
	}
	p, err := process.Start(process.Spec{
		Name: "walbridge", Path: r.binary, Args: []string{"serve", "--config", r.path("w.yaml")}, Env: env, Log: r.log(),
	})
	if err != nil {
		return nil, err
	}
	r.running = append(r.running, p)
	return p, p.Await(ctx, "it serves", func(context.Context) error { return r.logged("msg=serving") })
}

func (r *rig) killAll() {
	for _, p := range r.running {
		p.Kill()
	}
}

// logged is nil once the log has all of what is wanted.
func (r *rig) logged(want ...string) error {
	b, err := os.ReadFile(r.log())
	if err != nil {
		return err
	}
	return contains(string(b), want...)
}

// awaitLog waits for that.
func (r *rig) awaitLog(ctx context.Context, p *process.Process, want ...string) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return p.Await(ctx, fmt.Sprintf("the log has %q", want), func(context.Context) error { return r.logged(want...) })
}

// walbridge runs the binary to its end.
func (r *rig) walbridge(ctx context.Context, args ...string) (code int, output string) {
	return r.walbridgeAs(ctx, nil, args...)
}

func (r *rig) walbridgeAs(ctx context.Context, who *syscall.Credential, args ...string) (code int, output string) {
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, r.binary, args...)
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: who}
	if err := cmd.Run(); err != nil {
		exit, ok := errors.AsType[*exec.ExitError](err)
		if !ok {
			return -1, err.Error()
		}
		return exit.ExitCode(), out.String()
	}
	return 0, out.String()
}

// expect fails unless walbridge exits with code and prints all of what is wanted.
func (r *rig) expect(ctx context.Context, code int, args []string, want ...string) error {
	got, output := r.walbridge(ctx, args...)
	if got != code {
		return fmt.Errorf("walbridge %s: exit code %d, want %d: %s", strings.Join(args, " "), got, code, output)
	}
	if err := contains(output, want...); err != nil {
		return fmt.Errorf("walbridge %s: %w", strings.Join(args, " "), err)
	}
	return nil
}

func contains(text string, want ...string) error {
	for _, w := range want {
		if !strings.Contains(text, w) {
			return fmt.Errorf("lacks %q: %s", w, text)
		}
	}
	return nil
}
