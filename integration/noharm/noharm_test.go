package noharm_test

import (
	"testing"

	"github.com/walbridge/walbridge/integration/kafka"
	"github.com/walbridge/walbridge/integration/noharm"
)

func TestNoHarm(t *testing.T) {
	if testing.Short() {
		t.Skip("starts real brokers")
	}
	rig, err := noharm.Start(t.Context(), t.TempDir(), kafka.Newest)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(rig.Close)
	for _, c := range noharm.Cases {
		t.Run(c.Name, func(t *testing.T) {
			if err := c.Run(t.Context(), rig); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestSASL(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a real broker")
	}
	if err := noharm.SASL(t.Context(), t.TempDir(), kafka.Newest); err != nil {
		t.Error(err)
	}
}
