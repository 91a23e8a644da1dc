package kafka

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/walbridge/walbridge/integration/process"
)

// Broker is one combined node of a cluster.
type Broker struct {
	ID      int
	LogDirs []string
	// Properties are what server.properties will say at the next Start.
	Properties map[string]string
	// Options are options of the JVM at the next Start, besides the cluster's.
	Options []string

	cluster    *Cluster
	dir        string
	port       int
	controller int
	process    *process.Process
}

func newBroker(c *Cluster, id, port, controller int) *Broker {
	b := &Broker{ID: id, cluster: c, port: port, controller: controller}
	b.dir = filepath.Join(c.cfg.Dir, fmt.Sprintf("broker-%d", id))
	for i := range c.cfg.LogDirs {
		b.LogDirs = append(b.LogDirs, filepath.Join(b.dir, fmt.Sprintf("log-%d", i)))
	}
	return b
}

// Address is where clients reach the broker.
func (b *Broker) Address() string { return loopback(b.port) }

// LogFile is the file with all that the broker's JVM prints.
func (b *Broker) LogFile() string { return filepath.Join(b.dir, "broker.log") }

// Start starts the broker and returns when it takes part in the cluster.
func (b *Broker) Start(ctx context.Context) error {
	if err := b.launch(); err != nil {
		return err
	}
	return b.ready(ctx, 1)
}

// Stop stops the broker cleanly, as SIGTERM does. When ctx ends first it is killed, and Stop fails.
func (b *Broker) Stop(ctx context.Context) error { return b.process.Stop(ctx) }

// Kill kills the broker where it stands and waits until it is gone. One that does not run is left so.
func (b *Broker) Kill() {
	if b.process != nil {
		b.process.Kill()
	}
}

// Pause stops the broker's process without its knowledge, until Resume.
func (b *Broker) Pause() error { return b.process.Pause() }

// Resume lets a paused broker go on.
func (b *Broker) Resume() error { return b.process.Resume() }

// PID is the id of the process that was started last.
func (b *Broker) PID() int { return b.process.PID() }

// Exited is closed when the broker that was started last has ended.
func (b *Broker) Exited() <-chan struct{} { return b.process.Exited() }

// Ended is nil while the broker runs; afterwards it says how it ended and what it logged last.
func (b *Broker) Ended() error { return b.process.Ended() }

func (b *Broker) format(ctx context.Context) error {
	if err := b.writeProperties(); err != nil {
		return err
	}
	if err := writeFile(b.log4j(), log4jConfig); err != nil {
		return err
	}
	p, err := process.Start(process.Spec{
		Name: fmt.Sprintf("format of broker %d", b.ID),
		Path: b.cluster.cfg.Java,
		// The JVM lives for a second: not worth an optimizing compiler.
		Args: []string{"-Xmx128m", "-XX:TieredStopAtLevel=1", "-Dlog4j2.configurationFile=" + b.log4j(),
			"-cp", b.cluster.classPath(), "kafka.tools.StorageTool",
			"format", "--cluster-id", b.cluster.ID, "--config", b.propertiesFile()},
		Log: b.LogFile(),
	})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	return p.Wait(ctx)
}

func (b *Broker) launch() error {
	if err := b.writeProperties(); err != nil {
		return err
	}
	args := []string{"-Xmx" + b.cluster.cfg.Heap, "-Xms" + b.cluster.cfg.Heap, "-XX:+ExitOnOutOfMemoryError",
		"-Djava.awt.headless=true", "-Dlog4j2.configurationFile=" + b.log4j()}
	args = append(args, b.cluster.cfg.Options...)
	args = append(args, b.Options...)
	args = append(args, "-cp", b.cluster.classPath(), "kafka.Kafka", b.propertiesFile())
	p, err := process.Start(process.Spec{
		Name: fmt.Sprintf("broker %d", b.ID), Path: b.cluster.cfg.Java, Args: args, Log: b.LogFile(),
	})
	if err != nil {
		return err
	}
	b.process = p
	return nil
}

// ready waits until the broker itself says that it and at least want brokers are in the cluster.
func (b *Broker) ready(ctx context.Context, want int) error {
	ctx, cancel := context.WithTimeoutCause(ctx, 2*time.Minute, errors.New("not ready within two minutes"))
	defer cancel()
	client, err := kgo.NewClient(append(b.cluster.cfg.Client,
		kgo.SeedBrokers(b.Address()), kgo.MetadataMinAge(10*time.Millisecond))...)
	if err != nil {
		return fmt.Errorf("broker %d: client: %w", b.ID, err)
	}
	defer client.Close()
	return b.process.Await(ctx, "it has joined the cluster", func(ctx context.Context) error {
		brokers, err := kadm.NewClient(client).ListBrokers(ctx)
		if err != nil {
			return err
		}
		self := false
		for _, id := range brokers.NodeIDs() {
			self = self || int(id) == b.ID
		}
		if !self || len(brokers) < want {
			return fmt.Errorf("it knows of %d of %d brokers", len(brokers), want)
		}
		return nil
	})
}

func loopback(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }
