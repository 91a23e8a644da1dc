package uploadevents_test

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/walbridge/walbridge/integration/uploadevents"
)

// Every event, on the newest Kafka or the version that KAFKA names.
func TestUploadEvents(t *testing.T) {
	if testing.Short() {
		t.Skip("runs three real brokers")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Minute)
	defer cancel()
	s, err := uploadevents.Start(ctx, t.TempDir(), os.Getenv("KAFKA"))
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
