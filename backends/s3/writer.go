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

	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/oklog/ulid/v2"

	"github.com/walbridge/walbridge/backends"
)

// The store's own metadata. putKey tells which Append made the object, sumKey the CRC-32C of all of it, which comes
// with every read, from every server.
const (
	putKey = "walbridge-put"
	sumKey = "walbridge-crc32c"
)

var reserved = map[string]bool{putKey: true, sumKey: true}

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
	token := ulid.MustNew(ulid.Now(), rand.Reader).String()
	in := b.putInput(key, crc, token)
	return b.do(ctx, func(ctx context.Context) error {
		attempt := in
		attempt.Body = bytes.NewReader(p)
		_, err := b.client.PutObject(ctx, &attempt, unsignedPayload)
		if status(err) == http.StatusPreconditionFailed {
			return b.mine(ctx, key, token, int64(len(p)), err)
		}
		return err
	})
}

func (b *Bucket) putInput(key string, crc uint32, token string) s3.PutObjectInput {
	sum := base64.StdEncoding.EncodeToString(binary.BigEndian.AppendUint32(nil, crc))
	any := "*"
	in := s3.PutObjectInput{
		Bucket: &b.options.Bucket, Key: &key, IfNoneMatch: &any, ChecksumCRC32C: &sum,
		Metadata: map[string]string{putKey: token, sumKey: sum},
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

// mine returns nil where the object is the one with the token: an earlier attempt of the same put made it, or something
// between here and the store sent the request twice. It returns refused, which says that the object exists, where
// another one made it.
func (b *Bucket) mine(ctx context.Context, key, token string, size int64, refused error) error {
	head, err := b.client.HeadObject(ctx, &s3.HeadObjectInput{Bucket: &b.options.Bucket, Key: &key})
	switch {
	case status(err) == http.StatusNotFound:
		return errors.New("the object was there, and has been deleted since")
	case err != nil:
		return err
	case head.Metadata[putKey] != token:
		return refused
	case head.ContentLength == nil || *head.ContentLength != size:
		return fmt.Errorf("%w: the object is ours and of another length than %d", backends.ErrChecksum, size)
	}
	return nil
}
