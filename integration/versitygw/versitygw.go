// Package versitygw runs a real S3 server over a directory: what the stores' tests, the benchmarks and the demo use
// where there is no cloud.
package versitygw

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/walbridge/walbridge/integration/artifact"
	"github.com/walbridge/walbridge/integration/process"
)

// Version is the one that install builds.
const Version = "v1.8.0"

// The server's root user, and its region.
const (
	AccessKey = "walbridge"
	SecretKey = "walbridge-secret"
	Region    = "us-east-1"
)

// startAttempts bounds the races for a port that was free a moment ago.
const startAttempts = 3

// Server is a running server.
type Server struct {
	process *process.Process
	dir     string
	url     string
}

// Install returns the server's path. Where it is not built yet it is built, which takes minutes, and its messages go to
// standard error.
func Install(ctx context.Context) (string, error) {
	root, err := artifact.Root()
	if err != nil {
		return "", err
	}
	path := filepath.Join(root, ".cache", "versitygw", Version, "versitygw")
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		return path, err
	}
	install := exec.CommandContext(ctx, filepath.Join(root, "integration", "versitygw", "install"))
	install.Stderr = os.Stderr
	if err := install.Run(); err != nil {
		return "", fmt.Errorf("integration/versitygw/install: %w", err)
	}
	return path, nil
}

// Start starts a server whose buckets are directories in dir, those named among them, and whose objects are files. It
// returns when the server answers.
func Start(ctx context.Context, dir string, buckets ...string) (*Server, error) {
	path, err := Install(ctx)
	if err != nil {
		return nil, err
	}
	s := &Server{dir: dir}
	for _, bucket := range buckets {
		if err := os.MkdirAll(s.BucketDir(bucket), 0o755); err != nil {
			return nil, fmt.Errorf("versitygw: %w", err)
		}
	}
	for range startAttempts {
		if err = s.start(ctx, path); err == nil || ctx.Err() != nil {
			break
		}
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

func (s *Server) start(ctx context.Context, path string) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("versitygw: %w", err)
	}
	address := l.Addr().String()
	l.Close()
	s.url = "http://" + address
	s.process, err = process.Start(process.Spec{
		Name: "versitygw", Path: path,
		Args: []string{"--port", address, "--region", Region, "--quiet", "--keep-alive", "posix", s.dir},
		Env:  []string{"ROOT_ACCESS_KEY=" + AccessKey, "ROOT_SECRET_KEY=" + SecretKey},
		Log:  filepath.Join(s.dir, "versitygw.log"),
	})
	if err != nil {
		return err
	}
	if err := s.process.Await(ctx, "it answers", s.answers); err != nil {
		s.process.Kill()
		return err
	}
	return nil
}

// answers tells whether the server speaks HTTP; a refusal is an answer.
func (s *Server) answers(ctx context.Context) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodHead, s.url, nil)
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	return answer.Body.Close()
}

// URL is the endpoint.
func (s *Server) URL() string { return s.url }

// BucketDir is the directory of a bucket: an object is the file of its key.
func (s *Server) BucketDir(bucket string) string { return filepath.Join(s.dir, bucket) }

// Environment is what a client's process needs to find the server's user.
func Environment() []string {
	return []string{"AWS_ACCESS_KEY_ID=" + AccessKey, "AWS_SECRET_ACCESS_KEY=" + SecretKey, "AWS_REGION=" + Region}
}

// Close ends the server.
func (s *Server) Close() { s.process.Kill() }
