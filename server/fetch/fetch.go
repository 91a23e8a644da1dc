// Package fetch reads stored frames. However many entries of an extent are asked for, and by however many callers at
// once, the extent is read from the store once: a follower's fetch of 1,000 partitions costs one request, not 1,000.
package fetch

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/semaphore"

	"github.com/walbridge/walbridge/backends"
	"github.com/walbridge/walbridge/server/frame"
)

// ErrFull is returned where so many bytes are being read already that an extent's turn did not come in time.
var ErrFull = errors.New("too many bytes being read")

// Source is where frames are read from; a *quorum.Bucket.
type Source interface {
	// ReadChecked fills p with the object's bytes from off, and fails where their CRC-32C is not crc. It returns soon
	// after ctx ends.
	ReadChecked(ctx context.Context, name string, p []byte, off int64, crc uint32) error
}

// Options say how a Fetcher works. The zero value of a field is its default.
type Options struct {
	// Cluster is the first part of every object's name. Required.
	Cluster string
	// Source is where frames are read from. Required.
	Source Source
	// CacheBytes is how much memory the frames kept for later calls take. Default 64 MiB.
	CacheBytes int64
	// MaxLoadingBytes is how many bytes are being read at once; further reads wait their turn. An extent longer than
	// that is refused. Default 128 MiB.
	MaxLoadingBytes int64
	// LoadTimeout bounds the reading of one extent, its turn included. Default 5 seconds.
	LoadTimeout time.Duration
	// Registerer gets the walbridge_fetch_* metrics. Default: none.
	Registerer prometheus.Registerer
}

func (o Options) withDefaults() Options {
	if o.CacheBytes == 0 {
		o.CacheBytes = 64 << 20
	}
	if o.MaxLoadingBytes == 0 {
		o.MaxLoadingBytes = 128 << 20
	}
	if o.LoadTimeout == 0 {
		o.LoadTimeout = 5 * time.Second
	}
	return o
}

// Fetcher reads frames and keeps the last ones. It is safe for concurrent use.
type Fetcher struct {
	opts    Options
	room    *semaphore.Weighted
	metrics *metrics

	mu    sync.Mutex
	cache *cache
	loads map[frame.Extent]*load
}

// load is the reading of one extent, for all who want it.
type load struct {
	cancel  context.CancelFunc
	waiting int
	// done is closed once frame and err are set.
	done  chan struct{}
	frame *frame.Frame
	err   error
}

// New returns a Fetcher.
func New(opts Options) *Fetcher {
	opts = opts.withDefaults()
	f := &Fetcher{
		opts:  opts,
		room:  semaphore.NewWeighted(opts.MaxLoadingBytes),
		cache: newCache(opts.CacheBytes),
		loads: map[frame.Extent]*load{},
	}
	f.metrics = newMetrics(opts.Registerer, f.cacheBytes)
	return f
}

// Frame returns the frame at x, every byte of it verified. It is shared with other callers and must not be changed.
//
// It fails with the store's error, with backends.ErrTooLarge, and with ErrFull where MaxLoadingBytes were in use for
// all of LoadTimeout. When ctx ends it returns; the reading goes on for as long as someone else waits for it.
func (f *Fetcher) Frame(ctx context.Context, x frame.Extent) (*frame.Frame, error) {
	if int64(x.Length) > f.opts.MaxLoadingBytes {
		return nil, fmt.Errorf("fetch %v: at most %d bytes: %w", x, f.opts.MaxLoadingBytes, backends.ErrTooLarge)
	}
	found, l := f.find(ctx, x)
	if found != nil {
		return found, nil
	}
	select {
	case <-l.done:
		return l.frame, l.err
	case <-ctx.Done():
		f.leave(x, l)
		return nil, fmt.Errorf("fetch %v: %w", x, ctx.Err())
	}
}

// find returns the frame at x, or else the load to wait for.
func (f *Fetcher) find(ctx context.Context, x frame.Extent) (*frame.Frame, *load) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if found := f.cache.get(x); found != nil {
		f.metrics.hits.Inc()
		return found, nil
	}
	l := f.loads[x]
	if l != nil {
		f.metrics.joins.Inc()
	} else {
		f.metrics.misses.Inc()
		// The load is in the first caller's trace, but not its own: it must not end with that one's ctx.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), f.opts.LoadTimeout)
		l = &load{cancel: cancel, done: make(chan struct{})}
		f.loads[x] = l
		go f.run(ctx, x, l)
	}
	l.waiting++
	return nil, l
}

// leave cancels the load when nobody waits for it any more, and waits for its end: none outlives its callers.
func (f *Fetcher) leave(x frame.Extent, l *load) {
	f.mu.Lock()
	l.waiting--
	last := l.waiting == 0
	if last && f.loads[x] == l {
		delete(f.loads, x) // The next one who comes must not get the cancelled one.
	}
	f.mu.Unlock()
	if last {
		l.cancel()
		<-l.done
	}
}

func (f *Fetcher) run(ctx context.Context, x frame.Extent, l *load) {
	defer close(l.done)
	defer l.cancel()
	l.frame, l.err = f.read(ctx, x)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.loads[x] == l {
		delete(f.loads, x)
	}
	if l.err == nil {
		f.cache.put(x, l.frame)
	}
}

func (f *Fetcher) read(ctx context.Context, x frame.Extent) (*frame.Frame, error) {
	if err := f.room.Acquire(ctx, int64(x.Length)); err != nil {
		return nil, fmt.Errorf("fetch %v: %w for %v", x, ErrFull, f.opts.LoadTimeout)
	}
	defer f.room.Release(int64(x.Length))
	f.metrics.loadingBytes.Add(float64(x.Length))
	defer f.metrics.loadingBytes.Sub(float64(x.Length))

	start, name := time.Now(), x.Object.Name(f.opts.Cluster)
	b := make([]byte, x.Length)
	err := f.opts.Source.ReadChecked(ctx, name, b, x.Position, x.CRC32C)
	f.metrics.read(time.Since(start), err)
	if err != nil {
		return nil, fmt.Errorf("fetch %v: %w", x, err)
	}
	decoded, err := frame.Decode(b)
	if err != nil {
		return nil, fmt.Errorf("fetch %v: %w", x, err)
	}
	return decoded, nil
}

func (f *Fetcher) cacheBytes() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.cache.bytes
}
