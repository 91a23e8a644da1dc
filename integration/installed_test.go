package integration_test

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/walbridge/walbridge/integration/artifact"
	"github.com/walbridge/walbridge/integration/installed"
)

// A newcomer installs the deb, edits the example wrongly, and is told each time what is wrong and where.
func TestNewcomer(t *testing.T) {
	r := emptyRoot(t)
	if err := r.Install(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := r.Newcomer(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// packages builds the packages, once for all tests.
var packages = sync.OnceValues(func() (dist string, err error) {
	root, err := artifact.Root()
	if err != nil {
		return "", err
	}
	dist = filepath.Join(root, ".cache", "test-dist")
	if err := os.RemoveAll(dist); err != nil {
		return "", err
	}
	return dist, installed.Build(context.Background(), dist)
})

// emptyRoot is a folder to install the packages in.
func emptyRoot(t *testing.T) installed.Root {
	t.Helper()
	if testing.Short() {
		t.Skip("builds the packages")
	}
	dist, err := packages()
	if err != nil {
		t.Fatal(err)
	}
	return installed.Root{Dir: socketDir(t), Dist: dist}
}
