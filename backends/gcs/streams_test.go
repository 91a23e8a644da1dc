package gcs_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/walbridge/walbridge/backends"
	"github.com/walbridge/walbridge/backends/gcs"
	"github.com/walbridge/walbridge/backends/gcs/gcstest"
	"github.com/walbridge/walbridge/pool"
	framev1 "github.com/walbridge/walbridge/proto/walbridge/frame/v1"
	"github.com/walbridge/walbridge/server/combine"
	"github.com/walbridge/walbridge/server/frame"
)

// Many more writers than one connection has streams are open at once, and reads and appends go on beside them. One more
// than there may be waits, until its ctx ends or another one is closed.
func TestManyWriters(t *testing.T) {
	const writers = 300
	s := start(t, gcstest.Options{MaxStreams: 100})
	b := open(t, s, gcs.Options{Bucket: "zonal", MaxWriters: writers})
	defer close(t, b)
	opened := make([]backends.Writer, writers)
	var group sync.WaitGroup
	for i := range writers {
		group.Go(func() {
			w, err := b.Create(deadline(t), fmt.Sprint(i))
			if err != nil {
				t.Errorf("Create: %v", err)
				return
			}
			opened[i] = w
		})
	}
	group.Wait()
	if t.Failed() {
		t.FailNow()
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := b.Create(ctx, "more"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Create beyond MaxWriters: error %v, want %v", err, context.DeadlineExceeded)
	}
	for i, w := range opened {
		if i%10 == 0 {
			appendAll(t, w, "x")
			wantContent(t, b, fmt.Sprint(i), "x")
		}
		closeWriter(t, w)
		if i == 0 {
			w, err := b.Create(deadline(t), "more")
			if err != nil {
				t.Errorf("Create after another writer's Close: %v", err)
				continue
			}
			closeWriter(t, w)
		}
	}
}

// A thousand pooled writers, or as many as WALBRIDGE_WRITERS says, used and discarded, leave nothing behind.
func TestPooledWritersLeak(t *testing.T) {
	writers := 1000
	if n, err := strconv.Atoi(os.Getenv("WALBRIDGE_WRITERS")); err == nil {
		writers = n
	}
	s := start(t, gcstest.Options{Discard: true})
	b := open(t, s, gcs.Options{Bucket: "zonal"})
	defer close(t, b)
	var name atomic.Int64
	type item struct {
		name string
		w    backends.Writer
	}
	discard := func(ctx context.Context, i item) {
		_ = i.w.Close(ctx)
		if _, err := b.Delete(ctx, []string{i.name}); err != nil {
			t.Errorf("Delete: %v", err)
		}
	}
	cycle := func(n int) {
		queue := pool.New(pool.Options[item]{
			Load: func(ctx context.Context) (item, error) {
				i := item{name: fmt.Sprint("a/", name.Add(1))}
				var err error
				i.w, err = b.Create(ctx, i.name)
				return i, err
			},
			Discard: discard, MinDepth: 32,
		})
		ctx, cancel := context.WithCancel(t.Context())
		var group sync.WaitGroup
		group.Go(func() { queue.Run(ctx) })
		p := []byte("x")
		for range n {
			// Not deadline, whose contexts the test keeps.
			ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
			i, err := queue.Get(ctx)
			if err == nil {
				err = i.w.Append(ctx, p, backends.Checksum(p))
			}
			if err != nil {
				t.Fatal(err)
			}
			discard(ctx, i)
			cancel()
		}
		cancel()
		group.Wait()
	}
	cycle(writers / 10)
	goroutines, heap := usage(0)
	cycle(writers)
	if n, bytes := usage(goroutines); n > goroutines || bytes > heap+heap/2+4<<20 {
		t.Errorf("after %d writers: %d goroutines and %d bytes, before them %d and %d", writers, n, bytes, goroutines, heap)
	} else {
		t.Logf("after %d writers: %d goroutines and %d KiB, before them %d and %d KiB",
			writers, n, bytes>>10, goroutines, heap>>10)
	}
}

// usage returns the goroutines and the bytes that are in use; streams end a moment after they were closed.
func usage(want int) (goroutines int, heap uint64) {
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for range 100 {
		if goroutines = runtime.NumGoroutine(); goroutines <= want {
			break
		}
		<-ticker.C
	}
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return goroutines, m.HeapAlloc
}

// Whatever befalls the stream of a pooled writer, a copy is stored, after one retry on a fresh writer at most.
func TestCopyTakesFreshWriter(t *testing.T) {
	for name, fault := range map[string]gcstest.Fault{
		"unavailable before": unavailableBefore, "unavailable after": unavailableAfter, "silent": silentBefore,
		"lost ack": lostAck, "redirect": redirect, "aborted": aborted, "aborted after": abortedAfter,
		"clean end": cleanEnd, "clean end after": cleanEndAfter, "wrong checksum": wrongChecksum,
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t, gcstest.Options{})
			b := open(t, s, gcs.Options{Bucket: "zonal"})
			defer close(t, b)
			identity := frame.Identity{ClusterID: "test", BrokerID: 1, Incarnation: 1}
			opener := &combine.Opener{Bucket: b, Identity: identity}
			queue := pool.New(pool.Options[combine.Object]{
				Load: opener.Open, Discard: func(ctx context.Context, o combine.Object) { _ = o.Writer.Close(ctx) },
			})
			c, err := combine.New(combine.Options{
				Identity: identity, Objects: queue, Caps: b.Caps(), Lanes: 1, AttemptTimeout: time.Second,
			})
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			var group sync.WaitGroup
			group.Go(func() { c.Run(ctx) })
			group.Go(func() { queue.Run(ctx) })
			s.Inject(gcstest.Append, fault)
			p := []byte(random(1000))
			r, err := c.Copy(deadline(t), []frame.Section{section(p)}, 0)
			if err != nil {
				t.Fatalf("Copy: %v", err)
			}
			if retries := c.Stats().Retries; retries > 1 {
				t.Errorf("%d retries, want 1 at most", retries)
			}
			got := make([]byte, len(p))
			at := r.Extent.Position + int64(r.Entries[0].Position)
			if err := b.ReadAt(deadline(t), r.Extent.Object.Name("test"), got, at); err != nil || string(got) != string(p) {
				t.Errorf("ReadAt of the copy: other bytes, or error %v", err)
			}
			cancel()
			group.Wait()
		})
	}
}

func section(p []byte) frame.Section {
	return frame.Section{
		Entry: &framev1.Entry{
			TopicId: []byte("0123456789abcdef"), Topic: "t", SegmentId: []byte("fedcba9876543210"),
			Length: uint32(len(p)), Crc32C: backends.Checksum(p),
		},
		Chunks: [][]byte{p},
	}
}
