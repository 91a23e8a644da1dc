package gcs

import (
	"context"
	"errors"
	"fmt"

	"cloud.google.com/go/storage"

	"github.com/walbridge/walbridge/backends"
)

// putWriter writes an object whole, to a regional bucket.
type putWriter struct {
	bucket *Bucket
	name   string
	used   bool
	dead   bool
}

func (w *putWriter) Append(ctx context.Context, p []byte, crc uint32) error {
	err := checkAppend(w.dead, p, crc)
	if err == nil && w.used {
		err = backends.ErrTooMany
	}
	if err == nil {
		w.used = true
		err = w.bucket.put(ctx, w.name, p, crc)
	}
	if err != nil {
		w.dead = true
		return w.bucket.fail(ctx, "append", w.name, err)
	}
	return nil
}

// put writes the object in one request, which the service checks against crc and refuses where there is an object of
// that name. It is not repeated: a second attempt would find the first one's object.
func (b *Bucket) put(ctx context.Context, name string, p []byte, crc uint32) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	object := b.writes.Object(b.object(name)).If(storage.Conditions{DoesNotExist: true}).
		Retryer(storage.WithPolicy(storage.RetryNever))
	w := object.NewWriter(ctx)
	w.Append = false
	w.ContentType = contentType
	w.ChunkSize = 0
	w.CRC32C, w.SendCRC32C = crc, true
	_, err := w.Write(p)
	if err == nil {
		err = w.Close()
	}
	switch {
	case exists(err):
		return fmt.Errorf("%w: %w", backends.ErrExists, err)
	case err != nil:
		return err
	}
	a := w.Attrs()
	if a == nil {
		return errors.New("the stream ended without an answer") // The SDK takes that for a success.
	}
	if a.Size != int64(len(p)) || a.CRC32C != crc {
		return fmt.Errorf("the object has %d bytes with CRC-32C %08x, should have %d with %08x",
			a.Size, a.CRC32C, len(p), crc)
	}
	return nil
}

func (w *putWriter) Close(context.Context) error {
	w.dead = true
	w.bucket.writers.release()
	return nil
}
