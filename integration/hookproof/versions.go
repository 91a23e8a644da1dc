package hookproof

import (
	"os"
	"strings"

	"github.com/walbridge/walbridge/integration/kafka"
)

// Versions are the versions of Kafka that WALBRIDGE_VERSIONS asks for: "all", or some of them; otherwise the given.
func Versions(otherwise ...string) []string {
	switch asked := strings.Fields(os.Getenv("WALBRIDGE_VERSIONS")); {
	case len(asked) == 0:
		return otherwise
	case asked[0] == "all":
		return kafka.Versions()
	default:
		return asked
	}
}
