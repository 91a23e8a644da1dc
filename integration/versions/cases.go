package versions

import (
	"context"
	"errors"

	"github.com/walbridge/walbridge/integration/kafka"
)

// ErrSkipped says that what a case needs is not on this machine.
var ErrSkipped = errors.New("skipped")

// Case is one broker that is run. Run gets an empty directory, whose path is short enough for sockets.
type Case struct {
	// Version is set where the case is that of a Kafka version, alone with the agent on the default JDK.
	Version string
	Name    string
	Run     func(ctx context.Context, dir string) error
	// Quick is whether CI runs it, too.
	Quick bool
}

// newestJDK is the newest long-term release.
const newestJDK = 25

// All are all cases: every version, then other javaagents and JDKs, then Kafkas that the agent does not know, then a
// broken agent.
func All() []Case {
	var all []Case
	versions := kafka.Versions()
	for _, version := range versions {
		all = append(all, Case{
			Version: version, Name: version, Quick: version == versions[0] || version == kafka.Newest,
			Run: func(ctx context.Context, dir string) error { return uploads(ctx, dir, version, 0, nil) },
		})
	}
	other := func(name string, version string, jdk int, with func(first bool) *neighbour, first, quick bool) {
		all = append(all, Case{Name: name, Quick: quick, Run: func(ctx context.Context, dir string) error {
			return uploads(ctx, dir, version, jdk, with(first))
		}})
	}
	other("jmx_exporter_first", kafka.Newest, 0, jmxExporter, true, false)
	other("jmx_exporter_last", kafka.Newest, 0, jmxExporter, false, true)
	other("opentelemetry_first", kafka.Newest, 0, openTelemetry, true, false)
	other("opentelemetry_last", kafka.Newest, 0, openTelemetry, false, false)
	other("jdk25_jmx_exporter_first", kafka.Newest, newestJDK, jmxExporter, true, true)
	other("jdk25_jmx_exporter_last", kafka.Newest, newestJDK, jmxExporter, false, false)
	other("jdk25_oldest_jmx_exporter_first", versions[0], newestJDK, jmxExporter, true, false)
	all = append(all,
		Case{Name: "unknown_method", Run: movedMethod.runsAsStock, Quick: true},
		Case{Name: "unknown_woven_method", Run: movedWovenMethod.runsAsStock},
		Case{Name: "unknown_class", Run: movedClass.runsAsStock},
		Case{Name: "broken_jar", Run: brokenJar, Quick: true})
	return all
}
