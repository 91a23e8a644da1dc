package s3_test

import (
	"context"
	"fmt"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/walbridge/walbridge/backends"
	"github.com/walbridge/walbridge/backends/backendtest"
	"github.com/walbridge/walbridge/backends/s3"
	"github.com/walbridge/walbridge/integration/s3mock"
	"github.com/walbridge/walbridge/integration/versitygw"
)

// startVersitygw starts a real server for the test, and builds it where that has not been done.
func startVersitygw(t *testing.T, buckets ...string) *versitygw.Server {
	t.Helper()
	if testing.Short() {
		t.Skip("a real server is not for -short")
	}
	environment(t, versitygw.AccessKey, versitygw.SecretKey)
	// A first build takes minutes; only the test binary's own timeout bounds it.
	if _, err := versitygw.Install(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	s, err := versitygw.Start(ctx, t.TempDir(), buckets...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func zoneURL(bucket, prefix, endpoint string) string {
	return fmt.Sprintf("s3://%s/%s?endpoint=%s", bucket, prefix, url.QueryEscape(endpoint))
}

func parse(t *testing.T, zone string) s3.Options {
	t.Helper()
	o, err := s3.ParseURL(zone)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func TestConformanceVersitygw(t *testing.T) {
	server := startVersitygw(t, "zone-a")
	conformance(t, server.URL(), "zone-a", func(b backends.Bucket) backends.Bucket { return b })
}

func startS3Mock(t *testing.T, bucket string) *s3mock.Server {
	t.Helper()
	if testing.Short() {
		t.Skip("a real server is not for -short")
	}
	environment(t, "any", "any")
	if _, err := s3mock.Install(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	s, err := s3mock.Start(ctx, t.TempDir(), bucket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func TestConformanceS3Mock(t *testing.T) {
	server := startS3Mock(t, "zone-b")
	// S3Mock looks whether the object exists in one step and stores it in another, so no two may be under way.
	var one sync.Mutex
	conformance(t, server.URL(), "zone-b", func(b backends.Bucket) backends.Bucket { return &oneByOne{b, &one} })
}

// oneByOne appends to one object at a time.
type oneByOne struct {
	backends.Bucket
	one *sync.Mutex
}

func (b *oneByOne) Create(ctx context.Context, name string) (backends.Writer, error) {
	w, err := b.Bucket.Create(ctx, name)
	if err != nil {
		return nil, err
	}
	return &oneByOneWriter{w, b.one}, nil
}

type oneByOneWriter struct {
	backends.Writer
	one *sync.Mutex
}

func (w *oneByOneWriter) Append(ctx context.Context, p []byte, crc uint32) error {
	w.one.Lock()
	defer w.one.Unlock()
	return w.Writer.Append(ctx, p, crc)
}

// conformance runs the suite in directories of one bucket, one a check.
func conformance(t *testing.T, endpoint, bucket string, wrap func(backends.Bucket) backends.Bucket) {
	var n atomic.Int32
	backendtest.Run(t, func(t *testing.T) backends.Bucket {
		return wrap(open(t, parse(t, zoneURL(bucket, fmt.Sprintf("check/%d", n.Add(1)), endpoint))))
	})
}
