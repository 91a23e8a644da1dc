package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/walbridge/walbridge/integration/artifact"
	"github.com/walbridge/walbridge/integration/load"
	"github.com/walbridge/walbridge/integration/process"
)

// verified is what the verifier prints: what it found, or the first thing that is wrong.
type verified struct {
	Error          string         `json:"error"`
	Partitions     int            `json:"partitions"`
	Records        int            `json:"records"`
	ControlRecords int            `json:"control_records"`
	Objects        int            `json:"objects"`
	Entries        int            `json:"entries"`
	Bytes          int64          `json:"bytes"`
	Batches        map[string]int `json:"batches"`
}

// verify runs the Java verifier: it reads every entry back through the shim and compares with the broker's segments.
func verify(ctx context.Context, s *system, j jars, p *progress) (*verified, error) {
	p.now("reading every entry back through the shim, and comparing with the broker's segment files")
	java, err := artifact.Java()
	if err != nil {
		return nil, err
	}
	broker := s.cluster.Brokers[0]
	classPath := strings.Join([]string{j.verifier, j.agent, filepath.Join(j.kafka, "*")}, ":")
	args := []string{"-Xmx512m", "-cp", classPath, "io.walbridge.verify.Main",
		"--target", s.daemon.Target(), "--cluster-id", s.cluster.ID, "--broker-id", strconv.Itoa(broker.ID),
		"--log-dirs", strings.Join(broker.LogDirs, ","), "--topics", strings.Join(s.topics(), ",")}
	var out bytes.Buffer
	child, err := process.Start(process.Spec{
		Name: "verifier", Path: java, Args: args, Log: filepath.Join(s.dir, "verify.log"), Stdout: &out,
	})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, 2*time.Minute, errors.New("took longer than two minutes"))
	defer cancel()
	ended := child.Wait(ctx)
	v := new(verified)
	if err := json.Unmarshal(out.Bytes(), v); err != nil {
		return nil, fmt.Errorf("the verifier's answer: %w", errors.Join(ended, err))
	}
	if v.Error != "" {
		return nil, errors.New(v.Error)
	}
	if ended != nil {
		return nil, ended
	}
	p.done("%d entries, %d bytes, are the broker's own, byte for byte", v.Entries, v.Bytes)
	return v, nil
}

// holds checks that what was verified is what was produced.
func (v *verified) holds(opts options) error {
	if v.Partitions != opts.partitions {
		return fmt.Errorf("%d partitions verified, not %d", v.Partitions, opts.partitions)
	}
	if v.Records != opts.records {
		return fmt.Errorf("%d records verified, but %d produced", v.Records, opts.records)
	}
	const fewest = 1000 // below that not every producer has something to do
	if opts.records < fewest {
		return nil
	}
	kinds := append(slices.Sorted(maps.Keys(load.Codecs)), "plain", "idempotent", "transactional", "commit", "abort")
	for _, kind := range kinds {
		if v.Batches[kind] == 0 {
			return fmt.Errorf("no record batch of kind %s among those verified", kind)
		}
	}
	return nil
}
