package s3

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/walbridge/walbridge/backends"
)

// ReadAt implements backends.Bucket. A read of a whole object is checked against the object's CRC-32C.
func (b *Bucket) ReadAt(ctx context.Context, name string, p []byte, off int64) error {
	err := backends.CheckName(name)
	switch {
	case err != nil:
	case ctx.Err() != nil:
		err = ctx.Err()
	case off < 0 || off > math.MaxInt64-int64(len(p)):
		err = backends.ErrRange
	case len(p) == 0:
		err = b.reaches(ctx, name, off)
	default:
		err = b.do(ctx, func(ctx context.Context) error { return b.get(ctx, name, p, off) })
	}
	if err != nil {
		return b.fail(fmt.Sprintf("read %d bytes at %d of", len(p), off), name, err)
	}
	return nil
}

// reaches tells whether the object has a byte before off, which is what an empty range asks. HTTP has no such range.
func (b *Bucket) reaches(ctx context.Context, name string, off int64) error {
	key := b.key(name)
	return b.do(ctx, func(ctx context.Context) error {
		head, err := b.client.HeadObject(ctx, &s3.HeadObjectInput{Bucket: &b.options.Bucket, Key: &key})
		if err != nil {
			return err
		}
		if head.ContentLength == nil || *head.ContentLength < off {
			return backends.ErrRange
		}
		return nil
	})
}

func (b *Bucket) get(ctx context.Context, name string, p []byte, off int64) error {
	key := b.key(name)
	last := off + int64(len(p)) - 1
	ranged := fmt.Sprintf("bytes=%d-%d", off, last)
	out, err := b.client.GetObject(ctx, &s3.GetObjectInput{Bucket: &b.options.Bucket, Key: &key, Range: &ranged})
	if err != nil {
		return err
	}
	// A server that sends more than was asked for is not read to the end: the connection is given up.
	defer out.Body.Close()
	size, err := contentRange(out, off, last)
	if err != nil {
		return err
	}
	if n, err := io.ReadFull(out.Body, p); err != nil {
		return fmt.Errorf("%w, after %d of %d bytes: %w", errShort, n, len(p), err)
	}
	if size == int64(len(p)) {
		return check(out.Metadata[stampKey], p)
	}
	return nil
}

// contentRange checks that the answer is the range that was asked for, since a server may send another one, or all, and
// returns the object's size.
func contentRange(out *s3.GetObjectOutput, off, last int64) (size int64, err error) {
	if out.ContentRange == nil {
		return 0, errors.New("the store ignores ranges")
	}
	var first, end int64
	if n, _ := fmt.Sscanf(*out.ContentRange, "bytes %d-%d/%d", &first, &end, &size); n != 3 || first != off {
		return 0, fmt.Errorf("the answer's range is %q, asked for was %d-%d", *out.ContentRange, off, last)
	}
	if end < last {
		return 0, fmt.Errorf("%w: the object has %d bytes", backends.ErrRange, size)
	}
	return size, nil
}

// check checks the bytes of a whole object, unless another program stored it.
func check(stamp string, p []byte) error {
	want, ok := stampedChecksum(stamp)
	if got := backends.Checksum(p); ok && got != want {
		return fmt.Errorf("%w: the object's is %08x, that of the bytes read %08x", backends.ErrChecksum, want, got)
	}
	return nil
}
