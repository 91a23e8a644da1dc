// Package s3mock runs Adobe's S3Mock, a second S3 server of other people's making, for tests.
package s3mock

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/walbridge/walbridge/integration/artifact"
	"github.com/walbridge/walbridge/integration/process"
)

// Server is a running server. It takes any credentials.
type Server struct {
	process *process.Process
	url     string
}

// Install fetches the server's jars, unless they are there, and returns their class path.
func Install(ctx context.Context) (string, error) {
	root, err := artifact.Root()
	if err != nil {
		return "", err
	}
	install := exec.CommandContext(ctx, filepath.Join(root, "integration", "s3mock", "install"))
	install.Stderr = os.Stderr
	if err := install.Run(); err != nil {
		return "", fmt.Errorf("integration/s3mock/install: %w", err)
	}
	return filepath.Join(root, ".cache", "s3mock", "libs", "*"), nil
}

// Start starts a server with one bucket, whose objects are below dir. It returns when the server answers.
func Start(ctx context.Context, dir, bucket string) (*Server, error) {
	classPath, err := Install(ctx)
	if err != nil {
		return nil, err
	}
	java, err := artifact.Java()
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("s3mock: %w", err)
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	l.Close()
	s := &Server{url: "http://127.0.0.1:" + port}
	s.process, err = process.Start(process.Spec{
		Name: "s3mock", Path: java,
		Args: []string{
			"-Xmx256m", "-XX:TieredStopAtLevel=1", "-cp", classPath, "com.adobe.testing.s3mock.S3MockApplication",
			"--com.adobe.testing.s3mock.httpPort=" + port, "--server.port=0",
			"--com.adobe.testing.s3mock.store.root=" + dir, "--com.adobe.testing.s3mock.store.initialBuckets=" + bucket,
		},
		Log: filepath.Join(dir, "s3mock.log"),
	})
	if err != nil {
		return nil, err
	}
	err = s.process.Await(ctx, "it has its bucket", func(ctx context.Context) error { return s.has(ctx, bucket) })
	if err != nil {
		s.process.Kill()
		return nil, err
	}
	return s, nil
}

func (s *Server) has(ctx context.Context, bucket string) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodHead, s.url+"/"+bucket, nil)
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("bucket %s: status %d", bucket, answer.StatusCode)
	}
	return nil
}

// URL is the endpoint.
func (s *Server) URL() string { return s.url }

// Close ends the server.
func (s *Server) Close() { s.process.Kill() }
