// Package kafka runs real, stock Kafka brokers from the jars that ./install has fetched: KRaft clusters of one or more
// combined nodes on loopback, each broker a process that can be stopped, killed and started again.
package kafka

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/twmb/franz-go/pkg/kgo"
	"golang.org/x/sync/errgroup"

	"github.com/walbridge/walbridge/integration/artifact"
)

// Config describes a cluster. Only Dir must be set.
type Config struct {
	// Dir holds everything of the cluster: a directory for each broker, with its log directories and its log file.
	Dir string
	// Version defaults to Newest.
	Version string
	// Libs is the directory with the broker's jars; default those of the version, as ./install has fetched them.
	Libs string
	// Java is the JVM's launcher; default the one in PATH.
	Java string
	// Brokers is how many there are, with the ids 1, 2, …; default 1. The first three are controllers too.
	Brokers int
	// LogDirs is how many log directories each broker has; default 1.
	LogDirs int
	// Options are further options of the JVM, what KAFKA_OPTS is for Kafka's scripts.
	Options []string
	// ClassPath is what the brokers have on their class path besides the distribution.
	ClassPath []string
	// Protocol is the security protocol of the brokers' only listener for clients and each other; default PLAINTEXT.
	// Properties have to say how they authenticate.
	Protocol string
	// Client is what a client must be told to get in, besides an address.
	Client []kgo.Opt
	// Heap is the JVM's -Xmx; default 512m.
	Heap string
	// Properties are added to every broker's server.properties; they win over the defaults.
	Properties map[string]string
}

// Cluster is a set of brokers. Its methods are for one goroutine.
type Cluster struct {
	// ID is the Kafka cluster's id.
	ID      string
	Brokers []*Broker

	cfg Config
}

// New lays the cluster out and formats its storage. It starts nothing.
func New(ctx context.Context, cfg Config) (*Cluster, error) {
	if cfg.Version == "" {
		cfg.Version = Newest
	}
	if cfg.Protocol == "" {
		cfg.Protocol = "PLAINTEXT"
	}
	if cfg.Heap == "" {
		cfg.Heap = "512m"
	}
	cfg.Brokers = max(1, cfg.Brokers)
	cfg.LogDirs = max(1, cfg.LogDirs)
	if err := cfg.find(); err != nil {
		return nil, err
	}
	c := &Cluster{ID: newClusterID(), cfg: cfg}
	ports, err := FreePorts(2 * cfg.Brokers)
	if err != nil {
		return nil, err
	}
	for i := range cfg.Brokers {
		c.Brokers = append(c.Brokers, newBroker(c, i+1, ports[2*i], ports[2*i+1]))
	}
	group, ctx := errgroup.WithContext(ctx)
	for _, b := range c.Brokers {
		group.Go(func() error { return b.format(ctx) })
	}
	return c, group.Wait()
}

// find looks for what a broker runs from, where the configuration does not say.
func (cfg *Config) find() (err error) {
	if cfg.Java == "" {
		if cfg.Java, err = artifact.Java(); err != nil {
			return err
		}
	}
	if cfg.Libs == "" {
		cfg.Libs, err = artifact.KafkaLibs(cfg.Version)
	}
	return err
}

// Start starts every broker and returns when each of them knows all the others.
func (c *Cluster) Start(ctx context.Context) error {
	for _, b := range c.Brokers {
		if err := b.launch(); err != nil {
			return err
		}
	}
	for _, b := range c.Brokers {
		if err := b.ready(ctx, len(c.Brokers)); err != nil {
			return err
		}
	}
	return nil
}

// Close kills what still runs. The files stay.
func (c *Cluster) Close() {
	for _, b := range c.Brokers {
		b.Kill()
	}
}

// Addresses are the bootstrap servers.
func (c *Cluster) Addresses() []string {
	var addrs []string
	for _, b := range c.Brokers {
		addrs = append(addrs, b.Address())
	}
	return addrs
}

// classPath is the class path of a broker: the distribution's libs, as Kafka's scripts set it, and what was added.
func (c *Cluster) classPath() string {
	return strings.Join(append([]string{filepath.Join(c.cfg.Libs, "*")}, c.cfg.ClassPath...), ":")
}

// newClusterID makes an id as Kafka does: 16 random bytes in base64url. One that starts with a dash would be read as an
// option by Kafka's tools.
func newClusterID() string {
	var b [16]byte
	for {
		rand.Read(b[:])
		if id := base64.RawURLEncoding.EncodeToString(b[:]); id[0] != '-' {
			return id
		}
	}
}

func writeFile(path, content string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}
