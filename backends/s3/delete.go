package s3

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"

	"github.com/walbridge/walbridge/backends"
)

// deleteBatch is how many keys one request takes.
const deleteBatch = 1000

// Delete implements backends.Bucket. A key that the store has confirmed is not asked for again, so that a store which
// throttles sees fewer of them each time.
func (b *Bucket) Delete(ctx context.Context, names []string) (deleted []string, err error) {
	for _, name := range names {
		if err := backends.CheckName(name); err != nil {
			return nil, b.fail("delete", name, err)
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, b.fail(fmt.Sprintf("delete %d objects of", len(names)), "", err)
	}
	var failed []error
	for batch := range slices.Chunk(names, deleteBatch) {
		d := &deletion{bucket: b, left: make(map[string]string, len(batch))}
		for _, name := range batch {
			d.left[b.key(name)] = name
		}
		err := b.do(ctx, d.attempt)
		deleted = append(deleted, d.deleted...)
		failed = append(failed, d.refused...)
		if err != nil {
			failed = append(failed, fmt.Errorf("%d objects are left: %w", len(d.left), err))
			break
		}
	}
	if err := errors.Join(failed...); err != nil {
		return deleted, b.fail(fmt.Sprintf("delete %d objects of", len(names)), "", err)
	}
	return deleted, nil
}

// deletion is one batch on its way.
type deletion struct {
	bucket  *Bucket
	left    map[string]string // key to name
	deleted []string
	refused []error // for keys that another attempt would not delete
}

// attempt asks for what is left. It fails as long as that is something that another attempt may delete.
func (d *deletion) attempt(ctx context.Context) error {
	if len(d.left) == 0 {
		return nil
	}
	out, err := d.bucket.client.DeleteObjects(ctx, &s3.DeleteObjectsInput{
		Bucket: &d.bucket.options.Bucket,
		Delete: &types.Delete{Objects: d.identifiers()},
	})
	if err != nil {
		return err
	}
	for _, o := range out.Deleted {
		if o.Key != nil {
			d.confirm(*o.Key)
		}
	}
	var worst error
	for _, e := range out.Errors {
		if err := d.failed(e); err != nil && (worst == nil || judge(err, d.bucket.express) == slower) {
			worst = err
		}
	}
	if worst == nil && len(d.left) > 0 {
		worst = errUnconfirmed
	}
	return worst
}

// errUnconfirmed is an answer that says nothing of some keys.
var errUnconfirmed = fmt.Errorf("the store confirms some of the objects only: %w", errShort)

func (d *deletion) identifiers() []types.ObjectIdentifier {
	ids := make([]types.ObjectIdentifier, 0, len(d.left))
	for key := range d.left {
		ids = append(ids, types.ObjectIdentifier{Key: &key})
	}
	return ids
}

func (d *deletion) confirm(key string) {
	if name, ok := d.left[key]; ok {
		d.deleted = append(d.deleted, name)
		delete(d.left, key)
	}
}

// failed notes one key's error. It returns it where another attempt is worth making.
func (d *deletion) failed(e types.Error) error {
	if e.Key == nil || e.Code == nil {
		return nil
	}
	if *e.Code == "NoSuchKey" {
		d.confirm(*e.Key)
		return nil
	}
	err := &smithy.GenericAPIError{Code: *e.Code}
	if e.Message != nil {
		err.Message = *e.Message
	}
	if judge(err, d.bucket.express) != final {
		return err
	}
	if name, ok := d.left[*e.Key]; ok {
		d.refused = append(d.refused, fmt.Errorf("%s: %w", name, classify(err)))
		delete(d.left, *e.Key)
	}
	return nil
}
