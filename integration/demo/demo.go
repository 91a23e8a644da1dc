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
	jars, err := findJars()
	if err != nil {
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
	s, err := start(signalled, dir, jars, opts, p)
	if err != nil {
		return "", err
	}
	defer s.close()
	ctx, cancel := s.watch(signalled)
	defer cancel(nil)
	v, err := s.prove(ctx, jars, opts, p)
	if err != nil {
		return "", errors.Join(s.cluster.Brokers[0].Ended(), err)
	}
	return v, nil
}

// prove produces, waits and verifies.
func (s *system) prove(ctx context.Context, j jars, opts options, p *progress) (summary string, err error) {
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
	v, err := verify(ctx, s, j, p)
	if err != nil {
		return "", err
	}
	if err := v.holds(opts); err != nil {
		return "", err
	}
	status, err := s.status(ctx)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("partitions=%d records=%d objects=%d bytes=%d zones=%d/%d",
		v.Partitions, v.Records, v.Objects, v.Bytes, healthy(status), len(status.Zones)), nil
}

// jars are what the demo runs and did not build.
type jars struct{ agent, verifier, kafka string }

func findJars() (j jars, err error) {
	var missing [4]error
	j.agent, missing[0] = artifact.AgentJar()
	j.verifier, missing[1] = artifact.VerifyJar()
	j.kafka, missing[2] = artifact.KafkaLibs(kafka.Newest)
	_, missing[3] = artifact.Java()
	for _, err := range missing {
		if err != nil {
			return jars{}, err
		}
	}
	return j, nil
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
