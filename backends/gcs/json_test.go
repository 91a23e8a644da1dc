package gcs_test

import (
	"fmt"
	"net/http"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"cloud.google.com/go/storage"
	"google.golang.org/api/option"

	"github.com/walbridge/walbridge/backends"
	"github.com/walbridge/walbridge/backends/backendtest"
	"github.com/walbridge/walbridge/backends/gcs"
)

// A fake that is not ours, for what both of the SDK's clients have in common: conditions, ranges, listings. Start it
// with
//
//	fake-gcs-server -scheme http -host 127.0.0.1 -port 4443 -backend memory
//
// and set WALBRIDGE_FAKE_GCS=http://127.0.0.1:4443.
func TestConformanceOverJSON(t *testing.T) {
	url := os.Getenv("WALBRIDGE_FAKE_GCS")
	if url == "" {
		t.Skip("WALBRIDGE_FAKE_GCS names no fake-gcs-server")
	}
	start, n := time.Now().Unix(), atomic.Int64{}
	transport := new(http.Transport)
	defer transport.CloseIdleConnections()
	backendtest.Run(t, func(t *testing.T) backends.Bucket {
		client, err := storage.NewClient(t.Context(), option.WithEndpoint(url+"/storage/v1/"),
			option.WithHTTPClient(&http.Client{Transport: transport}), storage.WithJSONReads())
		if err != nil {
			t.Fatal(err)
		}
		name := fmt.Sprintf("walbridge-%d-%d", start, n.Add(1))
		if err := client.Bucket(name).Create(t.Context(), "p", nil); err != nil {
			t.Fatal(err)
		}
		b, err := gcs.OverJSON(client, gcs.Options{Bucket: name, Prefix: "json"})
		if err != nil {
			t.Fatal(err)
		}
		return b
	})
}
