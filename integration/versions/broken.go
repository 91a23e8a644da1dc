package versions

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"os"
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
	in, err := zip.OpenReader(from)
	if err != nil {
		return err
	}
	defer in.Close()
	file, err := os.Create(to)
	if err != nil {
		return err
	}
	defer file.Close()
	out := zip.NewWriter(file)
	lacking := 0
	for _, entry := range in.File {
		if entry.FileInfo().IsDir() {
			continue
		}
		if strings.HasPrefix(entry.Name, prefix) {
			lacking++
			continue
		}
		if err := out.Copy(entry); err != nil {
			return err
		}
	}
	if lacking == 0 {
		return fmt.Errorf("no %s in %s", prefix, from)
	}
	return out.Close()
}
