package hostile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/walbridge/walbridge/integration/daemon"
	"github.com/walbridge/walbridge/integration/process"
)

// Start builds and starts a daemon with the default limits in dir, whose path must be short, and returns when it serves.
func Start(ctx context.Context, dir string) (*process.Process, Target, error) {
	t := Target{Socket: filepath.Join(dir, "w.sock"), Cluster: "cluster", Broker: 1, Seed: 1}
	binary, err := daemon.Build(ctx)
	if err != nil {
		return nil, t, err
	}
	var text strings.Builder
	fmt.Fprintf(&text, "cluster_id: %s\nbroker_id: %d\nlisten: unix://%s\nzones:\n", t.Cluster, t.Broker, t.Socket)
	for _, zone := range []string{"a", "b", "c"} {
		path := filepath.Join(dir, zone)
		if err := os.MkdirAll(path, 0o755); err != nil {
			return nil, t, err
		}
		fmt.Fprintf(&text, "  - {name: %s, url: \"file://%s\"}\n", zone, path)
	}
	config, log := filepath.Join(dir, "w.yaml"), filepath.Join(dir, "walbridge.log")
	if err := os.WriteFile(config, []byte(text.String()), 0o644); err != nil {
		return nil, t, err
	}
	// What an earlier daemon logged there is not this one's.
	if err := os.Remove(log); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, t, err
	}
	p, err := process.Start(process.Spec{Name: "walbridge", Path: binary, Args: []string{"serve", "--config", config}, Log: log})
	if err != nil {
		return nil, t, err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	err = p.Await(ctx, "it serves", func(context.Context) error {
		b, err := os.ReadFile(log)
		if err == nil && !strings.Contains(string(b), "msg=serving") {
			err = errors.New("the log does not say so")
		}
		return err
	})
	if err != nil {
		p.Kill()
		return nil, t, err
	}
	return p, t, nil
}
