package file_test

import (
	"fmt"
	"testing"

	"github.com/walbridge/walbridge/backends"
)

var sizes = []int{4 << 10, 300 << 10, 1 << 20, 4 << 20}

// BenchmarkCreate makes objects as the pool does, a minute's directory for all.
func BenchmarkCreate(b *testing.B) {
	bucket, ctx := open(b, b.TempDir()), b.Context()
	for i := 0; b.Loop(); i++ {
		w, err := bucket.Create(ctx, fmt.Sprintf("cluster/1/0000000001/20260102T0304/%026d", i))
		if err != nil {
			b.Fatal(err)
		}
		w.Close(ctx)
	}
}

// BenchmarkAppend appends to one object, as a lane does between rotations.
func BenchmarkAppend(b *testing.B) {
	for _, size := range sizes {
		b.Run(fmt.Sprintf("%dKiB", size>>10), func(b *testing.B) {
			bucket, ctx, p := open(b, b.TempDir()), b.Context(), make([]byte, size)
			crc := backends.Checksum(p)
			b.SetBytes(int64(size))
			const perObject = 64
			var w backends.Writer
			for i := 0; b.Loop(); i++ {
				if i%perObject == 0 {
					b.StopTimer()
					name := fmt.Sprintf("a/%d", i/perObject)
					if w != nil {
						w.Close(ctx)
						bucket.Delete(ctx, []string{fmt.Sprintf("a/%d", i/perObject-1)})
					}
					var err error
					if w, err = bucket.Create(ctx, name); err != nil {
						b.Fatal(err)
					}
					b.StartTimer()
				}
				if err := w.Append(ctx, p, crc); err != nil {
					b.Fatal(err)
				}
			}
			w.Close(ctx)
		})
	}
}

// BenchmarkRead reads from the page cache, as a follower does that keeps up.
func BenchmarkRead(b *testing.B) {
	for _, size := range sizes {
		b.Run(fmt.Sprintf("%dKiB", size>>10), func(b *testing.B) {
			bucket, ctx, p := open(b, b.TempDir()), b.Context(), make([]byte, size)
			w, err := bucket.Create(ctx, "a/b")
			if err == nil {
				err = w.Append(ctx, p, backends.Checksum(p))
			}
			if err != nil {
				b.Fatal(err)
			}
			w.Close(ctx)
			b.SetBytes(int64(size))
			for b.Loop() {
				if err := bucket.ReadAt(ctx, "a/b", p, 0); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
