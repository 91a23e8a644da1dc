// Package incarnation gives every start of a daemon a number of its own: the lowest that no start of the same broker has
// taken in a quorum of zones. It is part of the name of every object that the daemon writes, so that two daemons that
// think they are the same broker never write the same name.
package incarnation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path"
	"strconv"

	"github.com/walbridge/walbridge/backends"
	"github.com/walbridge/walbridge/server/frame"
)

// attempts bounds how often Claim tries the next number: each failure means that another start took it meanwhile, or
// that an earlier one was cut off in the middle.
const attempts = 100

// Owner is what a claim holds, for people.
type Owner struct {
	Host    string `json:"host"`
	PID     int    `json:"pid"`
	Version string `json:"version"`
	Started string `json:"started"`
}

// Claim takes the next number of the broker by creating an object that must not exist, in a quorum of zones. It is
// durable when Claim returns. A number whose outcome is unknown is skipped, never used.
func Claim(ctx context.Context, b backends.Bucket, cluster string, broker int32, owner Owner) (uint32, error) {
	dir := path.Join(frame.Dir(cluster, broker), "incarnations")
	next, err := highest(ctx, b, dir)
	if err != nil {
		return 0, err
	}
	body, err := json.Marshal(owner)
	if err != nil {
		return 0, err
	}
	for range attempts {
		if next == math.MaxUint32 {
			return 0, fmt.Errorf("claim incarnation of broker %d: all %d numbers are taken", broker, uint32(math.MaxUint32))
		}
		next++
		err = create(ctx, b, path.Join(dir, fmt.Sprintf("%010d", next)), body)
		if err == nil {
			return next, nil
		}
		if !errors.Is(err, backends.ErrExists) {
			break
		}
	}
	return 0, fmt.Errorf("claim incarnation %d of broker %d: %w", next, broker, err)
}

// highest returns the highest number that was taken, 0 if none was.
func highest(ctx context.Context, b backends.Bucket, dir string) (uint32, error) {
	var most uint32
	for object, err := range b.List(ctx, dir) {
		if err != nil {
			return 0, fmt.Errorf("list incarnations in %s: %w", dir, err)
		}
		if n, err := strconv.ParseUint(path.Base(object.Name), 10, 32); err == nil {
			most = max(most, uint32(n))
		}
	}
	return most, nil
}

func create(ctx context.Context, b backends.Bucket, name string, body []byte) error {
	w, err := b.Create(ctx, name)
	if err != nil {
		return err
	}
	defer func() { _ = w.Close(context.WithoutCancel(ctx)) }() // The claim stands with the Append.
	return w.Append(ctx, body, backends.Checksum(body))
}
