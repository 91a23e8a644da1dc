// Package load produces what real applications produce: plain, idempotent and transactional records, some of them in
// aborted transactions, with every compression codec, keys, headers and sizes.
package load

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"golang.org/x/sync/errgroup"
)

// Partition is where records may go.
type Partition struct {
	Topic string
	ID    int32
}

// Config describes a load.
type Config struct {
	Brokers    []string
	Partitions []Partition
	// Records is how many are produced in all, those of aborted transactions included.
	Records int
	Seed    uint64
	// Acked is called for every record that the broker has acknowledged, by many goroutines at once.
	Acked func()
}

// Codecs are the compression codecs by the names that Kafka gives them.
var Codecs = map[string]kgo.CompressionCodec{
	"none":   kgo.NoCompression(),
	"gzip":   kgo.GzipCompression(),
	"snappy": kgo.SnappyCompression(),
	"lz4":    kgo.Lz4Compression(),
	"zstd":   kgo.ZstdCompression(),
}

// patience is how long a record may take to be acknowledged, and a transaction to end.
const patience = 30 * time.Second

// Run produces the load, one producer for each mode and codec, all at once. It returns when every record is
// acknowledged, or with the first error, such as a record that was not acknowledged within 30 seconds. A plain producer
// whose connection breaks may write records twice.
func Run(ctx context.Context, cfg Config) error {
	modes := []mode{plain, idempotent, transactional}
	group, ctx := errgroup.WithContext(ctx)
	left, producers := cfg.Records, len(modes)*len(Codecs)
	for _, m := range modes {
		for codec := range Codecs {
			share := left / producers
			left, producers = left-share, producers-1
			group.Go(func() error {
				if err := produce(ctx, cfg, m, codec, share); err != nil {
					return fmt.Errorf("%s producer with codec %s: %w", m.name, codec, err)
				}
				return nil
			})
		}
	}
	return group.Wait()
}

func produce(ctx context.Context, cfg Config, m mode, codec string, records int) error {
	client, err := kgo.NewClient(append(m.options(codec),
		kgo.SeedBrokers(cfg.Brokers...),
		kgo.ProducerBatchCompression(Codecs[codec]),
		kgo.RecordPartitioner(kgo.ManualPartitioner()),
		// The client fetches metadata before it retries, such as while the last transaction's markers are written. By
		// default it would wait up to 5 seconds for that.
		kgo.MetadataMinAge(20*time.Millisecond),
		kgo.UnknownTopicRetries(-1), // a topic that was created a moment ago
		kgo.RecordDeliveryTimeout(patience))...)
	if err != nil {
		return err
	}
	defer client.Close()
	return m.run(ctx, &producer{client: client, cfg: cfg, source: newSource(cfg, m.name+codec), left: records})
}

// producer produces the share of one client.
type producer struct {
	client *kgo.Client
	cfg    Config
	source *source
	left   int
}

// some produces the next few hundred records and waits until they are acknowledged.
func (p *producer) some(ctx context.Context) error {
	n := min(p.left, 100+p.source.rand.IntN(700))
	p.left -= n
	failed := make(chan error, n) // never blocks a promise
	for range n {
		p.client.Produce(ctx, p.source.next(), func(r *kgo.Record, err error) {
			if err != nil {
				failed <- fmt.Errorf("produce to %s-%d: %w", r.Topic, r.Partition, err)
				return
			}
			p.cfg.Acked()
		})
	}
	if err := p.client.Flush(ctx); err != nil {
		return err
	}
	select {
	case err := <-failed:
		return err
	default:
		return nil
	}
}

// source makes records, the same ones for the same seed.
type source struct {
	rand       *rand.Rand
	partitions []Partition
	text       []byte
}

func newSource(cfg Config, name string) *source {
	var seed [32]byte
	copy(seed[:], fmt.Appendf(nil, "%d %s", cfg.Seed, name))
	s := &source{rand: rand.New(rand.NewChaCha8(seed)), partitions: cfg.Partitions}
	// Text that compresses about as well as what applications send.
	const letters = "etaoinshrdlu {}:,\"0123456789"
	for range 64 << 10 {
		s.text = append(s.text, letters[s.rand.IntN(len(letters))])
	}
	return s
}

// next is a record for one of the partitions.
func (s *source) next() *kgo.Record {
	to := s.partitions[s.rand.IntN(len(s.partitions))]
	r := s.record()
	r.Topic, r.Partition = to.Topic, to.ID
	return r
}

// record is for no partition yet. Most are small, one in 256 is large; some have no key, no value or no headers.
func (s *source) record() *kgo.Record {
	r := &kgo.Record{}
	if s.rand.IntN(8) > 0 {
		r.Key = s.cut(1 + s.rand.IntN(32))
	}
	switch s.rand.IntN(256) {
	case 0: // a tombstone
	case 1:
		r.Value = s.cut(s.rand.IntN(32 << 10))
	default:
		r.Value = s.cut(s.rand.IntN(512))
	}
	for range s.rand.IntN(3) {
		r.Headers = append(r.Headers, kgo.RecordHeader{Key: string(s.cut(8)), Value: s.cut(s.rand.IntN(16))})
	}
	return r
}

func (s *source) cut(n int) []byte {
	at := s.rand.IntN(len(s.text) - n)
	return s.text[at : at+n]
}
