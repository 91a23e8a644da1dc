// Package installed is the product as its deb installs it: unpacked in a folder, which its absolute paths lead to, with
// stand-ins for the commands that would change the machine.
package installed

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"syscall"
	"time"

	"github.com/walbridge/walbridge/integration/artifact"
)

// Build builds the packages for this machine into dist.
func Build(ctx context.Context, dist string) error {
	root, err := artifact.Root()
	if err != nil {
		return err
	}
	tools := filepath.Join(root, ".cache", "bin")
	if _, err := os.Stat(filepath.Join(tools, "nfpm")); errors.Is(err, os.ErrNotExist) {
		return &artifact.MissingError{What: "nfpm", Command: "make tools"}
	}
	if _, err := artifact.AgentJar(); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, filepath.Join(root, "tools", "package"), dist, runtime.GOARCH)
	cmd.Env = append(os.Environ(), "PATH="+tools+":"+os.Getenv("PATH"))
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("tools/package: %w: %s", err, out)
	}
	return nil
}

// Root is a folder that a package is installed in, or will be.
type Root struct {
	// Dir is the folder; it is short enough for a socket's path.
	Dir string
	// Dist has the packages.
	Dist string
}

// Install installs the deb, whatever its version.
func (r Root) Install(ctx context.Context) error {
	debs, err := filepath.Glob(filepath.Join(r.Dist, "*.deb"))
	if err != nil || len(debs) != 1 {
		return fmt.Errorf("one deb is wanted in %s, there is %q: %w", r.Dist, debs, err)
	}
	return r.Run(ctx, "apt install ./"+filepath.Base(debs[0]))
}

// Path is where an absolute path of the product leads to.
func (r Root) Path(path string) string { return filepath.Join(r.Dir, path) }

// ours are the absolute paths that lead into the folder.
var ours = regexp.MustCompile(`/(etc|run|srv)/walbridge`)

// Run runs the commands of a shell script as they would be typed on a machine where the product is installed, and stops
// at the first that fails. What it left in the background is killed.
func (r Root) Run(ctx context.Context, script string) error {
	root, err := artifact.Root()
	if err != nil {
		return err
	}
	standins := filepath.Join(root, "integration", "installed", "standins")
	cmd := exec.CommandContext(ctx, "bash", "-e", "-c", ours.ReplaceAllString(script, r.Dir+"$0"))
	cmd.Dir = r.Dir
	cmd.Env = append(os.Environ(), "ROOT="+r.Dir, "DIST="+r.Dist,
		"PATH="+standins+":"+r.Path("usr/bin")+":"+os.Getenv("PATH"))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second // for a background process that holds the output open
	out, err := cmd.CombinedOutput()
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}
	if err != nil {
		return fmt.Errorf("%w\n%s\n%s", err, script, out)
	}
	return nil
}
