package versions

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"time"

	"github.com/walbridge/walbridge/integration/artifact"
	"github.com/walbridge/walbridge/integration/kafka"
)

// neighbour is a javaagent of other people in the command line of our agent's broker. It serves Prometheus metrics.
type neighbour struct {
	jar string
	// first is whether it comes before ours.
	first bool
	// config is the file that tells it what to export.
	config string
	// arguments are the -javaagent option's, and other options, for a port and the file.
	arguments func(port int, config string) (argument string, options []string)
	// broker and ours are metrics that must be there, with a value.
	broker, ours string

	port int
}

func jmxExporter(first bool) *neighbour {
	return &neighbour{
		jar: "jmx_prometheus_javaagent.jar", first: first,
		config: "includeObjectNames: ['kafka.server:type=BrokerTopicMetrics,*', 'walbridge:*']\n",
		arguments: func(port int, config string) (string, []string) {
			return fmt.Sprintf("=127.0.0.1:%d:%s", port, config), nil
		},
		broker: `kafka_server_BrokerTopicMetrics_Count\{[^}]*name="MessagesInPerSec"[^}]*\}`,
		ours:   `walbridge_RemoteWalManager_Records`,
	}
}

func openTelemetry(first bool) *neighbour {
	return &neighbour{
		jar: "opentelemetry-javaagent.jar", first: first,
		config: `rules:
  - bean: walbridge:type=RemoteWalManager
    mapping:
      Records: {metric: walbridge.records, type: counter, unit: "{record}", desc: Records stored}
`,
		arguments: func(port int, config string) (string, []string) {
			return "", []string{
				"-Dotel.traces.exporter=none", "-Dotel.logs.exporter=none", "-Dotel.metrics.exporter=prometheus",
				"-Dotel.exporter.prometheus.host=127.0.0.1", fmt.Sprintf("-Dotel.exporter.prometheus.port=%d", port),
				"-Dotel.jmx.target.system=kafka-broker", "-Dotel.jmx.config=" + config,
				// How often it looks for new MBeans.
				"-Dotel.jmx.discovery.delay=1000",
			}
		},
		broker: `kafka_message_count[a-z_]*\{[^}]*\}`,
		ours:   `walbridge_records[a-z_]*\{[^}]*\}`,
	}
}

// options installs the neighbour and returns the JVM's options, with ours among them.
func (n *neighbour) options(ctx context.Context, dir, ours string) ([]string, error) {
	root, err := artifact.Root()
	if err != nil {
		return nil, err
	}
	install := exec.CommandContext(ctx, filepath.Join(root, "integration", "javaagents", "install"))
	if out, err := install.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("integration/javaagents/install: %w: %s", err, out)
	}
	ports, err := kafka.FreePorts(1)
	if err != nil {
		return nil, err
	}
	n.port = ports[0]
	config := filepath.Join(dir, "neighbour.yaml")
	if err := os.WriteFile(config, []byte(n.config), 0o644); err != nil {
		return nil, err
	}
	argument, options := n.arguments(n.port, config)
	theirs := "-javaagent:" + filepath.Join(root, ".cache", "javaagents", n.jar) + argument
	if n.first {
		return append(options, theirs, ours), nil
	}
	return append(options, ours, theirs), nil
}

// showsMetrics waits until the neighbour has seen records that the broker took and that our agent stored.
func (n *neighbour) showsMetrics(ctx context.Context) error {
	const patience = time.Minute
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		body, err := n.scrape(ctx)
		if err == nil {
			err = errors.Join(counts(body, n.broker), counts(body, n.ours))
		}
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: waited %v: %w", n.jar, patience, err)
		case <-time.After(250 * time.Millisecond):
		}
	}
}

func (n *neighbour) scrape(ctx context.Context) ([]byte, error) {
	url := fmt.Sprintf("http://127.0.0.1:%d/metrics", n.port)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	return io.ReadAll(response.Body)
}

// counts fails unless the metric, a regular expression, is there and has got to all the records.
func counts(body []byte, metric string) error {
	for _, found := range regexp.MustCompile(`(?m)^`+metric+` (\S+)`).FindAllSubmatch(body, -1) {
		if value, err := strconv.ParseFloat(string(found[1]), 64); err == nil && value >= records {
			return nil
		}
	}
	return fmt.Errorf("no metric %s of at least %d", metric, records)
}
