// Package gcs is a store in a Google Cloud Storage bucket: a zonal one (Rapid Storage), or an ordinary regional one.
//
// A zonal bucket's objects can be appended to. Making an object and finalizing it are slow there (40 ms each), flushing
// to one that is open is fast (1 ms). So Create makes the object and waits until it is there, which a pool of writers
// does ahead of time; Append writes, flushes, and checks that the service has exactly the bytes it should have; and
// nothing is ever finalized. An object that is not finalized is readable, byte for byte, as soon as Append returned;
// its size and checksum in listings may lag.
//
// A regional bucket takes an object whole, so Create touches nothing, there is no empty object, and one Append writes
// the object under the condition that there is none of its name. It costs what making and finalizing costs.
//
// Durability is the bucket's own: of one zone, or of a region.
//
// Retries. The SDK reopens a stream that broke, and sends again what was not confirmed, a few times within
// milliseconds; all else fails the Writer, and its caller takes another one. A service that does not answer is waited
// for until ctx ends: every call needs one with a deadline. What the SDK must not do here is to retry where it is
// throttled, and to repeat an object that is written whole: it would find its own first attempt and take it for
// somebody else's.
package gcs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"

	"cloud.google.com/go/storage"
	"google.golang.org/api/option"

	"github.com/walbridge/walbridge/backends"
)

// Mode is how objects are written.
type Mode string

// The modes.
const (
	// Zonal objects are appended to and never finalized. Only a zonal bucket takes them.
	Zonal Mode = "zonal"
	// Regional objects are written whole.
	Regional Mode = "regional"
)

// Options say which bucket it is and how it is used. The zero value of a field is its default.
type Options struct {
	// Bucket is the bucket's name. Required.
	Bucket string
	// Prefix is the directory of the bucket that holds the objects; default: all of the bucket. Nothing else is read,
	// listed or deleted.
	Prefix string
	// Mode is what the bucket is expected to be; Open fails where it is something else. Default: whatever it is.
	Mode Mode
	// KeepUnfinalized has Delete fail where the service refuses to delete an object because it is not finalized. By
	// default it finalizes such an object and deletes it then, which takes two calls more.
	KeepUnfinalized bool

	// MaxWriters bounds the Writers that are open at once: a Create beyond it waits for a Close. It sizes the connections
	// that writers have of their own. Default 512.
	MaxWriters int
	// MaxReads bounds the calls other than a Writer's that are under way at once. Default 256.
	MaxReads int

	// Logger gets one line when the bucket is opened, with the identity it is used with. Default: no log.
	Logger *slog.Logger
	// ClientOptions are added to those of the SDK's clients.
	ClientOptions []option.ClientOption
}

func (o Options) withDefaults() (Options, error) {
	o.MaxWriters = cmp.Or(o.MaxWriters, 512)
	o.MaxReads = cmp.Or(o.MaxReads, 256)
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	switch {
	case o.Bucket == "":
		return o, errors.New("no bucket is named")
	case o.Mode != "" && o.Mode != Zonal && o.Mode != Regional:
		return o, fmt.Errorf("mode %q: must be %s or %s", o.Mode, Zonal, Regional)
	case o.MaxWriters < 0 || o.MaxReads < 0:
		return o, errors.New("MaxWriters or MaxReads is negative")
	}
	return o, backends.CheckDir(o.Prefix)
}

// Bucket is a bucket, or a directory of one. Make one with Open.
type Bucket struct {
	opts  Options
	zonal bool

	// Writers hold their streams for minutes and a connection has only so many, beyond which everything on it waits: so
	// they have connections of their own.
	writeClient, readClient *storage.Client
	writes, reads           *storage.BucketHandle
	writers, calls          slots
}

// Open finds out what the bucket is. It needs the permission storage.buckets.get, besides those on objects: create,
// get, list and delete.
func Open(ctx context.Context, o Options) (*Bucket, error) {
	b, err := open(ctx, o)
	if err != nil {
		return nil, fmt.Errorf("gcs: open bucket %s: %w", o.Bucket, err)
	}
	return b, nil
}

func open(ctx context.Context, o Options) (_ *Bucket, err error) {
	o, err = o.withDefaults()
	if err != nil {
		return nil, err
	}
	b := &Bucket{opts: o, writers: make(slots, o.MaxWriters), calls: make(slots, o.MaxReads)}
	defer func() {
		if err != nil {
			err = errors.Join(err, b.Close())
		}
	}()
	if b.writeClient, err = newClient(ctx, o, o.MaxWriters, storage.WithAppendableUploads()); err != nil {
		return nil, err
	}
	b.writes = b.writeClient.Bucket(o.Bucket)
	attrs, err := b.writes.Attrs(ctx)
	if err != nil {
		return nil, known(ctx, err)
	}
	if b.zonal, err = zonal(attrs, o.Mode); err != nil {
		return nil, err
	}
	var readOptions []option.ClientOption
	if b.zonal {
		readOptions = append(readOptions, storage.WithGRPCBidiReads())
	}
	if b.readClient, err = newClient(ctx, o, o.MaxReads, readOptions...); err != nil {
		return nil, err
	}
	b.reads = b.readClient.Bucket(o.Bucket)
	who := identity{name: "the caller's", source: "client options"}
	if len(o.ClientOptions) == 0 {
		who = whoami(ctx)
	}
	o.Logger.Info("bucket opened", "bucket", o.Bucket, "zonal", b.zonal, "location", attrs.Location,
		"class", attrs.StorageClass, "identity", who.name, "credentials", who.source)
	return b, nil
}

// zonal tells whether the bucket is zonal, or why it is not what it should be.
func zonal(attrs *storage.BucketAttrs, want Mode) (bool, error) {
	is := attrs.LocationType == "zone" || attrs.StorageClass == "RAPID"
	if want == Zonal && !is || want == Regional && is {
		return false, fmt.Errorf("mode=%s: the bucket is in %s (location type %s) and of class %s; "+
			"only a bucket in a zone, of class RAPID, takes appends, and it takes nothing else",
			want, attrs.Location, attrs.LocationType, attrs.StorageClass)
	}
	return is, nil
}

// Caps implements backends.Bucket.
func (b *Bucket) Caps() backends.Caps {
	if b.zonal {
		return backends.Caps{Appends: math.MaxInt, MaxAppend: maxAppend}
	}
	return backends.Caps{Appends: 1, MaxAppend: maxAppend}
}

// maxAppend keeps one Append within one deadline.
const maxAppend = 1 << 30

// Close implements backends.Bucket.
func (b *Bucket) Close() error {
	var errs []error
	for _, c := range []*storage.Client{b.writeClient, b.readClient} {
		if c != nil {
			errs = append(errs, c.Close())
		}
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("gcs: close bucket %s: %w", b.opts.Bucket, err)
	}
	return nil
}

// object is the object's whole name in the bucket.
func (b *Bucket) object(name string) string {
	if b.opts.Prefix == "" {
		return name
	}
	return b.opts.Prefix + "/" + name
}
