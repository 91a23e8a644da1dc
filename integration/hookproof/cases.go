package hookproof

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"golang.org/x/sync/errgroup"
)

// Figures are what a case measured, by name.
type Figures map[string]float64

// Case is one thing to be shown. The cases share a rig, one after the other.
type Case struct {
	Name string
	Run  func(ctx context.Context, r *Rig) (Figures, error)
	// Measures is set where nothing is shown that a test could fail for.
	Measures bool
}

// Cases are all there are, in the order in which they run.
var Cases = []Case{
	{Name: "suppress", Run: suppress},
	{Name: "agentless", Run: agentless},
	{Name: "election", Run: election},
	{Name: "daemon-killed", Run: daemonKilled},
	{Name: "truncation", Run: truncation},
	{Name: "restart", Run: restart},
	{Name: "cost", Run: cost, Measures: true},
}

// What replication must and may not do, in shares of the topic's bytes.
const (
	mostThroughWAL = 0.8
	littleByBroker = 0.3
)

// suppress: what brokers 1 and 2 lead goes to the other through the WAL, hardly any of it over the wire.
func suppress(ctx context.Context, r *Rig) (Figures, error) {
	const topic = "proof-pairs"
	if err := r.create(ctx, topic, []int32{1, 2}, []int32{2, 1}, []int32{1, 2}, []int32{2, 1}); err != nil {
		return nil, err
	}
	grown, size, err := r.through(ctx, topic, 30_000, func(grown counts, size float64) bool {
		return grown["InjectedBytes"] >= mostThroughWAL*size && grown["ReplicationBytesOut"] <= littleByBroker*size
	})
	if err != nil {
		return nil, err
	}
	return Figures{
		"bytes": size, "injected_share": grown["InjectedBytes"] / size,
		"replicated_share": grown["ReplicationBytesOut"] / size,
		"suppressed_reads": grown["SuppressedReads"], "waiting_reads": grown["WaitingReads"],
		"record_reads": grown["RecordReads"], "injected_records": grown["InjectedRecords"],
		"pointers": grown["PointersSent"], "field_bytes_per_pointer": grown["PointerFieldBytes"] / grown["PointersSent"],
		"responses_with_pointers": grown["ResponsesWithPointers"],
		"parked_checks":           grown["ParkedChecks"], "parked_with_pointers": grown["ParkedWithPointers"],
		"expired_fetches": grown["ExpiredFetches"],
		"nested_reads":    grown["NestedReads"],
		"fetched_extents": grown["FetchedExtents"], "fetch_ms": grown["FetchMicros"] / grown["FetchedExtents"] / 1000,
		"waits": grown["Waits"], "wait_ms": grown["WaitMicros"] / 1000, "waits_in_vain": grown["WaitsInVain"],
	}, nil
}

// agentless: broker 3 gets records from the same leader that gives pointers to broker 2.
func agentless(ctx context.Context, r *Rig) (Figures, error) {
	const topic = "proof-mixed"
	if err := r.create(ctx, topic, []int32{1, 2, 3}, []int32{1, 2, 3}); err != nil {
		return nil, err
	}
	grown, size, err := r.through(ctx, topic, 20_000, func(grown counts, size float64) bool {
		sent := grown["ReplicationBytesOut.1"]
		return grown["InjectedBytes.2"] >= mostThroughWAL*size && sent >= size && sent <= (1+littleByBroker)*size
	})
	if err != nil {
		return nil, err
	}
	return Figures{"bytes": size, "injected_share": grown["InjectedBytes.2"] / size,
		"replicated_share": grown["ReplicationBytesOut.1"] / size}, nil
}

// election: leadership moves to the other broker under load, and back.
func election(ctx context.Context, r *Rig) (Figures, error) {
	const topic = "proof-moves"
	if err := r.create(ctx, topic, []int32{1, 2}, []int32{1, 2}); err != nil {
		return nil, err
	}
	before, err := r.counts(ctx)
	if err != nil {
		return nil, err
	}
	const records = 60_000
	var acked atomic.Int64
	group, loading := errgroup.WithContext(ctx)
	group.Go(func() error { return r.loadCounted(loading, topic, records, 3, &acked) })
	group.Go(func() error {
		for i, leader := range []int32{2, 1, 2} {
			reached := func() error {
				if n := acked.Load(); n < int64((i+1)*records/4) {
					return fmt.Errorf("%d records acknowledged", n)
				}
				return nil
			}
			if err := r.await(loading, "some records are acknowledged", reached); err != nil {
				return err
			}
			if err := r.prefer(loading, topic, leader); err != nil {
				return err
			}
		}
		return nil
	})
	if err := group.Wait(); err != nil {
		return nil, err
	}
	grown, size, err := r.after(ctx, topic, before)
	if err != nil {
		return nil, err
	}
	if grown["InjectedBytes.1"] == 0 || grown["InjectedBytes.2"] == 0 {
		return nil, fmt.Errorf("injected %.0f bytes at broker 1, %.0f at broker 2", grown["InjectedBytes.1"],
			grown["InjectedBytes.2"])
	}
	return Figures{
		"bytes": size, "injected_share": grown["InjectedBytes"] / size,
		"replicated_share": grown["ReplicationBytesOut"] / size, "rejected_offers": grown["RejectedOffers"],
	}, nil
}

// daemonKilled: without either daemon leaders send records; with them back, pointers.
func daemonKilled(ctx context.Context, r *Rig) (Figures, error) {
	const topic = "proof-outage"
	if err := r.create(ctx, topic, []int32{1, 2}, []int32{1, 2}); err != nil {
		return nil, err
	}
	figures := Figures{}
	for i, name := range []string{"leaders", "followers"} {
		r.daemons[i].Kill()
		began := time.Now()
		grown, size, err := r.measured(ctx, topic, 10_000, uint64(4+i))
		if err != nil {
			return nil, fmt.Errorf("without the %s daemon: %w", name, err)
		}
		if grown["ReplicationBytesOut.1"] < mostThroughWAL*size {
			return nil, fmt.Errorf("without the %s daemon broker 1 sent %.0f bytes of %.0f", name,
				grown["ReplicationBytesOut.1"], size)
		}
		figures["without_"+name+"_seconds"] = time.Since(began).Seconds()
		if err := r.daemons[i].Start(ctx); err != nil {
			return nil, err
		}
	}
	_, _, err := r.through(ctx, topic, 3_000, func(grown counts, size float64) bool {
		return grown["InjectedBytes.2"] >= mostThroughWAL*size
	})
	return figures, err
}

// truncation: broker 1 dies with records that broker 2 lacks. Broker 2 leads on without them, and broker 1 comes back,
// cuts them off and takes what broker 2 wrote instead, although the WAL holds both.
func truncation(ctx context.Context, r *Rig) (Figures, error) {
	const topic = "proof-cut"
	if err := r.create(ctx, topic, []int32{1, 2}); err != nil {
		return nil, err
	}
	if err := r.load(ctx, topic, 3_000, 7); err != nil {
		return nil, err
	}
	if _, err := r.sameLogs(ctx, topic); err != nil {
		return nil, err
	}
	leader, follower := r.broker(1), r.broker(2)
	if err := follower.Pause(); err != nil {
		return nil, err
	}
	paused := true
	defer func() {
		if paused {
			_ = follower.Resume() // It has ended: that is told elsewhere.
		}
	}()
	lost, err := r.produceToLeader(ctx, topic, "lost", 200)
	if err != nil {
		return nil, err
	}
	leader.Kill()
	if err := follower.Resume(); err != nil {
		return nil, err
	}
	paused = false
	if err := r.electLive(ctx, topic, 2); err != nil {
		return nil, err
	}
	kept, err := r.produceToLeader(ctx, topic, "kept", 1)
	if err != nil {
		return nil, err
	}
	if kept >= lost {
		return nil, fmt.Errorf("broker 2 has every record up to %d that broker 1 had up to %d", kept, lost)
	}
	if _, err := r.produceToLeader(ctx, topic, "kept", 300); err != nil {
		return nil, err
	}
	if err := leader.Start(ctx); err != nil {
		return nil, err
	}
	if err := r.prefer(ctx, topic, 2); err != nil {
		return nil, err
	}
	// What broker 1 still lacked when it came back may be too old for pointers; this is not.
	grown, size, err := r.through(ctx, topic, 6_000, func(grown counts, size float64) bool {
		return grown["InjectedBytes.1"] >= mostThroughWAL*size
	})
	if err != nil {
		return nil, err
	}
	return Figures{"records_cut": float64(lost - kept + 1), "bytes": size,
		"injected_share": grown["InjectedBytes.1"] / size}, nil
}

// restart: a broker stops cleanly with the hooks woven in, and comes back to where it was.
func restart(ctx context.Context, r *Rig) (Figures, error) {
	const topic = "proof-restart"
	if err := r.create(ctx, topic, []int32{1, 2}); err != nil {
		return nil, err
	}
	stopping, cancel := context.WithTimeout(ctx, settled)
	defer cancel()
	began := time.Now()
	if err := r.broker(1).Stop(stopping); err != nil {
		return nil, err
	}
	stopped := time.Since(began)
	if err := r.broker(1).Start(ctx); err != nil {
		return nil, err
	}
	if err := r.prefer(ctx, topic, 1); err != nil {
		return nil, err
	}
	_, _, err := r.through(ctx, topic, 6_000, func(grown counts, size float64) bool {
		return grown["InjectedBytes.2"] >= mostThroughWAL*size
	})
	return Figures{"stop_seconds": stopped.Seconds()}, err
}

// produceToLeader produces records, in batches of one, that the leader alone acknowledges, and returns the last
// one's offset.
func (r *Rig) produceToLeader(ctx context.Context, topic, value string, records int) (int64, error) {
	client, err := kgo.NewClient(kgo.SeedBrokers(r.cluster.Addresses()...), kgo.DisableIdempotentWrite(),
		kgo.RequiredAcks(kgo.LeaderAck()), kgo.MetadataMinAge(20*time.Millisecond),
		kgo.RecordDeliveryTimeout(settled))
	if err != nil {
		return 0, err
	}
	defer client.Close()
	last := int64(-1)
	for range records {
		produced := client.ProduceSync(ctx, &kgo.Record{Topic: topic, Value: []byte(value)})
		if err := produced.FirstErr(); err != nil {
			return 0, fmt.Errorf("produce to %s: %w", topic, err)
		}
		last = produced[0].Record.Offset
	}
	return last, nil
}

// cost: the same load on a topic whose followers get records and on one whose followers get pointers, in turn.
func cost(ctx context.Context, r *Rig) (Figures, error) {
	topics := []string{"plain", "proof-cost"}
	for _, topic := range topics {
		if err := r.create(ctx, topic, []int32{1, 2}, []int32{2, 1}, []int32{1, 2}, []int32{2, 1}); err != nil {
			return nil, err
		}
	}
	cpu, size := [2]float64{}, [2]float64{}
	for i, topic := range []int{0, 1, 1, 0} {
		grown, bytes, err := r.measured(ctx, topics[topic], 30_000, uint64(9+i))
		if err != nil {
			return nil, err
		}
		cpu[topic], size[topic] = cpu[topic]+grown["CPUSeconds"], size[topic]+bytes
	}
	if size[0] == 0 || size[1] == 0 {
		return nil, errors.New("nothing was produced")
	}
	const gb = 1e9
	return Figures{"cpu_s_per_gb_records": cpu[0] / size[0] * gb, "cpu_s_per_gb_pointers": cpu[1] / size[1] * gb}, nil
}

// through puts loads on the topic until one has gone through the WAL as enough says, for a minute. After a start or a
// failure, and wherever a busy machine stalls for a second, leaders send records for some seconds.
func (r *Rig) through(ctx context.Context, topic string, records int, enough func(counts, float64) bool) (
	grown counts, size float64, err error,
) {
	seed := uint64(100)
	err = r.await(ctx, topic+" goes through the WAL", func() error {
		seed++
		if grown, size, err = r.measured(ctx, topic, records, seed); err == nil && !enough(grown, size) {
			err = fmt.Errorf("of %.0f bytes not enough: %v", size, grown)
		}
		return err
	})
	return grown, size, err
}

// measured puts a load on the topic, waits until the replicas are the same, and returns what has grown meanwhile, and
// by how many bytes a replica has.
func (r *Rig) measured(ctx context.Context, topic string, records int, seed uint64) (counts, float64, error) {
	had, err := r.sizeOf(ctx, topic)
	if err != nil {
		return nil, 0, err
	}
	before, err := r.counts(ctx)
	if err != nil {
		return nil, 0, err
	}
	if err := r.load(ctx, topic, records, seed); err != nil {
		return nil, 0, err
	}
	grown, size, err := r.after(ctx, topic, before)
	return grown, size - had, err
}

func (r *Rig) after(ctx context.Context, topic string, before counts) (counts, float64, error) {
	size, err := r.sameLogs(ctx, topic)
	if err != nil {
		return nil, 0, err
	}
	now, err := r.counts(ctx)
	if err != nil {
		return nil, 0, err
	}
	return now.since(before), float64(size), nil
}

func (r *Rig) sizeOf(ctx context.Context, topic string) (float64, error) {
	partitions, err := r.partitions(ctx, topic)
	if err != nil {
		return 0, err
	}
	var size int
	for _, p := range partitions {
		log, err := r.log(int(p.Leader), topic, p.Partition)
		if err != nil {
			return 0, err
		}
		size += len(log)
	}
	return float64(size), nil
}
