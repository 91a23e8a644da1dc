package main

import (
	"context"
	"os"

	"github.com/walbridge/walbridge/integration/uploadevents"
)

// uploadEventsScenario runs every case of uploadevents, on the Kafka version that KAFKA names; default the newest.
func uploadEventsScenario(ctx context.Context, r *run) error {
	s, err := uploadevents.Start(ctx, r.dir, os.Getenv("KAFKA"))
	if err != nil {
		return err
	}
	defer s.Close()
	for _, c := range uploadevents.Cases {
		r.try(c.Name, func() error { return c.Run(ctx, s) })
	}
	for name, value := range s.Figures {
		r.measured(name, value)
	}
	return nil
}
