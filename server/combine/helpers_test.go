package combine_test

import (
	"context"
	"log/slog"
	"testing"

	"github.com/walbridge/walbridge/backends"
	"github.com/walbridge/walbridge/backends/faulty"
	"github.com/walbridge/walbridge/backends/mem"
	framev1 "github.com/walbridge/walbridge/proto/walbridge/frame/v1"
	"github.com/walbridge/walbridge/server/combine"
	"github.com/walbridge/walbridge/server/frame"
)

var identity = frame.Identity{ClusterID: "c", BrokerID: 1, Incarnation: 7}

// section returns a section of n bytes in two chunks; its partition and its content tell it from others.
func section(partition, n int) frame.Section {
	data := make([]byte, n)
	for i := range data {
		data[i] = byte(partition*31 + i)
	}
	return frame.Section{
		Entry: &framev1.Entry{
			TopicId: []byte("0123456789abcdef"), Topic: "t", Partition: int32(partition),
			SegmentId: []byte("fedcba9876543210"), Length: uint32(n), Crc32C: backends.Checksum(data),
		},
		Chunks: [][]byte{data[:n/2], data[n/2:]},
	}
}

func content(s frame.Section) string {
	var b []byte
	for _, c := range s.Chunks {
		b = append(b, c...)
	}
	return string(b)
}

// opener makes a source of an Opener that keeps nothing ready.
type opener struct{ combine.Opener }

func (o *opener) Get(ctx context.Context) (combine.Object, error) { return o.Open(ctx) }

// rig is a running Combiner over one store in memory that can be made sick.
type rig struct {
	*combine.Combiner
	t     *testing.T
	store *mem.Bucket
	plan  *faulty.Plan
	stop  func()
}

// start runs a Combiner over a store whose appends take the time that plan says. Opts needs no identity, objects, caps.
func start(t *testing.T, store *mem.Bucket, opts combine.Options) *rig {
	t.Helper()
	r := &rig{t: t, store: store, plan: faulty.NewPlan(1)}
	bucket := faulty.Wrap(store, r.plan)
	opts.Identity, opts.Caps = identity, bucket.Caps()
	if opts.Objects == nil {
		opts.Objects = &opener{combine.Opener{
			Bucket: bucket, Identity: identity, Logger: slog.New(slog.DiscardHandler),
		}}
	}
	c, err := combine.New(opts)
	if err != nil {
		t.Fatal(err)
	}
	r.Combiner = c
	r.stop = run(t, c.Run)
	return r
}

// run runs f until the function that it returns is called, which waits for f's end.
func run(t *testing.T, f func(context.Context)) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		f(ctx)
	}()
	return func() {
		cancel()
		<-done
	}
}

// copy copies one section and checks that it can be read back.
func (r *rig) copy(s frame.Section) combine.Result {
	r.t.Helper()
	result, err := r.Copy(r.t.Context(), []frame.Section{s}, 0)
	if err != nil {
		r.t.Fatal(err)
	}
	r.checkStored(result, s)
	return result
}

// checkStored checks that the store has the sections where the result says.
func (r *rig) checkStored(result combine.Result, sections ...frame.Section) {
	r.t.Helper()
	b := make([]byte, result.Extent.Length)
	if err := r.store.ReadAt(r.t.Context(), name(result), b, result.Extent.Position); err != nil {
		r.t.Fatal(err)
	}
	checkFrame(r.t, b, result, sections...)
}

func checkFrame(t *testing.T, b []byte, result combine.Result, sections ...frame.Section) {
	t.Helper()
	f, err := frame.Decode(b)
	if err != nil {
		t.Fatal(err)
	}
	if f.CRC32C != result.Extent.CRC32C || f.Index.Incarnation != identity.Incarnation {
		t.Fatalf("extent %v of a frame with crc32c %08x by %v", result.Extent, f.CRC32C, f.Index)
	}
	if len(result.Entries) != len(sections) {
		t.Fatalf("%d locations for %d sections", len(result.Entries), len(sections))
	}
	for i, l := range result.Entries {
		if got := string(b[l.Position : l.Position+l.Length]); got != content(sections[i]) {
			t.Fatalf("entry %d of partition %d has other bytes", i, sections[i].Entry.Partition)
		}
	}
}

func name(r combine.Result) string { return r.Extent.Object.Name(identity.ClusterID) }

// objects returns the lengths of the store's objects by their name.
func (r *rig) objects() map[string]int64 {
	r.t.Helper()
	sizes := map[string]int64{}
	for o, err := range r.store.List(r.t.Context(), "") {
		if err != nil {
			r.t.Fatal(err)
		}
		sizes[o.Name] = o.Size
	}
	return sizes
}
