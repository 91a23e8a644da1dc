// Package hookproof shows, on real brokers, that a stock Kafka's followers can be fed through the WAL: brokers 1 and 2
// have the agent and a daemon each, broker 3 has neither.
package hookproof

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/walbridge/walbridge/integration/daemon"
	"github.com/walbridge/walbridge/integration/jmx"
	"github.com/walbridge/walbridge/integration/kafka"
	"github.com/walbridge/walbridge/integration/upload"
)

// Rig is the cluster and what belongs to it. Its methods are for one goroutine.
type Rig struct {
	cluster *kafka.Cluster
	// daemons are those of brokers 1 and 2. Both see the same zones.
	daemons [2]*daemon.Daemon
	// jmx are the ports where those brokers show their MBeans.
	jmx    [2]int
	client *kgo.Client
	admin  *kadm.Client
}

// Start starts all of it, in a directory that is there.
func Start(ctx context.Context, dir, version string) (r *Rig, err error) {
	r = &Rig{}
	defer func() {
		if err != nil {
			r.Close()
		}
	}()
	agent, err := upload.Option()
	if err != nil {
		return nil, err
	}
	r.cluster, err = kafka.New(ctx, kafka.Config{
		Dir: filepath.Join(dir, "kafka"), Version: version, Brokers: 3, Heap: "384m",
		Properties: map[string]string{
			// A dead broker is noticed early, and a lagging one would be within the test.
			"broker.session.timeout.ms": "6000",
			"replica.lag.time.max.ms":   "10000",
		},
	})
	if err != nil {
		return nil, err
	}
	ports, err := kafka.FreePorts(len(r.jmx))
	if err != nil {
		return nil, err
	}
	r.jmx = [2]int(ports)
	for i := range r.daemons {
		broker := r.cluster.Brokers[i]
		if r.daemons[i], err = newDaemon(ctx, dir, r.cluster.ID, broker.ID); err != nil {
			return nil, err
		}
		if err := r.daemons[i].Start(ctx); err != nil {
			return nil, err
		}
		broker.Options = append(jmx.Options(r.jmx[i]), agent)
		broker.Properties = maps.Clone(upload.Settings(r.daemons[i].Target(), `proof-.*,plain`))
		broker.Properties["remote.log.wal.follower.proof.topics"] = `proof-.*`
	}
	if err := r.cluster.Start(ctx); err != nil {
		return nil, err
	}
	r.client, err = kgo.NewClient(kgo.SeedBrokers(r.cluster.Addresses()...), kgo.MetadataMinAge(100*time.Millisecond))
	if err != nil {
		return nil, fmt.Errorf("client of the brokers: %w", err)
	}
	r.admin = kadm.NewClient(r.client)
	return r, nil
}

func newDaemon(ctx context.Context, dir, cluster string, broker int) (*daemon.Daemon, error) {
	own := filepath.Join(dir, strconv.Itoa(broker))
	if err := os.MkdirAll(own, 0o755); err != nil {
		return nil, fmt.Errorf("daemon of broker %d: %w", broker, err)
	}
	return daemon.New(ctx, daemon.Config{
		Dir: own, ZonesDir: filepath.Join(dir, "zones"), ClusterID: cluster, BrokerID: broker,
	})
}

// Close ends every process.
func (r *Rig) Close() {
	if r.client != nil {
		r.client.Close()
	}
	if r.cluster != nil {
		r.cluster.Close()
	}
	for _, d := range r.daemons {
		if d != nil {
			d.Close()
		}
	}
}

// broker is one by its id.
func (r *Rig) broker(id int) *kafka.Broker { return r.cluster.Brokers[id-1] }
