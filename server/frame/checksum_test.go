package frame

import (
	"testing"

	"github.com/walbridge/walbridge/backends"
)

func TestCombineChecksumsAgainstHashing(t *testing.T) {
	rnd := random(t)
	data := randomBytes(rnd, 1<<17)
	for range 2000 {
		b := data[:rnd.IntN(1+1<<rnd.IntN(18))]
		n := rnd.IntN(len(b) + 1)
		got := CombineChecksums(backends.Checksum(b[:n]), backends.Checksum(b[n:]), int64(len(b)-n))
		if want := backends.Checksum(b); got != want {
			t.Fatalf("of %d and %d bytes: %08x, want %08x", n, len(b)-n, got, want)
		}
	}
}

// What is too long to hash follows from what is not: 2^(k+1) bytes are 2^k bytes twice, also where the tables wrap.
func TestCombineChecksumsOverLongRuns(t *testing.T) {
	rnd := random(t)
	for k := range 62 {
		crc := rnd.Uint32()
		twice := CombineChecksums(CombineChecksums(crc, 0, 1<<k), 0, 1<<k)
		if once := CombineChecksums(crc, 0, 1<<(k+1)); once != twice {
			t.Errorf("2^%d bytes behind %08x: %08x, twice half of it %08x", k+1, crc, once, twice)
		}
	}
}

func BenchmarkCombineChecksums(b *testing.B) {
	crc := uint32(0)
	for b.Loop() {
		crc = CombineChecksums(crc, 0x89abcdef, 4195)
	}
}
