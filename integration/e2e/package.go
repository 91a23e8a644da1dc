package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/walbridge/walbridge/integration/daemoncases"
	"github.com/walbridge/walbridge/integration/installed"
)

// packageScenario builds the packages twice, unpacks the deb into a folder, and uses what is in it.
func packageScenario(ctx context.Context, r *run) error {
	dists := []string{filepath.Join(r.dir, "dist1"), filepath.Join(r.dir, "dist2")}
	for _, dist := range dists {
		if err := installed.Build(ctx, dist); err != nil {
			return err
		}
	}
	r.try("reproducible", func() error { return sameSums(dists[0], dists[1]) })

	root := installed.Root{Dir: filepath.Join(r.dir, "root"), Dist: dists[0]}
	if err := os.Mkdir(root.Dir, 0o755); err != nil {
		return err
	}
	if err := root.Install(ctx); err != nil {
		return err
	}
	r.try("complete", func() error { return allThere(root.Dir) })
	binary := root.Path("usr/bin/walbridge")
	r.try("example_configuration", func() error {
		return runs(ctx, "ok, broker 1", binary, "config", "check", root.Path("etc/walbridge/walbridge.yaml"))
	})
	r.try("newcomer", func() error { return root.Newcomer(ctx) })
	r.try("agent_matches_daemon", func() error {
		jar := root.Path("usr/share/walbridge/walbridge-agent.jar")
		out, _ := exec.CommandContext(ctx, binary, "doctor", "--agent", jar, "--timeout", "5s", "--config",
			root.Path("etc/walbridge/walbridge.yaml")).CombinedOutput()
		if !strings.Contains(string(out), ", as the daemon") {
			return fmt.Errorf("doctor does not find them to match: %s", out)
		}
		return nil
	})
	// The installed daemon does what the built one does: the newcomer's mistakes and the doctor among it.
	for i, c := range daemoncases.All {
		dir := filepath.Join(r.dir, fmt.Sprint(i))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		began := time.Now()
		r.record("installed_"+c.Name, c.Run(ctx, binary, dir), daemoncases.ErrSkipped, began)
	}
	return nil
}

func sameSums(a, b string) error {
	first, err := os.ReadFile(filepath.Join(a, "SHA256SUMS"))
	if err != nil {
		return err
	}
	second, err := os.ReadFile(filepath.Join(b, "SHA256SUMS"))
	if err != nil {
		return err
	}
	if string(first) != string(second) {
		return fmt.Errorf("two builds differ: %s and %s", first, second)
	}
	return nil
}

func allThere(root string) error {
	var missing []string
	for _, file := range []string{
		"usr/bin/walbridge", "usr/share/walbridge/walbridge-agent.jar", "etc/walbridge/walbridge.yaml",
		"usr/lib/systemd/system/walbridge.service", "usr/lib/systemd/system/walbridge.socket",
		"usr/lib/sysusers.d/walbridge.conf", "usr/lib/tmpfiles.d/walbridge.conf",
		"usr/share/man/man1/walbridge.1.gz", "usr/share/man/man1/walbridge-serve.1.gz",
		"usr/share/bash-completion/completions/walbridge", "usr/share/zsh/vendor-completions/_walbridge",
		"usr/share/fish/vendor_completions.d/walbridge.fish", "usr/share/doc/walbridge/configuration.md",
	} {
		if _, err := os.Stat(filepath.Join(root, file)); err != nil {
			missing = append(missing, file)
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("the deb lacks %q", missing)
	}
	return nil
}

// runs fails unless the command succeeds and prints what is wanted.
func runs(ctx context.Context, want, path string, args ...string) error {
	out, err := exec.CommandContext(ctx, path, args...).CombinedOutput()
	if err != nil || !strings.Contains(string(out), want) {
		return fmt.Errorf("%s: %v: %s", strings.Join(args, " "), err, out)
	}
	return nil
}
