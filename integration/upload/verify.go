package upload

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
	"github.com/walbridge/walbridge/integration/daemon"
	"github.com/walbridge/walbridge/integration/kafka"
	"github.com/walbridge/walbridge/integration/process"
)

// Verified is what the verifier found to be stored as the broker's log has it, byte for byte.
type Verified struct {
	Partitions     int   `json:"partitions"`
	Records        int   `json:"records"`
	ControlRecords int   `json:"control_records"`
	Objects        int   `json:"objects"`
	Entries        int   `json:"entries"`
	Bytes          int64 `json:"bytes"`
	// LogBytes counts each batch once, however often it is stored.
	LogBytes int64 `json:"log_bytes"`
	// TruncatedBatches are stored, and no longer in the log.
	TruncatedBatches int64 `json:"truncated_batches"`
	// Batches counts record batches by codec, by how they were produced, and by marker.
	Batches map[string]int `json:"batches"`
}

// Verify reads every stored entry of the topics back through the shim and compares it with the broker's segment files,
// which may be of a broker that runs or has run. The first thing that is wrong is the error. It takes at most two
// minutes; dir gets the verifier's log.
func Verify(ctx context.Context, dir string, c *kafka.Cluster, b *kafka.Broker, d *daemon.Daemon, topics []string) (
	*Verified, error,
) {
	return verify(ctx, dir, c, b, d, "--topics", strings.Join(topics, ","))
}

// VerifyPartitions is Verify of some partitions, by name (topic-partition), whose logs start at the offsets.
func VerifyPartitions(ctx context.Context, dir string, c *kafka.Cluster, b *kafka.Broker, d *daemon.Daemon,
	starts map[string]int64,
) (*Verified, error) {
	var partitions []string
	for _, partition := range slices.Sorted(maps.Keys(starts)) {
		partitions = append(partitions, fmt.Sprintf("%s:%d", partition, starts[partition]))
	}
	return verify(ctx, dir, c, b, d, "--partitions", strings.Join(partitions, ","))
}

func verify(ctx context.Context, dir string, c *kafka.Cluster, b *kafka.Broker, d *daemon.Daemon, what ...string) (
	*Verified, error,
) {
	classPath, err := verifierClassPath()
	if err != nil {
		return nil, err
	}
	java, err := artifact.Java()
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	child, err := process.Start(process.Spec{
		Name: "verifier", Path: java, Log: filepath.Join(dir, "verify.log"), Stdout: &out,
		Args: append([]string{"-Xmx512m", "-cp", classPath, "io.walbridge.verify.Main",
			"--target", d.Target(), "--cluster-id", c.ID, "--broker-id", strconv.Itoa(b.ID),
			"--log-dirs", strings.Join(b.LogDirs, ",")}, what...),
	})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, 2*time.Minute, errors.New("took longer than two minutes"))
	defer cancel()
	ended := child.Wait(ctx)
	var answer struct {
		Verified
		Error string `json:"error"`
	}
	if err := json.Unmarshal(out.Bytes(), &answer); err != nil {
		return nil, fmt.Errorf("the verifier's answer: %w", errors.Join(ended, err))
	}
	if answer.Error != "" {
		return nil, errors.New(answer.Error)
	}
	if ended != nil {
		return nil, ended
	}
	return &answer.Verified, nil
}

// verifierClassPath has the newest Kafka's classes: they read the segments of every version.
func verifierClassPath() (string, error) {
	verifier, err := artifact.VerifyJar()
	if err != nil {
		return "", err
	}
	agent, err := artifact.AgentJar()
	if err != nil {
		return "", err
	}
	libs, err := artifact.KafkaLibs(kafka.Newest)
	if err != nil {
		return "", err
	}
	return strings.Join([]string{verifier, agent, filepath.Join(libs, "*")}, ":"), nil
}
