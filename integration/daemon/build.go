package daemon

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"sync"

	"github.com/walbridge/walbridge/integration/artifact"
)

var (
	buildOnce sync.Once
	binary    string
	buildErr  error
)

// Build builds the walbridge binary into bin/, at most once in the life of this process, and returns its path.
func Build(ctx context.Context) (string, error) {
	buildOnce.Do(func() { binary, buildErr = build(ctx) })
	return binary, buildErr
}

func build(ctx context.Context) (string, error) {
	root, err := artifact.Root()
	if err != nil {
		return "", err
	}
	path := filepath.Join(root, "bin", "walbridge")
	cmd := exec.CommandContext(ctx, "go", "build", "-o", path, "./cmd/walbridge")
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build walbridge: %w\n%s", err, out)
	}
	return path, nil
}
