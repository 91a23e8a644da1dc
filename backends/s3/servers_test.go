package s3_test

import (
	"context"
	"fmt"
	"net/url"
	"sync/atomic"
	"testing"
	"time"

	"github.com/walbridge/walbridge/backends"
	"github.com/walbridge/walbridge/backends/backendtest"
	"github.com/walbridge/walbridge/backends/s3"
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
	conformance(t, server.URL(), "zone-a")
}

// conformance runs the suite in directories of one bucket, one a check.
func conformance(t *testing.T, endpoint, bucket string) {
	var n atomic.Int32
	backendtest.Run(t, func(t *testing.T) backends.Bucket {
		return open(t, parse(t, zoneURL(bucket, fmt.Sprintf("check/%d", n.Add(1)), endpoint)))
	})
}
