package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/walbridge/walbridge/integration/kafka"
	"github.com/walbridge/walbridge/integration/upload"
)

// side is one of the two brokers that are compared.
type side struct {
	name    string
	cluster *kafka.Cluster
	broker  *kafka.Broker
	load    *brokerLoad
}

// brokers are a broker that uploads, to a daemon whose zones check what they get and discard it, and a stock one.
type brokers struct {
	dir        string
	wal, stock *side
	daemon     *daemonProcess
	lag        *lagProbe
	rate       float64 // Bytes a second, of the fixed rate.
}

// Topics of each broker. The idle ones are partitions of the WAL that nobody writes to.
const (
	loadTopic, loadPartitions = "load", 100
	idleTopic, idlePartitions = "idle", 1000
	probeTopic                = "probe"
)

func startBrokers(ctx context.Context) (_ *brokers, err error) {
	b := &brokers{}
	defer func() {
		if err != nil {
			b.close()
		}
	}()
	if b.dir, err = os.MkdirTemp(inMemory(), "walbridge-bench-"); err != nil {
		return nil, err
	}
	agent, err := upload.Option()
	if err != nil {
		return nil, err
	}
	if b.stock, err = newSide(ctx, b.dir, "stock"); err != nil {
		return nil, err
	}
	if b.wal, err = newSide(ctx, b.dir, "wal", agent); err != nil {
		return nil, err
	}
	const appending = 5 * time.Millisecond
	// In a process of its own, as it is in use: else its work would delay what the load sees of the broker.
	b.daemon, err = startDaemon(ctx, daemonSettings{
		Cluster: b.wal.cluster.ID, Create: appending, Append: appending, Linger: 10 * time.Millisecond, Lags: true,
	})
	if err != nil {
		return nil, err
	}
	b.lag = newLagProbe(b.daemon.stdout)
	b.wal.broker.Properties = upload.Settings(b.daemon.target(), ".*")
	for _, s := range []*side{b.wal, b.stock} {
		if err := s.start(ctx); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// inMemory is where the brokers' logs are: with a disk its write-back would be what is measured.
func inMemory() string {
	const shm = "/dev/shm"
	if info, err := os.Stat(shm); err == nil && info.IsDir() {
		return shm
	}
	return os.TempDir()
}

// weeksOld is for JVMs that are to be compared after minutes, as they are after weeks: what is called a hundred times a
// second is compiled for good after a tenth of the usual number of calls. Compiling is what costs then, and not yet
// being compiled.
var weeksOld = []string{"-XX:Tier4InvocationThreshold=500", "-XX:Tier4MinInvocationThreshold=60",
	"-XX:Tier4CompileThreshold=1500"}

// newSide lays a broker out, with the options of Kafka's own start script.
func newSide(ctx context.Context, dir, name string, options ...string) (*side, error) {
	c, err := kafka.New(ctx, kafka.Config{
		Dir: filepath.Join(dir, name), Heap: "1g",
		Options: slices.Concat([]string{"-server", "-XX:+UseG1GC", "-XX:MaxGCPauseMillis=20",
			"-XX:InitiatingHeapOccupancyPercent=35", "-XX:+ExplicitGCInvokesConcurrent"}, weeksOld, options),
		Properties: map[string]string{"log.retention.check.interval.ms": "5000"},
	})
	if err != nil {
		return nil, err
	}
	return &side{name: name, cluster: c, broker: c.Brokers[0]}, nil
}

func (s *side) start(ctx context.Context) error {
	if err := s.cluster.Start(ctx); err != nil {
		return err
	}
	client, err := kgo.NewClient(kgo.SeedBrokers(s.broker.Address()))
	if err != nil {
		return err
	}
	defer client.Close()
	admin := kadm.NewClient(client)
	text := func(s string) *string { return &s }
	// Together the segments that retention leaves fit into memory.
	small := map[string]*string{"segment.bytes": text("8388608"), "retention.bytes": text("8388608"),
		"file.delete.delay.ms": text("1000")}
	stamped := map[string]*string{"message.timestamp.type": text("LogAppendTime")}
	ids := map[string]kadm.TopicID{}
	for _, t := range []struct {
		name       string
		partitions int32
		configs    map[string]*string
	}{{idleTopic, idlePartitions, nil}, {loadTopic, loadPartitions, small}, {probeTopic, 1, stamped}} {
		created, err := admin.CreateTopic(ctx, t.partitions, 1, t.configs, t.name)
		if err != nil {
			return fmt.Errorf("%s broker: create topic %s: %w", s.name, t.name, err)
		}
		ids[t.name] = created.ID
	}
	s.load, err = newBrokerLoad(ctx, s.broker, ids)
	return err
}

// ended says whether something that ought to run does not.
func (b *brokers) ended() error { return errors.Join(b.wal.broker.Ended(), b.stock.broker.Ended()) }

func (b *brokers) close() {
	for _, s := range []*side{b.wal, b.stock} {
		if s == nil {
			continue
		}
		if s.load != nil {
			s.load.close()
		}
		s.cluster.Close()
	}
	if b.daemon != nil {
		_ = b.daemon.stop() // It has been measured.
	}
	_ = os.RemoveAll(b.dir)
}
