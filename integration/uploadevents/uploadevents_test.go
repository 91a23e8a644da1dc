package uploadevents_test

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/walbridge/walbridge/integration/kafka"
	"github.com/walbridge/walbridge/integration/uploadevents"
)

func TestUploadEvents(t *testing.T) {
	if testing.Short() {
		t.Skip("runs three real brokers")
	}
	// A version takes three minutes: the oldest one is behind the variable, too.
	versions := []string{kafka.Newest}
	if os.Getenv("WALBRIDGE_VERSIONS") == "all" {
		versions = kafka.Versions()
	}
	for _, version := range versions {
		t.Run(version, func(t *testing.T) { events(t, version) })
	}
}

func events(t *testing.T, version string) {
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Minute)
	defer cancel()
	s, err := uploadevents.Start(ctx, t.TempDir(), version)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, c := range uploadevents.Cases {
		t.Run(c.Name, func(t *testing.T) {
			if err := c.Run(ctx, s); err != nil {
				t.Error(err)
			}
		})
	}
	t.Log(s.Figures)
}
