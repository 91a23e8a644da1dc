package s3

import (
	"context"
	"iter"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/walbridge/walbridge/backends"
)

// List implements backends.Bucket. Keys that cannot be names, such as a directory's marker, are left out. A directory
// bucket lists in no order, with no start, and below whole directories only: that is all that is asked of the others
// too.
func (b *Bucket) List(ctx context.Context, dir string) iter.Seq2[backends.Object, error] {
	return func(yield func(backends.Object, error) bool) {
		err := backends.CheckDir(dir)
		for token, more := (*string)(nil), true; more && err == nil; {
			if err = ctx.Err(); err != nil {
				break
			}
			var page *s3.ListObjectsV2Output
			if page, err = b.page(ctx, dir, token); err != nil {
				break
			}
			for _, o := range b.objects(page) {
				if !yield(o, nil) {
					return
				}
			}
			token = page.NextContinuationToken
			more = token != nil
		}
		if err != nil {
			yield(backends.Object{}, b.fail("list", dir, err))
		}
	}
}

func (b *Bucket) page(ctx context.Context, dir string, token *string) (page *s3.ListObjectsV2Output, err error) {
	in := &s3.ListObjectsV2Input{Bucket: &b.options.Bucket, ContinuationToken: token}
	if prefix := b.key(dir); prefix != "" {
		prefix += "/"
		in.Prefix = &prefix
	}
	err = b.do(ctx, func(ctx context.Context) error {
		page, err = b.client.ListObjectsV2(ctx, in)
		return err
	})
	return page, err
}

func (b *Bucket) objects(page *s3.ListObjectsV2Output) []backends.Object {
	prefix := ""
	if b.options.Prefix != "" {
		prefix = b.options.Prefix + "/"
	}
	objects := make([]backends.Object, 0, len(page.Contents))
	for _, o := range page.Contents {
		if o.Key == nil || o.Size == nil {
			continue
		}
		name, ok := strings.CutPrefix(*o.Key, prefix)
		if ok && backends.CheckName(name) == nil {
			objects = append(objects, backends.Object{Name: name, Size: *o.Size})
		}
	}
	return objects
}
