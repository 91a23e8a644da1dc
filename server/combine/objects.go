package combine

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/walbridge/walbridge/backends"
	"github.com/walbridge/walbridge/server/frame"
)

// Object is an open object, of length 0, that nobody else appends to.
type Object struct {
	ID     frame.ObjectID
	Writer backends.Writer
}

// Source is where objects come from: a *pool.LoadingQueue[Object] that has an Opener make them.
type Source interface {
	// Get returns an object, which is the caller's to close, or fails at the latest when ctx ends.
	Get(ctx context.Context) (Object, error)
}

// Opener opens objects for a pool, and gets rid of those that were not used.
type Opener struct {
	Bucket   backends.Bucket
	Identity frame.Identity
	// Logger gets what no caller is told.
	Logger *slog.Logger
}

// Open opens an object under a new name. It is a pool's Load.
func (o *Opener) Open(ctx context.Context) (Object, error) {
	// Not ulid.Make, whose entropy is monotonic: names that follow one another could be guessed, and collide where two
	// daemons were cloned.
	u, err := ulid.New(ulid.Timestamp(time.Now()), rand.Reader)
	if err != nil {
		return Object{}, fmt.Errorf("open object: name: %w", err)
	}
	id := frame.ObjectID{Broker: o.Identity.BrokerID, Incarnation: o.Identity.Incarnation, ULID: u}
	w, err := o.Bucket.Create(ctx, id.Name(o.Identity.ClusterID))
	if err != nil {
		return Object{}, fmt.Errorf("open object %s: %w", u, err)
	}
	return Object{ID: id, Writer: w}, nil
}

// Discard closes and deletes an object that was not used. It is a pool's Discard. One that it cannot delete stays, with
// length 0, until reconciliation finds it.
func (o *Opener) Discard(ctx context.Context, object Object) {
	name := object.ID.Name(o.Identity.ClusterID)
	if err := object.Writer.Close(ctx); err != nil {
		o.Logger.Debug("close failed", "op", "close", "object", name, "err", err)
	}
	if _, err := o.Bucket.Delete(ctx, []string{name}); err != nil {
		o.Logger.Debug("delete failed", "op", "delete", "object", name, "err", err)
	}
}
