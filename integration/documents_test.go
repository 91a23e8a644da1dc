package integration_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/walbridge/walbridge/integration/artifact"
)

// documents are those whose shell commands must work as they stand. Every block of theirs that starts with ```sh says
// how it is tested:
//
//	sh by-ci      only commands that CI runs itself, `make test` for one; they are not run again
//	sh build      runs in the repository's root
//	sh demo       runs there after the demo
//	sh installed  runs where the deb is installed, in a folder, with all such blocks of the document, one after the other
var documents = []string{"README.md", "docs/operations.md"}

// byCI are the commands that CI, and with it this package, runs.
var byCI = []string{"make demo", "make test", "make check", "make check test"}

// block is a block of shell commands in a document.
type block struct {
	document, kind, script string
}

var (
	blocks       = regexp.MustCompile("(?ms)^```sh(.*?)\n(.*?)^```")
	consoles     = regexp.MustCompile("(?m)^```(console|bash|shell).*$")
	placeholders = regexp.MustCompile(`<[a-zA-Z][^>|]*>|…|\.\.\.(\s|$)`)
	comments     = regexp.MustCompile(`(^|\s)#.*$`)
)

func TestDocuments(t *testing.T) {
	root, err := artifact.Root()
	if err != nil {
		t.Fatal(err)
	}
	installed := map[string]string{}
	for _, b := range readBlocks(t, root) {
		if b.kind == "installed" {
			installed[b.document] += b.script
		}
		name, _, _ := strings.Cut(b.script, "\n")
		t.Run(b.document+"/"+name, func(t *testing.T) {
			if p := placeholders.FindString(b.script); p != "" {
				t.Errorf("placeholder %q: a command must work as it stands", p)
			}
			switch b.kind {
			case "by-ci":
				checkByCI(t, b.script)
			case "build":
				runScript(t, root, b.script)
			case "demo":
				if r := runTheDemo(t); r.status != 0 {
					t.Fatal(r.lastLine)
				}
				runScript(t, root, b.script)
			case "installed":
			default:
				t.Errorf("kind %q, want by-ci, build, demo or installed", b.kind)
			}
		})
	}
	for document, script := range installed {
		t.Run(document+"/installed", func(t *testing.T) {
			if err := emptyRoot(t).Run(t.Context(), script); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func readBlocks(t *testing.T, root string) []block {
	t.Helper()
	var all []block
	for _, document := range documents {
		text, err := os.ReadFile(filepath.Join(root, document))
		if errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is missing", document)
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if m := consoles.FindString(string(text)); m != "" {
			t.Errorf("%s: %q: a block of commands is sh, so that it is tested", document, m)
		}
		for _, m := range blocks.FindAllStringSubmatch(string(text), -1) {
			all = append(all, block{document: document, kind: strings.TrimSpace(m[1]), script: m[2]})
		}
	}
	return all
}

func checkByCI(t *testing.T, script string) {
	t.Helper()
	for line := range strings.Lines(script) {
		command := strings.TrimSpace(comments.ReplaceAllString(strings.TrimSpace(line), ""))
		if command != "" && !slices.Contains(byCI, command) {
			t.Errorf("CI does not run %q, only %q", command, byCI)
		}
	}
}

// runScript runs a block as a reader's shell would, but stops at the first command that fails. What the block left in
// the background is killed.
func runScript(t *testing.T, root, script string) {
	t.Helper()
	if testing.Short() {
		t.Skip("runs commands of a document")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-e", "-c", script)
	cmd.Dir = root
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second // for a background process that holds the output open
	out, err := cmd.CombinedOutput()
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	if err != nil {
		t.Errorf("%v\n%s\n%s", err, script, out)
	}
}
