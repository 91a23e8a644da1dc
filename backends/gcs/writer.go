package gcs

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"cloud.google.com/go/storage"

	"github.com/walbridge/walbridge/backends"
)

const contentType = "application/octet-stream"

// writer appends to an object of a zonal bucket.
type writer struct {
	bucket *Bucket
	name   string
	sdk    *storage.Writer
	// end ends the stream. The SDK's calls take no context but that of the Writer's whole life.
	end  context.CancelFunc
	size int64
	dead bool
	// durable is how many bytes the service last said it has.
	durable atomic.Int64
}

// Create implements backends.Bucket. In a zonal bucket the object exists when it returns, and a Create whose answer was
// lost may leave an empty object behind, whose name is taken. In a regional one it touches nothing.
func (b *Bucket) Create(ctx context.Context, name string) (backends.Writer, error) {
	if err := backends.CheckName(name); err != nil {
		return nil, b.fail(ctx, "create", name, err)
	}
	if err := b.writers.acquire(ctx); err != nil {
		return nil, b.fail(ctx, "create", name, fmt.Errorf("%d writers are open: %w", len(b.writers), err))
	}
	if !b.zonal {
		return &putWriter{bucket: b, name: name}, nil
	}
	w, err := b.create(ctx, name)
	if err != nil {
		b.writers.release()
		return nil, b.fail(ctx, "create", name, err)
	}
	return w, nil
}

func (b *Bucket) create(ctx context.Context, name string) (*writer, error) {
	life, end := context.WithCancel(context.Background())
	w := &writer{bucket: b, name: name, end: end}
	w.sdk = b.writes.Object(b.object(name)).If(storage.Conditions{DoesNotExist: true}).NewWriter(life)
	w.sdk.Append = true
	w.sdk.FinalizeOnClose = false
	w.sdk.ContentType = contentType
	// No buffer: what is written goes out from where it is and is flushed with its last message, and Write returns when
	// the service has it. The SDK sends the same bytes again where a stream breaks, which the contract lets it.
	w.sdk.ChunkSize = 0
	// The ctx of each call is its deadline. The SDK's own would have it repeat a creation that is only slow, find what it
	// made itself, and fail: again and again, for as long as the service is slow.
	w.sdk.ChunkTransferTimeout = 0
	w.sdk.ProgressFunc = w.durable.Store
	err := w.call(ctx, func() error {
		_, err := w.sdk.Flush()
		return err
	})
	if err == nil {
		return w, nil
	}
	w.release()
	if exists(err) {
		err = fmt.Errorf("%w: %w", backends.ErrExists, err)
	}
	return nil, err
}

// call runs call, which takes no context, and ends the stream when ctx ends.
func (w *writer) call(ctx context.Context, call func() error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	ended := context.AfterFunc(ctx, w.end)
	err := call()
	if !ended() {
		return errors.Join(ctx.Err(), err)
	}
	return err
}

func (w *writer) Append(ctx context.Context, p []byte, crc uint32) error {
	if err := w.append(ctx, p, crc); err != nil {
		w.dead = true
		return w.bucket.fail(ctx, "append", w.name, err)
	}
	w.size += int64(len(p))
	return nil
}

func (w *writer) append(ctx context.Context, p []byte, crc uint32) error {
	if err := checkAppend(w.dead, p, crc); err != nil {
		return err
	}
	want := w.size + int64(len(p))
	if err := w.call(ctx, func() error { return w.write(p, want) }); err != nil {
		return err
	}
	if got := w.durable.Load(); got != want {
		return fmt.Errorf("the object has %d bytes, should have %d", got, want)
	}
	return nil
}

func (w *writer) write(p []byte, want int64) error {
	if _, err := w.sdk.Write(p); err != nil {
		return err
	}
	if w.durable.Load() == want {
		return nil
	}
	_, err := w.sdk.Flush()
	return err
}

// checkAppend tells what is wrong with an Append before the service is asked.
func checkAppend(dead bool, p []byte, crc uint32) error {
	switch {
	case dead:
		return backends.ErrClosed
	case int64(len(p)) > maxAppend:
		return backends.ErrTooLarge
	case backends.Checksum(p) != crc:
		return backends.ErrChecksum
	}
	return nil
}

// Close ends the stream, in good order where it is in order, which brings the object's metadata up to date sooner.
// Nothing depends on it.
func (w *writer) Close(ctx context.Context) error {
	defer w.bucket.writers.release()
	broken := w.dead
	w.dead = true
	if broken {
		w.release()
		return nil
	}
	err := w.call(ctx, w.sdk.Close)
	w.release()
	if err != nil {
		return w.bucket.fail(ctx, "close", w.name, err)
	}
	return nil
}

// release ends the stream and waits for the SDK's goroutines, which end at once.
func (w *writer) release() {
	w.end()
	_ = w.sdk.Close() // It fails, since the stream's context has ended.
}
