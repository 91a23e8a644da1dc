package s3

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// source makes numbered credentials, slowly.
type source struct {
	calls    atomic.Int64
	takes    time.Duration
	lifetime time.Duration
	fail     atomic.Pointer[error]
}

func (s *source) fetch(ctx context.Context) (grant, error) {
	n := s.calls.Add(1)
	select {
	case <-time.After(s.takes):
	case <-ctx.Done():
		return grant{}, ctx.Err()
	}
	if err := s.fail.Load(); err != nil {
		return grant{}, *err
	}
	return grant{aws.Credentials{AccessKeyID: fmt.Sprint("key", n)}, s.lifetime}, nil
}

// kept runs a test of a keeper in virtual time.
func kept(t *testing.T, s *source, test func(t *testing.T, k *keeper)) {
	synctest.Test(t, func(t *testing.T) {
		k := newKeeper("session", s.fetch, slog.New(slog.DiscardHandler))
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go k.run(ctx)
		test(t, k)
	})
}

func mustRetrieve(t *testing.T, k *keeper) aws.Credentials {
	t.Helper()
	c, err := k.Retrieve(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// However many ask at once, one fetch serves all.
func TestKeeperFetchesOnce(t *testing.T) {
	s := &source{takes: 40 * time.Millisecond, lifetime: 5 * time.Minute}
	kept(t, s, func(t *testing.T, k *keeper) {
		var group sync.WaitGroup
		for range 64 {
			group.Go(func() {
				if c, err := k.Retrieve(t.Context()); err != nil || c.AccessKeyID != "key1" {
					t.Errorf("got %q, %v", c.AccessKeyID, err)
				}
			})
		}
		group.Wait()
		if n := s.calls.Load(); n != 1 {
			t.Errorf("%d fetches, want 1", n)
		}
	})
}

// In a steady load nobody ever waits for a fetch, and there are two in each lifetime.
func TestKeeperRenewsAhead(t *testing.T) {
	s := &source{takes: 40 * time.Millisecond, lifetime: 10 * time.Second}
	kept(t, s, func(t *testing.T, k *keeper) {
		mustRetrieve(t, k)
		for start := time.Now(); time.Since(start) < 30*time.Second; time.Sleep(5 * time.Millisecond) {
			asked := time.Now()
			mustRetrieve(t, k)
			if wait := time.Since(asked); wait > 0 {
				t.Fatalf("waited %v, %v after the start", wait, asked.Sub(start))
			}
		}
		if n := s.calls.Load(); n < 6 || n > 7 {
			t.Errorf("%d fetches in 3 lifetimes, want 2 in each", n)
		}
	})
}

// The end of the one who asks ends its waiting, and nobody else's.
func TestKeeperOutlivesCallers(t *testing.T) {
	s := &source{takes: time.Second, lifetime: time.Minute}
	kept(t, s, func(t *testing.T, k *keeper) {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		if _, err := k.Retrieve(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want the ctx's error", err)
		}
		mustRetrieve(t, k)
		if n := s.calls.Load(); n != 1 {
			t.Errorf("%d fetches, want 1: the first one must not end with its caller", n)
		}
	})
}

// A failure does not take away what still lasts; when that has run out, who asks gets the error, and the first success
// serves again.
func TestKeeperOutage(t *testing.T) {
	s := &source{lifetime: 10 * time.Second}
	kept(t, s, func(t *testing.T, k *keeper) {
		mustRetrieve(t, k)
		down := errors.New("no route")
		s.fail.Store(&down)
		time.Sleep(9 * time.Second)
		if c := mustRetrieve(t, k); c.AccessKeyID != "key1" {
			t.Errorf("got %q", c.AccessKeyID)
		}
		time.Sleep(2 * time.Second)
		before := s.calls.Load()
		if _, err := k.Retrieve(t.Context()); !errors.Is(err, down) {
			t.Errorf("got %v, want the fetch's error", err)
		}
		time.Sleep(time.Minute)
		if n := s.calls.Load() - before; n > 130 {
			t.Errorf("%d fetches in a minute of failures", n)
		}
		s.fail.Store(nil)
		start := time.Now()
		mustRetrieve(t, k)
		if d := time.Since(start); d > fetchPause {
			t.Errorf("back %v after the end of the outage", d)
		}
	})
}

// Refused credentials are replaced once, whoever and how many complain of them.
func TestKeeperEvicts(t *testing.T) {
	s := &source{takes: 10 * time.Millisecond, lifetime: 5 * time.Minute}
	kept(t, s, func(t *testing.T, k *keeper) {
		old := mustRetrieve(t, k)
		time.Sleep(time.Minute)
		for range 10 {
			k.evict(old)
		}
		c := mustRetrieve(t, k)
		k.evict(old)
		if again := mustRetrieve(t, k); c.AccessKeyID != "key2" || again != c {
			t.Errorf("got %q, then %q, want key2", c.AccessKeyID, again.AccessKeyID)
		}
	})
}

// However often they are refused, the source is asked once a second at most.
func TestKeeperEvictionsArePaced(t *testing.T) {
	s := &source{lifetime: 5 * time.Minute}
	kept(t, s, func(t *testing.T, k *keeper) {
		for start := time.Now(); time.Since(start) < 10*time.Second; {
			k.evict(mustRetrieve(t, k))
		}
		if n := s.calls.Load(); n > 11 {
			t.Errorf("%d fetches in 10 s, want one a second", n)
		}
	})
}

// A source that hangs is left after its timeout.
func TestKeeperHang(t *testing.T) {
	s := &source{takes: time.Hour, lifetime: time.Minute}
	kept(t, s, func(t *testing.T, k *keeper) {
		start := time.Now()
		if _, err := k.Retrieve(t.Context()); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != fetchTimeout {
			t.Errorf("got %v after %v", err, time.Since(start))
		}
	})
}
