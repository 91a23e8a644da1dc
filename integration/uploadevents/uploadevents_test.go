package uploadevents_test

import (
	"context"
	"testing"
	"time"

	"github.com/walbridge/walbridge/integration/kafka"
	"github.com/walbridge/walbridge/integration/uploadevents"
)

func TestUploadEvents(t *testing.T) {
	if testing.Short() {
		t.Skip("runs three real brokers")
	}
	for _, version := range kafka.Tested() {
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
