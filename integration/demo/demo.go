package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/walbridge/walbridge/integration/artifact"
	"github.com/walbridge/walbridge/integration/kafka"
	walbridgev1 "github.com/walbridge/walbridge/proto/walbridge/v1"
)

// options are the command's flags.
type options struct {
	workDir    string
	records    int
	partitions int
	seed       uint64
	killDaemon bool
	wrongByte  string
	gcs        bool
	s3         bool
}

// zones are the demo's; the last one is lost on the way.
var zones = []string{"zone-a", "zone-b", "zone-c"}

// demo runs all of it and returns the figures of the last line. signalled ends with a signal to this process.
func demo(signalled context.Context, opts options, p *progress) (summary string, err error) {
	defer p.clear()
	if err := findJars(); err != nil {
		return "", err
	}
	dir, unlock, err := workDir(opts.workDir)
	if err != nil {
		return "", err
	}
	defer unlock()
	defer func() {
		if err != nil && signalled.Err() != nil {
			err = errors.New("interrupted")
		}
	}()
	s, err := start(signalled, dir, opts, p)
	if err != nil {
		return "", err
	}
	defer s.close()
	ctx, cancel := s.watch(signalled)
	defer cancel(nil)
	v, err := s.prove(ctx, opts, p)
	if err != nil {
		return "", errors.Join(s.cluster.Brokers[0].Ended(), err)
	}
	return v, nil
}

// prove produces, waits and verifies.
func (s *system) prove(ctx context.Context, opts options, p *progress) (summary string, err error) {
	if err := produce(ctx, s, opts, p); err != nil {
		return "", err
	}
	if err := s.awaitWAL(ctx, p); err != nil {
		return "", err
	}
	if err := s.awaitLostZone(ctx); err != nil {
		return "", err
	}
	if err := makeWrong(s, opts.wrongByte); err != nil {
		return "", err
	}
	v, err := verify(ctx, s, opts, p)
	if err != nil {
		return "", err
	}
	status, err := s.status(ctx)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("partitions=%d records=%d objects=%d bytes=%d zones=%d/%d",
		v.Partitions, v.Records, v.Objects, v.Bytes, healthy(status), len(status.Zones)), nil
}

// findJars fails where something is missing that the demo runs and did not build.
func findJars() error {
	_, agent := artifact.AgentJar()
	_, verifier := artifact.VerifyJar()
	_, libs := artifact.KafkaLibs(kafka.Newest)
	_, java := artifact.Java()
	for _, err := range []error{agent, verifier, libs, java} {
		if err != nil {
			return err
		}
	}
	return nil
}

func healthy(r *walbridgev1.GetStatusResponse) int {
	n := 0
	for _, zone := range r.Zones {
		if zone.State == walbridgev1.ZoneState_ZONE_STATE_HEALTHY {
			n++
		}
	}
	return n
}
