package quorum

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// testSeed returns the seed of a random test, from WALBRIDGE_SEED where that is set, and prints it.
func testSeed(t *testing.T) uint64 {
	seed := rand.Uint64()
	if s := os.Getenv("WALBRIDGE_SEED"); s != "" {
		var err error
		if seed, err = strconv.ParseUint(s, 10, 64); err != nil {
			t.Fatalf("WALBRIDGE_SEED: %v", err)
		}
	}
	t.Logf("WALBRIDGE_SEED=%d", seed)
	return seed
}
