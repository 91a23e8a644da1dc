package s3

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
)

const (
	// fetchTimeout bounds one fetch: CreateSession, AssumeRole, the metadata service.
	fetchTimeout = 5 * time.Second
	// fetchPause is the shortest time between two fetches and the longest between two that fail. It bounds the requests
	// of a bucket whose credentials are refused however often they are renewed.
	fetchPause = time.Second
	// firstBackoff is the wait after the first failure.
	firstBackoff = 50 * time.Millisecond
)

// grant is a set of credentials and how long it lasts from now; 0 is for ever.
type grant struct {
	aws.Credentials
	lifetime time.Duration
}

// keeper keeps a set of credentials fresh: those of the chain, or the session of a directory bucket. It fetches them
// once per lifetime, however many requests want them, ahead of time and on its own context. The SDK's cache fetches
// when the old ones have all but run out, and on the context of the request that finds it so, whose end fails all the
// others.
type keeper struct {
	what  string
	fetch func(context.Context) (grant, error)
	log   *slog.Logger

	wake    chan struct{} // tells run of an eviction
	stopped chan struct{} // closed when run has ended

	mu      sync.Mutex
	current aws.Credentials
	valid   bool
	expires time.Time     // the zero time is never
	err     error         // of the last fetch
	fetched chan struct{} // closed at the end of the next fetch
}

func newKeeper(what string, fetch func(context.Context) (grant, error), log *slog.Logger) *keeper {
	return &keeper{
		what: what, fetch: fetch, log: log,
		wake: make(chan struct{}, 1), stopped: make(chan struct{}), fetched: make(chan struct{}),
	}
}

// Retrieve implements aws.CredentialsProvider. It returns at once as long as there are valid credentials, and waits for
// the next fetch otherwise.
func (k *keeper) Retrieve(ctx context.Context) (aws.Credentials, error) {
	for {
		c, ok, fetched := k.get()
		if ok {
			return c, nil
		}
		select {
		case <-fetched:
			if _, ok, _ := k.get(); !ok {
				if err := k.lastError(); err != nil {
					return aws.Credentials{}, err
				}
			}
		case <-k.stopped:
			return aws.Credentials{}, fmt.Errorf("%s: the bucket is closed", k.what)
		case <-ctx.Done():
			err := fmt.Errorf("wait for %s: %w", k.what, ctx.Err())
			if last := k.lastError(); last != nil {
				err = fmt.Errorf("%w; %w", err, last)
			}
			return aws.Credentials{}, err
		}
	}
}

func (k *keeper) get() (c aws.Credentials, ok bool, fetched <-chan struct{}) {
	k.mu.Lock()
	defer k.mu.Unlock()
	ok = k.valid && (k.expires.IsZero() || time.Now().Before(k.expires))
	return k.current, ok, k.fetched
}

func (k *keeper) lastError() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.err
}

// evict drops c, which the store refused, unless it has been replaced already.
func (k *keeper) evict(c aws.Credentials) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.valid || k.current.AccessKeyID != c.AccessKeyID || k.current.SessionToken != c.SessionToken {
		return
	}
	k.valid = false
	select {
	case k.wake <- struct{}{}:
	default:
	}
}

// run fetches until ctx ends.
func (k *keeper) run(ctx context.Context) {
	defer close(k.stopped)
	backoff := firstBackoff
	for ctx.Err() == nil {
		started := time.Now()
		g, err := k.try(ctx)
		if ctx.Err() != nil {
			return
		}
		if err == nil {
			backoff = firstBackoff
			k.store(g, started)
			k.rest(ctx, g.lifetime)
			continue
		}
		k.failed(err)
		pause(ctx, backoff/2+rand.N(backoff/2))
		backoff = min(2*backoff, fetchPause)
	}
}

func (k *keeper) try(ctx context.Context) (grant, error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	g, err := k.fetch(ctx)
	if err != nil {
		return grant{}, fmt.Errorf("%s: %w", k.what, err)
	}
	return g, nil
}

// store makes g the current credentials. They last from before they were asked for.
func (k *keeper) store(g grant, asked time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.err != nil {
		k.log.Info("renewed", "what", k.what)
	}
	k.current, k.valid, k.err = g.Credentials, true, nil
	k.expires = time.Time{}
	if g.lifetime > 0 {
		k.expires = asked.Add(g.lifetime)
	}
	k.next()
}

func (k *keeper) failed(err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.err == nil {
		k.log.Warn("not renewed; tried again until it is", "what", k.what, "err", err)
	}
	k.err = err
	k.next()
}

// next lets those go on who wait for a fetch. The caller holds mu.
func (k *keeper) next() {
	close(k.fetched)
	k.fetched = make(chan struct{})
}

// rest waits until half of the lifetime is over, or the credentials are evicted, but for fetchPause at least.
func (k *keeper) rest(ctx context.Context, lifetime time.Duration) {
	pause(ctx, fetchPause)
	var half <-chan time.Time // never, where the lifetime has no end
	if lifetime > 0 {
		half = time.After(lifetime/2 - fetchPause)
	}
	select {
	case <-half:
	case <-k.wake:
	case <-ctx.Done():
	}
}

// pause waits for d, or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}
