package gcs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The log says whose credentials are used and where they were found, and nothing of what is secret in them.
func TestIdentity(t *testing.T) {
	t.Setenv("STORAGE_EMULATOR_HOST_GRPC", "")
	for name, c := range map[string]struct{ file, want string }{
		"service account": {
			`{"type": "service_account", "client_email": "wal@p.example", "private_key_id": "k", "private_key": "SECRET"}`,
			"wal@p.example",
		},
		"user": {`{"type": "authorized_user", "client_id": "c", "client_secret": "SECRET", "refresh_token": "SECRET"}`,
			"authorized_user"},
		"broken": {`{`, "unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "credentials.json")
			if err := os.WriteFile(path, []byte(c.file), 0o600); err != nil {
				t.Fatal(err)
			}
			t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", path)
			got := whoami(t.Context())
			if got.name != c.want || strings.Contains(got.name+got.source, "SECRET") {
				t.Errorf("identity %+v, want %q", got, c.want)
			}
			if c.want != "unknown" && got.source != path {
				t.Errorf("source %q, want the file", got.source)
			}
		})
	}
}
