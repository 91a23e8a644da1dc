package s3_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
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

// A bucket that is not there says nothing about objects: a read that tries to open the zone must not find one missing.
func TestOpenRefuses(t *testing.T) {
	server := startVersitygw(t, "zone-a")
	for name, o := range map[string]s3.Options{
		"no bucket":     parse(t, zoneURL("zone-x", "", server.URL())),
		"nobody there":  parse(t, zoneURL("zone-a", "", "http://127.0.0.1:1")),
		"no region":     {Bucket: "zone-a"},
		"an odd prefix": {Bucket: "zone-a", Prefix: "../zone-b", Endpoint: server.URL()},
	} {
		b, err := s3.Open(within(t, time.Second), o)
		if err == nil {
			b.Close()
		}
		if err == nil || errors.Is(err, backends.ErrNotFound) || !strings.Contains(err.Error(), o.Bucket) {
			t.Errorf("%s: %v", name, err)
		}
	}
	t.Setenv("AWS_SECRET_ACCESS_KEY", "wrong")
	_, err := s3.Open(within(t, soon), parse(t, zoneURL("zone-a", "", server.URL())))
	if !errors.Is(err, backends.ErrDenied) {
		t.Errorf("a wrong secret: %v, want ErrDenied", err)
	}
}
