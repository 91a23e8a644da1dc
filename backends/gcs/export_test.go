package gcs

import "cloud.google.com/go/storage"

// OverJSON returns a regional bucket that is reached by the SDK's other client, since no other fake speaks gRPC.
func OverJSON(client *storage.Client, o Options) (*Bucket, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	bucket := client.Bucket(o.Bucket)
	return &Bucket{
		opts: o, writeClient: client, writes: bucket, reads: bucket,
		writers: make(slots, o.MaxWriters), calls: make(slots, o.MaxReads),
	}, nil
}
