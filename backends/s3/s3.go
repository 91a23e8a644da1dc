// Package s3 is a store in a bucket of Amazon S3: of S3 Express One Zone (a directory bucket, whose name ends in
// --<zone id>--x-s3), of plain S3, or of a server that speaks its protocol.
//
// An object is written whole, by one PUT with If-None-Match and the CRC-32C that the caller brings, which the store
// verifies; Create touches nothing. S3 Express can append, but an append takes as long as a PUT, and other servers
// ignore its header and overwrite the object; so there is one Append an object.
//
// Retries. An operation is tried again, under the same name and with the same bytes, until its ctx ends; the first
// attempt gets half of the time, so that one that hangs leaves room for another. The SDK retries nothing. Where a store
// says that the object exists, a stamp in its metadata tells whether an earlier attempt, whose answer was lost, made
// it.
//
// Warmth. There is no writer to open ahead of time. What can be ready before the first byte comes is kept ready in the
// background: credentials and the session of a directory bucket, renewed at half of their lifetime, and connections.
// Create waits for the credentials, so that a pool of writers shows whether the zone could be written.
//
// Requirements on other servers: conditional writes and CRC-32C. Diagnose tells whether they honour them.
package s3

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"path"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/walbridge/walbridge/backends"
)

// maxAppend keeps one Append within one request and one deadline. S3 itself takes 5 GiB.
const maxAppend = 1 << 30

const openTimeout = 10 * time.Second

// Options say which bucket, and how to reach it. Only Bucket is required.
type Options struct {
	// Bucket is the bucket's name.
	Bucket string
	// Prefix is the directory in the bucket that everything is below; "" is the bucket itself.
	Prefix string

	// Region is the bucket's region. Default: that of the environment or the profile.
	Region string
	// Endpoint is the URL of a server other than Amazon's. It is addressed by path: <endpoint>/<bucket>/<key>.
	Endpoint string
	// Profile is the profile of the shared configuration files. Default: that of the environment.
	Profile string
	// RoleARN is a role to assume with the credentials found, and ExternalID what its trust policy may ask for.
	RoleARN, ExternalID string

	// KMSKey encrypts objects with this key of KMS. Default: as the bucket says.
	KMSKey string
	// Metadata is stored with every object, such as the cluster and the broker that wrote it.
	Metadata map[string]string

	// WarmConnections is how many connections are kept open when idle. Default 4; negative: none.
	WarmConnections int
	// Logger gets the identity, once, and a line when credentials cannot be renewed. Default: no log.
	Logger *slog.Logger
}

// Bucket is a bucket, or a directory in one. Make one with Open.
type Bucket struct {
	options Options
	express bool
	client  *s3.Client
	http    *http.Client
	clock   *clock
	config  aws.Config
	// credentials sign the requests for objects; base, which may be the same, what makes a session.
	credentials, base *keeper

	stop       context.CancelFunc
	background sync.WaitGroup
}

// Open checks that the bucket can be reached with the credentials found, and keeps them, the session of a directory
// bucket, and connections ready until Close. ctx bounds the opening, which gives up after 10 seconds at the latest.
func Open(ctx context.Context, o Options) (*Bucket, error) {
	ctx, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	b, err := newBucket(ctx, o)
	if err != nil {
		return nil, fmt.Errorf("s3: open %s: %w", o.Bucket, err)
	}
	if err := b.check(ctx); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

// check waits for the identity, logs it, and sees whether the bucket is there.
func (b *Bucket) check(ctx context.Context) error {
	id, err := b.base.Retrieve(ctx)
	if err != nil {
		return b.fail("find the credentials for", "", err)
	}
	b.options.Logger.Info("identity of a zone", "bucket", b.options.Bucket, "access_key", id.AccessKeyID,
		"account", id.AccountID, "source", id.Source, "role", b.options.RoleARN, "express", b.express)
	return b.headBucket(ctx)
}

func (b *Bucket) headBucket(ctx context.Context) error {
	err := b.do(ctx, func(ctx context.Context) error {
		_, err := b.client.HeadBucket(ctx, &s3.HeadBucketInput{Bucket: &b.options.Bucket})
		if status(err) == http.StatusNotFound {
			return errNoBucket // ErrNotFound would say of an object that it is not there
		}
		return err
	})
	if err != nil {
		return b.fail("reach", "", err)
	}
	return nil
}

var errNoBucket = errors.New("there is no such bucket in this region, for these credentials")

// Create implements backends.Bucket. The object comes into being with its Append, where ErrExists surfaces.
func (b *Bucket) Create(ctx context.Context, name string) (backends.Writer, error) {
	err := backends.CheckName(name)
	if err == nil {
		err = ctx.Err()
	}
	if err == nil {
		_, err = b.credentials.Retrieve(ctx)
	}
	if err != nil {
		return nil, b.fail("create", name, err)
	}
	return &writer{bucket: b, name: name}, nil
}

// Caps implements backends.Bucket.
func (b *Bucket) Caps() backends.Caps { return backends.Caps{Appends: 1, MaxAppend: maxAppend} }

// Close implements backends.Bucket. It ends what runs in the background and closes the idle connections.
func (b *Bucket) Close() error {
	b.stop()
	b.background.Wait()
	b.http.CloseIdleConnections()
	return nil
}

// key is the key of the object name.
func (b *Bucket) key(name string) string { return path.Join(b.options.Prefix, name) }
