package noharm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/walbridge/walbridge/integration/artifact"
)

// metrics are what the broker's metrics reporter was told of the agent, by name.
func (r *Rig) metrics() (map[string]float64, error) {
	text, err := os.ReadFile(r.metricsFile())
	if err != nil {
		return nil, fmt.Errorf("the reporter's file: %w", err)
	}
	metrics := map[string]float64{}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		if metrics[name], err = strconv.ParseFloat(value, 64); err != nil {
			return nil, fmt.Errorf("the reporter's file: %s: %w", name, err)
		}
	}
	return metrics, nil
}

// metric waits until one of them is what is wanted.
func (r *Rig) metric(ctx context.Context, name string, wanted func(float64) bool) error {
	return eventually(ctx, func() error {
		metrics, err := r.metrics()
		if err != nil {
			return err
		}
		if value, ok := metrics[name]; !ok || !wanted(value) {
			return fmt.Errorf("the metric %s is %v (%v)", name, value, ok)
		}
		return nil
	})
}

func is(want float64) func(float64) bool { return func(got float64) bool { return got == want } }

// beans are the attributes of the agent's MBean.
type beans struct {
	Enabled        bool
	Topics         []string
	RefusedTopics  map[string]string
	Records        int64
	SkippedRecords int64
	LagRecords     int64
	WalStarts      map[string]int64
	WalEnds        map[string]int64
}

// jmx asks the agent over JMX; with a word, true or false, it switches the upload before.
func (r *Rig) jmx(ctx context.Context, word ...string) (*beans, error) {
	jar, err := artifact.VerifyJar()
	if err != nil {
		return nil, err
	}
	out, err := r.java(ctx, jar, "io.walbridge.verify.Jmx", append([]string{strconv.Itoa(r.leader().PID())}, word...)...)
	if err != nil {
		return nil, err
	}
	b := new(beans)
	if err := json.Unmarshal(out, b); err != nil {
		return nil, fmt.Errorf("the agent's MBean: %w: %s", err, out)
	}
	return b, nil
}

// configure alters the leader's dynamic configuration, as kafka-configs.sh does: key=value sets, key alone deletes.
func (r *Rig) configure(ctx context.Context, entries ...string) error {
	var alter []kadm.AlterConfig
	for _, entry := range entries {
		key, value, set := strings.Cut(entry, "=")
		if set {
			alter = append(alter, kadm.AlterConfig{Op: kadm.SetConfig, Name: key, Value: &value})
		} else {
			alter = append(alter, kadm.AlterConfig{Op: kadm.DeleteConfig, Name: key})
		}
	}
	responses, err := r.admin.AlterBrokerConfigs(ctx, alter, int32(r.leader().ID))
	for _, response := range responses {
		err = errors.Join(err, response.Err)
	}
	if err != nil {
		return fmt.Errorf("alter the broker's configuration, %q: %w", entries, err)
	}
	return nil
}

// java runs a main class and returns what it prints.
func (r *Rig) java(ctx context.Context, classPath, main string, args ...string) ([]byte, error) {
	java, err := artifact.Java()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	// It lives for a second: not worth an optimizing compiler.
	cmd := exec.CommandContext(ctx, java, append([]string{"-XX:TieredStopAtLevel=1", "-cp", classPath, main}, args...)...)
	var problem bytes.Buffer
	cmd.Stderr = &problem
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s %q: %w: %s%s", main, args, err, out, problem.Bytes())
	}
	return out, nil
}

// logged counts the lines of the leader's log that contain the text.
func (r *Rig) logged(text string) (int, error) {
	log, err := os.ReadFile(r.leader().LogFile())
	return strings.Count(string(log), text), err
}
