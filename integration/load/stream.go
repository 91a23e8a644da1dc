package load

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// tick is how often a Stream produces a record to each of its partitions.
const tick = 10 * time.Millisecond

// mostPending is how many records a Stream has in flight: while brokers are down it waits.
const mostPending = 2000

// Stream produces to partitions that come and go, through elections, restarts and lost records: an error ends nothing.
// All methods are safe for concurrent use.
type Stream struct {
	clients []*kgo.Client
	source  *source
	stop    context.CancelFunc
	done    chan struct{}

	mu      sync.Mutex
	active  map[Partition]bool
	pending map[Partition]int
	acked   map[Partition]int64
	all     int
}

// StartStream starts producers of several kinds. They produce nothing until there is a partition.
func StartStream(brokers []string, seed uint64) (*Stream, error) {
	ctx, stop := context.WithCancel(context.Background())
	s := &Stream{
		source: newSource(Config{Seed: seed}, "stream"), stop: stop, done: make(chan struct{}),
		active: map[Partition]bool{}, pending: map[Partition]int{}, acked: map[Partition]int64{},
	}
	for _, opts := range [][]kgo.Opt{
		append(plain.options(""), kgo.ProducerBatchCompression(kgo.NoCompression())),
		append(plain.options(""), kgo.ProducerBatchCompression(kgo.Lz4Compression())),
		append(idempotent.options(""), kgo.ProducerBatchCompression(kgo.ZstdCompression())),
	} {
		client, err := kgo.NewClient(append(opts,
			kgo.SeedBrokers(brokers...),
			kgo.RecordPartitioner(kgo.ManualPartitioner()),
			kgo.MetadataMinAge(100*time.Millisecond),
			kgo.MetadataMaxAge(time.Second), // There may be more partitions.
			kgo.RetryBackoffFn(func(int) time.Duration { return 100 * time.Millisecond }),
			kgo.RecordDeliveryTimeout(patience))...)
		if err != nil {
			s.closeClients()
			return nil, fmt.Errorf("client of the stream: %w", err)
		}
		s.clients = append(s.clients, client)
	}
	go s.run(ctx)
	return s, nil
}

// Add begins to produce to the partitions.
func (s *Stream) Add(partitions ...Partition) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range partitions {
		s.active[p] = true
	}
}

// Remove ends that, for all partitions of the topics, and waits until nothing of them is in flight. The topics may then
// be deleted and others of the same names be created.
func (s *Stream) Remove(ctx context.Context, topics ...string) error {
	for _, topic := range topics {
		for s.remove(topic) > 0 {
			select {
			case <-ctx.Done():
				return fmt.Errorf("records of %s are in flight: %w", topic, context.Cause(ctx))
			case <-time.After(tick):
			}
		}
	}
	for _, client := range s.clients {
		client.PurgeTopicsFromProducing(topics...)
	}
	return nil
}

func (s *Stream) remove(topic string) (pending int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for p := range s.active {
		if p.Topic == topic {
			delete(s.active, p)
		}
	}
	for p, n := range s.pending {
		if p.Topic == topic {
			pending += n
		}
	}
	return pending
}

// Acked is how many records of the partition brokers have acknowledged.
func (s *Stream) Acked(p Partition) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.acked[p]
}

// Close ends the stream; what is in flight may arrive or not.
func (s *Stream) Close() {
	s.stop()
	s.closeClients()
	<-s.done
}

func (s *Stream) closeClients() {
	for _, client := range s.clients {
		client.Close()
	}
}

func (s *Stream) run(ctx context.Context) {
	defer close(s.done)
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		for _, p := range s.due() {
			r := s.source.record()
			r.Topic, r.Partition = p.Topic, p.ID
			client := s.clients[s.source.rand.IntN(len(s.clients))]
			client.TryProduce(ctx, r, func(_ *kgo.Record, err error) { s.ended(p, err) })
		}
	}
}

// due is the partitions to produce to now; they count as having one more record in flight.
func (s *Stream) due() []Partition {
	s.mu.Lock()
	defer s.mu.Unlock()
	var due []Partition
	for p := range s.active {
		if s.all < mostPending {
			s.all++
			s.pending[p]++
			due = append(due, p)
		}
	}
	return due
}

func (s *Stream) ended(p Partition, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all--
	s.pending[p]--
	if err == nil {
		s.acked[p]++
	}
}
