package s3

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/oklog/ulid/v2"

	"github.com/walbridge/walbridge/backends"
)

// stampKey is the metadata that this store adds to an object: its stamp.
const stampKey = "walbridge"

// newStamp tells which Append made an object, and the CRC-32C of all of it, which so comes with every read, from every
// server: <ulid>-<8 hexadecimal digits>. It is one value, since a server may keep each in a place of its own.
func newStamp(crc uint32) string {
	return fmt.Sprintf("%s-%08x", ulid.MustNew(ulid.Now(), rand.Reader), crc)
}

// stampedChecksum returns the checksum in a stamp. The object of another program has none.
func stampedChecksum(stamp string) (crc uint32, ok bool) {
	_, digits, _ := strings.Cut(stamp, "-")
	n, err := strconv.ParseUint(digits, 16, 32)
	return uint32(n), err == nil
}

// writer implements backends.Writer.
type writer struct {
	bucket   *Bucket
	name     string
	appended bool
	dead     bool
}

func (w *writer) Append(ctx context.Context, p []byte, crc uint32) error {
	if err := w.append(ctx, p, crc); err != nil {
		w.dead = true
		return w.bucket.fail("append", w.name, err)
	}
	w.appended = true
	return nil
}

func (w *writer) append(ctx context.Context, p []byte, crc uint32) error {
	switch {
	case w.dead:
		return backends.ErrClosed
	case w.appended:
		return backends.ErrTooMany
	case len(p) > maxAppend:
		return backends.ErrTooLarge
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return w.bucket.put(ctx, w.bucket.key(w.name), p, crc)
}

func (w *writer) Close(context.Context) error {
	w.dead = true
	return nil
}

// put creates the object key. p is read by each attempt, and hashed by none: the store compares it with crc.
func (b *Bucket) put(ctx context.Context, key string, p []byte, crc uint32) error {
	stamp := newStamp(crc)
	in := b.putInput(key, crc, stamp)
	return b.do(ctx, func(ctx context.Context) error {
		attempt := in
		attempt.Body = bytes.NewReader(p)
		_, err := b.client.PutObject(ctx, &attempt, unsignedPayload)
		if status(err) == http.StatusPreconditionFailed {
			return b.mine(ctx, key, stamp, int64(len(p)), err)
		}
		return err
	})
}

func (b *Bucket) putInput(key string, crc uint32, stamp string) s3.PutObjectInput {
	sum := base64.StdEncoding.EncodeToString(binary.BigEndian.AppendUint32(nil, crc))
	in := s3.PutObjectInput{
		Bucket: &b.options.Bucket, Key: &key, IfNoneMatch: aws.String("*"), ChecksumCRC32C: &sum,
		Metadata: map[string]string{stampKey: stamp},
	}
	maps.Copy(in.Metadata, b.options.Metadata)
	if b.options.KMSKey != "" {
		in.ServerSideEncryption, in.SSEKMSKeyId = types.ServerSideEncryptionAwsKms, &b.options.KMSKey
	}
	return in
}

// unsignedPayload leaves the body out of the signature, which would take a SHA-256 of it. The checksum is signed.
func unsignedPayload(o *s3.Options) {
	o.APIOptions = append(o.APIOptions, v4.SwapComputePayloadSHA256ForUnsignedPayloadMiddleware)
}

// mine returns nil where the object has the stamp: an earlier attempt of the same put made it, or something
// between here and the store sent the request twice. It returns refused, which says that the object exists, where
// another one made it.
func (b *Bucket) mine(ctx context.Context, key, stamp string, size int64, refused error) error {
	head, err := b.client.HeadObject(ctx, &s3.HeadObjectInput{Bucket: &b.options.Bucket, Key: &key})
	switch {
	case status(err) == http.StatusNotFound:
		return errors.New("the object was there, and has been deleted since")
	case err != nil:
		return err
	case head.Metadata[stampKey] != stamp:
		return refused
	case head.ContentLength == nil || *head.ContentLength != size:
		return fmt.Errorf("%w: the object is ours and of another length than %d", backends.ErrChecksum, size)
	}
	return nil
}
