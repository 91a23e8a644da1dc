package daemoncases_test

import (
	"errors"
	"os"
	"testing"

	"github.com/walbridge/walbridge/integration/daemon"
	"github.com/walbridge/walbridge/integration/daemoncases"
)

func TestCases(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the built daemon")
	}
	binary, err := daemon.Build(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range daemoncases.All {
		t.Run(c.Name, func(t *testing.T) {
			dir, err := os.MkdirTemp("", "wal") // A test's own directory has too long a path for a socket.
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { os.RemoveAll(dir) })
			switch err := c.Run(t.Context(), binary, dir); {
			case errors.Is(err, daemoncases.ErrSkipped):
				t.Skip(err)
			case err != nil:
				t.Fatal(err)
			}
		})
	}
}
