package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/walbridge/walbridge/backends"
	"github.com/walbridge/walbridge/integration/kafka"
)

const (
	// A record batch of a producer's default batch.size, 16 KiB.
	batchRecords = 16
	recordBytes  = 1000
	// connections is how many connections the load comes over: a broker serves the requests of one in turn.
	connections = 4
	// probes is how many a second go to the probe's topic beside the load.
	probes = 200
	// produceTimeout is far above anything that is measured.
	produceTimeout = 10 * time.Second
)

// brokerLoad produces to one broker with acks=1. Its record batches are encoded once, so that it costs little beside
// the broker; all of a run are the same but for the offsets, which are the broker's.
type brokerLoad struct {
	broker  int
	clients []*kgo.Client
	ids     map[string]kadm.TopicID
	batch   []byte
	probe   []byte
}

// newBrokerLoad returns when the broker takes records of the topics, which have just been created.
func newBrokerLoad(ctx context.Context, b *kafka.Broker, ids map[string]kadm.TopicID) (*brokerLoad, error) {
	l := &brokerLoad{
		broker: b.ID, ids: ids, batch: recordBatch(batchRecords, recordBytes), probe: recordBatch(1, 100),
	}
	for range connections {
		client, err := kgo.NewClient(kgo.SeedBrokers(b.Address()))
		if err != nil {
			l.close()
			return nil, err
		}
		l.clients = append(l.clients, client)
	}
	if err := l.ready(ctx); err != nil {
		l.close()
		return nil, err
	}
	return l, nil
}

func (l *brokerLoad) ready(ctx context.Context) error {
	const patience = 30 * time.Second
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		err := l.produce(ctx, 0, probeTopic, 0, l.probe)
		for partition := range int32(loadPartitions) {
			if err == nil {
				err = l.produce(ctx, 0, loadTopic, partition, l.batch)
			}
		}
		if err == nil {
			return nil
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("waited %v for the topics: %w", patience, err)
		}
	}
}

func (l *brokerLoad) close() {
	for _, client := range l.clients {
		client.Close()
	}
}

// recordBatch encodes a batch of format v2 with random values.
func recordBatch(records, size int) []byte {
	now := time.Now().UnixMilli()
	b := kmsg.RecordBatch{
		PartitionLeaderEpoch: -1, Magic: 2, LastOffsetDelta: int32(records - 1), FirstTimestamp: now, MaxTimestamp: now,
		ProducerID: -1, ProducerEpoch: -1, FirstSequence: -1, NumRecords: int32(records),
	}
	source := rand.NewChaCha8([32]byte{1})
	for i := range records {
		r := kmsg.Record{OffsetDelta: int32(i), Value: make([]byte, size)}
		_, _ = source.Read(r.Value) // It never fails.
		r.Length = int32(len(r.AppendTo(nil)) - 1)
		b.Records = r.AppendTo(b.Records)
	}
	const fromLength, fromCRC, crc = 12, 21, 17
	encoded := b.AppendTo(nil)
	binary.BigEndian.PutUint32(encoded[fromLength-4:], uint32(len(encoded)-fromLength))
	binary.BigEndian.PutUint32(encoded[crc:], backends.Checksum(encoded[fromCRC:]))
	return encoded
}

// produce sends a batch and returns when the broker has acknowledged it.
func (l *brokerLoad) produce(ctx context.Context, connection int, topic string, partition int32, batch []byte) error {
	request := kmsg.NewPtrProduceRequest()
	request.Acks, request.TimeoutMillis = 1, int32(produceTimeout.Milliseconds())
	request.Topics = []kmsg.ProduceRequestTopic{{
		Topic: topic, TopicID: l.ids[topic],
		Partitions: []kmsg.ProduceRequestTopicPartition{{Partition: partition, Records: batch}},
	}}
	response, err := l.clients[connection].Broker(l.broker).Request(ctx, request)
	if err != nil {
		return err
	}
	for _, t := range response.(*kmsg.ProduceResponse).Topics {
		for _, p := range t.Partitions {
			if err := kerr.ErrorForCode(p.ErrorCode); err != nil {
				return fmt.Errorf("produce to %s-%d: %w", topic, partition, err)
			}
		}
	}
	return nil
}

// paced starts batches at a rate of bytes a second, whatever becomes of the earlier ones, and the probes beside them.
// It returns each batch's time.
func (l *brokerLoad) paced(ctx context.Context, rate float64, d time.Duration) ([]float64, error) {
	ctx, cancel := context.WithTimeout(ctx, d+produceTimeout)
	defer cancel()
	var group sync.WaitGroup
	var probed error
	group.Go(func() {
		_, probed = l.every(time.Second/probes, d, func(int) error {
			return l.produce(ctx, 0, probeTopic, 0, l.probe)
		})
	})
	interval := time.Duration(float64(len(l.batch)) / rate * float64(time.Second))
	times, err := l.every(interval, d, func(i int) error {
		return l.produce(ctx, i%connections, loadTopic, int32(i%loadPartitions), l.batch)
	})
	group.Wait()
	return times, errors.Join(err, probed)
}

func (l *brokerLoad) every(interval, d time.Duration, send func(i int) error) ([]float64, error) {
	n := int(d / interval)
	times, errs := make([]float64, n), make([]error, n)
	var group sync.WaitGroup
	start := time.Now()
	for i := range n {
		time.Sleep(time.Until(start.Add(time.Duration(i) * interval)))
		group.Go(func() {
			// From when it is sent: that a timer of this program fires late is not the broker's time.
			sent := time.Now()
			errs[i] = send(i)
			times[i] = millis(time.Since(sent))
		})
	}
	group.Wait()
	return times, first(errs)
}

// first is the first error: of thousands, the others say the same.
func first(errs []error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// maximum keeps some batches in flight on every connection and returns the bytes a second.
func (l *brokerLoad) maximum(ctx context.Context, d time.Duration) (float64, error) {
	const inflight = 4 * connections
	ctx, cancel := context.WithTimeout(ctx, d+produceTimeout)
	defer cancel()
	var sent atomic.Int64
	var group sync.WaitGroup
	errs := make([]error, inflight)
	start := time.Now()
	for i := range inflight {
		group.Go(func() {
			for time.Since(start) < d && errs[i] == nil {
				partition := int32(sent.Add(1) % loadPartitions)
				errs[i] = l.produce(ctx, i%connections, loadTopic, partition, l.batch)
			}
		})
	}
	group.Wait()
	return float64(sent.Load()) * float64(len(l.batch)) / time.Since(start).Seconds(), first(errs)
}
