package versions

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/walbridge/walbridge/integration/artifact"
	"github.com/walbridge/walbridge/integration/kafka"
	"github.com/walbridge/walbridge/integration/upload"
)

// uploads runs a broker of the version, on the JDK if one is named, under load, and compares its log with the WAL.
// Where there is another javaagent, its endpoint must show the broker's metrics and ours.
func uploads(ctx context.Context, dir, version string, jdk int, with *neighbour) error {
	cfg := kafka.Config{Version: version}
	var err error
	if jdk != 0 {
		if cfg.Java, err = artifact.JDK(jdk); err != nil {
			return fmt.Errorf("%w: %w", ErrSkipped, err)
		}
	}
	ours, err := upload.Option()
	if err != nil {
		return err
	}
	cfg.Options = []string{ours}
	if with != nil {
		if cfg.Options, err = with.options(ctx, dir, ours); err != nil {
			return err
		}
	}
	s, err := start(ctx, dir, cfg)
	if err != nil {
		return err
	}
	defer s.close()
	if err := s.uploadsAll(ctx, with); err != nil {
		return errors.Join(s.hookThatDiffers(), err)
	}
	return nil
}

func (s *system) uploadsAll(ctx context.Context, with *neighbour) error {
	if err := s.serve(ctx); err != nil {
		return err
	}
	if err := upload.AwaitEnd(ctx, s.daemon, s.admin(), s.partitions, nil); err != nil {
		return err
	}
	if with != nil {
		if err := with.showsMetrics(ctx); err != nil {
			return err
		}
	}
	if err := s.stop(ctx); err != nil {
		return err
	}
	verified, err := upload.Verify(ctx, s.dir, s.cluster, s.broker(), s.daemon, []string{topic})
	if err != nil {
		return err
	}
	if verified.Partitions != partitions || verified.Records != records {
		return fmt.Errorf("%d records of %d partitions verified, not %d of %d",
			verified.Records, verified.Partitions, records, partitions)
	}
	return s.nothingWentWrong()
}

// hookThatDiffers is what the agent says where this Kafka is not as it expects.
func (s *system) hookThatDiffers() error {
	lines, err := s.agentSays()
	for _, line := range lines {
		if strings.Contains(line, "Walbridge is off") {
			err = errors.Join(err, errors.New(line))
		}
	}
	return err
}

// nothingWentWrong fails where the agent warned of something.
func (s *system) nothingWentWrong() error {
	lines, err := s.agentSays()
	for _, line := range lines {
		if strings.Contains(line, " ERROR ") || strings.Contains(line, " WARN ") {
			err = errors.Join(err, fmt.Errorf("the agent complains: %s", line))
		}
	}
	return err
}
