package main

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/walbridge/walbridge/integration/versitygw"
)

// startS3 starts a real S3 server over the zones' directories, each a bucket, and has the daemon, which does not run
// yet, use it: its zones' URLs are changed, and its environment, which is ours, tells the SDK who we are.
func startS3(ctx context.Context, dir string) (*versitygw.Server, error) {
	if _, err := versitygw.Install(ctx); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	server, err := versitygw.Start(ctx, dir, zones...)
	if err != nil {
		return nil, err
	}
	if err := useS3(server, dir); err != nil {
		server.Close()
		return nil, err
	}
	return server, nil
}

func useS3(server *versitygw.Server, dir string) error {
	for _, variable := range versitygw.Environment() {
		name, value, _ := strings.Cut(variable, "=")
		if err := os.Setenv(name, value); err != nil {
			return err
		}
	}
	path := filepath.Join(dir, "walbridge.yaml")
	config, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	text := string(config)
	for _, zone := range zones {
		bucket := fmt.Sprintf("s3://%s?endpoint=%s", zone, url.QueryEscape(server.URL()))
		text = strings.ReplaceAll(text, "file://"+server.BucketDir(zone), bucket)
	}
	return os.WriteFile(path, []byte(text), 0o644)
}
