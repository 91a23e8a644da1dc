package versions

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/walbridge/walbridge/integration/artifact"
	"github.com/walbridge/walbridge/integration/kafka"
)

// brokenJar runs a broker whose agent's jar lacks what the agent needs next, as to a JVM under which it was
// overwritten. The broker must serve as any and end cleanly, and one line of all that it prints says what is wrong.
func brokenJar(ctx context.Context, dir string) error {
	whole, err := artifact.AgentJar()
	if err != nil {
		return err
	}
	jar := filepath.Join(dir, "agent.jar")
	if err := without(whole, jar, "io/walbridge/agent/BrokerEvents"); err != nil {
		return fmt.Errorf("%s: %w", jar, err)
	}
	s, err := start(ctx, dir, kafka.Config{Version: kafka.Newest, Options: []string{"-javaagent:" + jar}})
	if err != nil {
		return err
	}
	defer s.close()
	if err := s.serve(ctx); err != nil {
		return err
	}
	if err := s.stop(ctx); err != nil {
		return err
	}
	lines, err := s.agentSays()
	const want = "Walbridge is off: its agent failed with java.lang.NoClassDefFoundError; "
	said := 0
	for _, line := range lines {
		if strings.HasPrefix(line, want) {
			said++
		}
	}
	if said != 1 {
		err = errors.Join(err, fmt.Errorf("the agent said %q, not once %q", lines, want))
	}
	return err
}

// without writes a copy of the jar that lacks the entries whose names begin so. It fails where there are none.
func without(from, to, prefix string) error {
	return rewriteJar(from, to, func(entry *zip.File, out *zip.Writer) (changed bool, err error) {
		if strings.HasPrefix(entry.Name, prefix) {
			return true, nil
		}
		return false, out.Copy(entry)
	})
}
