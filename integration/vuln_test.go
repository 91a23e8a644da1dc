package integration_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/walbridge/walbridge/integration/artifact"
)

// What `make check` says of known vulnerabilities: it fails where the database knows one that we call, as it does with
// one that is served over HTTP, and says so where it reaches none.
func TestVulnerabilities(t *testing.T) {
	root, err := artifact.Root()
	if err != nil {
		t.Fatal(err)
	}
	tools := filepath.Join(root, ".cache", "bin")
	if _, err := os.Stat(filepath.Join(tools, "govulncheck")); err != nil {
		t.Fatal(&artifact.MissingError{What: "govulncheck", Command: "make tools"})
	}
	reached := httptest.NewServer(http.FileServer(http.Dir(vulnerabilityDB(t, "github.com/oklog/ulid/v2"))))
	defer reached.Close()
	for _, tc := range []struct {
		name  string
		args  []string
		fails bool
		want  string
	}{
		{"one that we call", []string{"-db", reached.URL}, true, "GO-2026-0001"},
		{"none", []string{"-db", "file://" + vulnerabilityDB(t, "example.com/not/ours")}, false, "No vulnerabilities found"},
		{"no database", nil, false, "NOT CHECKED"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), filepath.Join(root, "tools", "vuln"), append(tc.args, "./server/frame")...)
			// What is not on this host, the public database for one, is behind a proxy that is not there.
			cmd.Env = append(os.Environ(), "PATH="+tools+":"+os.Getenv("PATH"), "HTTPS_PROXY=http://127.0.0.1:1", "NO_PROXY=")
			out, err := cmd.CombinedOutput()
			if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
				t.Fatal(err)
			}
			if (err != nil) != tc.fails || !strings.Contains(string(out), tc.want) {
				t.Errorf("%v, want that it fails: %v, and %q: %s", err, tc.fails, tc.want, out)
			}
		})
	}
}

// vulnerabilityDB is a database, as https://go.dev/doc/security/vuln/database describes it, that knows one thing of one
// module.
func vulnerabilityDB(t *testing.T, module string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	const id, when = "GO-2026-0001", "2026-11-01T00:00:00Z"
	for name, content := range map[string]string{
		"index/db.json":      fmt.Sprintf(`{"modified": %q}`, when),
		"index/modules.json": fmt.Sprintf(`[{"path": %q, "vulns": [{"id": %q, "modified": %q}]}]`, module, id, when),
		"index/vulns.json":   fmt.Sprintf(`[{"id": %q, "modified": %q}]`, id, when),
		"ID/" + id + ".json": fmt.Sprintf(`{
			"schema_version": "1.3.1", "id": %q, "modified": %q, "published": %[2]q, "details": "made up for a test",
			"database_specific": {"url": "https://example.com"},
			"affected": [{
				"package": {"name": %[3]q, "ecosystem": "Go"}, "ranges": [{"type": "SEMVER", "events": [{"introduced": "0"}]}],
				"ecosystem_specific": {"imports": [{"path": %[3]q}]}
			}]}`, id, when, module),
	} {
		path := filepath.Join(dir, name)
		// Over HTTP it is asked for compressed, as a file it is not.
		var compressed bytes.Buffer
		w := gzip.NewWriter(&compressed)
		_, writeErr := w.Write([]byte(content))
		err := errors.Join(writeErr, w.Close(), os.MkdirAll(filepath.Dir(path), 0o755),
			os.WriteFile(path, []byte(content), 0o644), os.WriteFile(path+".gz", compressed.Bytes(), 0o644))
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
