package quorum

import (
	"context"
	"fmt"
	"testing"

	"github.com/walbridge/walbridge/backends"
)

// discard is a store that checks the CRC of what it gets and drops it.
type discard struct{ backends.Bucket }

func (discard) Create(context.Context, string) (backends.Writer, error) { return discardWriter{}, nil }

func (discard) Caps() backends.Caps { return backends.Caps{Appends: 1 << 30, MaxAppend: 1 << 30} }

func (discard) Close() error { return nil }

type discardWriter struct{}

func (discardWriter) Append(_ context.Context, p []byte, crc uint32) error {
	if backends.Checksum(p) != crc {
		return backends.ErrChecksum
	}
	return nil
}

func (discardWriter) Close(context.Context) error { return nil }

// BenchmarkAppend is what the quorum adds to its zones. The bytes allocated show that it copies nothing.
func BenchmarkAppend(b *testing.B) {
	for _, size := range []int{1 << 10, 300 << 10, 4 << 20} {
		for _, zones := range []int{0, 1, 3} {
			b.Run(fmt.Sprintf("%d KiB/%d zones", size>>10, zones), func(b *testing.B) {
				p := make([]byte, size)
				crc := backends.Checksum(p)
				w, err := discard{}.Create(b.Context(), "x")
				if zones > 0 {
					var list []Zone
					for i := range zones {
						list = append(list, Zone{Name: fmt.Sprint("zone", i), Bucket: discard{}})
					}
					var bucket *Bucket
					if bucket, err = New(list, Options{}); err != nil {
						b.Fatal(err)
					}
					defer bucket.Close()
					w, err = bucket.Create(b.Context(), "x")
				}
				if err != nil {
					b.Fatal(err)
				}
				b.SetBytes(int64(size))
				b.ReportAllocs()
				for b.Loop() {
					if err := w.Append(b.Context(), p, crc); err != nil {
						b.Fatal(err)
					}
				}
				if err := w.Close(b.Context()); err != nil {
					b.Fatal(err)
				}
			})
		}
	}
}
