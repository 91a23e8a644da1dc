package frame

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/walbridge/walbridge/backends"
)

// twoFrames returns an object and its frames.
func twoFrames(t testing.TB) ([]byte, []Scanned) {
	t.Helper()
	first := sampleFrame(t)
	second, err := Encode(sampleIdentity, sampleSections()[1:])
	if err != nil {
		t.Fatal(err)
	}
	return slices.Concat(first.Bytes, second.Bytes), []Scanned{{0, first}, {first.Size(), second}}
}

func collect(b []byte, depth Depth) ([]Scanned, error) {
	var frames []Scanned
	for s, err := range Scan(sampleName, object(b), depth) {
		if err != nil {
			return frames, err
		}
		frames = append(frames, s)
	}
	return frames, nil
}

// check compares frames that were found with those that were written.
func checkFrames(t *testing.T, got, want []Scanned, depth Depth) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d frames, want %d", len(got), len(want))
	}
	for i, g := range got {
		w := want[i]
		if g.Position != w.Position || g.Header != w.Header || g.CRC32C != w.CRC32C || !proto.Equal(g.Index, w.Index) {
			t.Errorf("frame %d: %+v, want %+v", i, g, w)
		}
		if depth == Whole && !bytes.Equal(g.Bytes, w.Bytes) || depth == IndexOnly && g.Bytes != nil {
			t.Errorf("frame %d, depth %d: bytes %x", i, depth, g.Bytes)
		}
	}
}

func eachDepth(t *testing.T, test func(t *testing.T, depth Depth)) {
	t.Run("IndexOnly", func(t *testing.T) { test(t, IndexOnly) })
	t.Run("Whole", func(t *testing.T) { test(t, Whole) })
}

func TestScan(t *testing.T) {
	eachDepth(t, func(t *testing.T, depth Depth) {
		b, want := twoFrames(t)
		got, err := collect(b, depth)
		if err != nil {
			t.Fatal(err)
		}
		checkFrames(t, got, want, depth)
		for _, s := range got {
			e := s.Extent(sampleObject, s.Position)
			if crc := backends.Checksum(b[e.Position:][:e.Length]); e.CRC32C != crc || e.Object != sampleObject {
				t.Errorf("extent %v, want crc32c %08x", e, crc)
			}
		}
	})
}

func TestScanOfAnUnusedObject(t *testing.T) {
	eachDepth(t, func(t *testing.T, depth Depth) {
		if got, err := collect(nil, depth); len(got) != 0 || err != nil {
			t.Errorf("%d frames, %v, want neither", len(got), err)
		}
	})
}

// An object that ends between two frames is a whole object; only an extent tells that it once had more.
func TestScanDetectsEveryTruncation(t *testing.T) {
	eachDepth(t, func(t *testing.T, depth Depth) {
		b, want := twoFrames(t)
		boundaries := []int64{0, want[1].Position}
		for n := range b {
			got, err := collect(b[:n], depth)
			whole := 0
			if int64(n) >= want[1].Position {
				whole = 1
			}
			checkFrames(t, got, want[:whole], depth)
			if slices.Contains(boundaries, int64(n)) {
				if err != nil {
					t.Errorf("%d bytes are %d whole frames, but %v", n, whole, err)
				}
				continue
			}
			c, ok := errors.AsType[*CorruptError](err)
			if !ok || !c.Truncated || c.Object != sampleName || c.Offset < want[whole].Position || c.Offset > int64(n) {
				t.Errorf("%d of %d bytes: %v, want a *CorruptError that is Truncated", n, len(b), err)
			}
		}
	})
}

// What a scan at IndexOnly does not read it cannot check; it still finds the same frames.
func TestScanDetectsEveryFlip(t *testing.T) {
	eachDepth(t, func(t *testing.T, depth Depth) {
		b, want := twoFrames(t)
		for i := range b {
			damaged := 0
			if int64(i) >= want[1].Position {
				damaged = 1
			}
			f := want[damaged]
			inData := int64(i)-f.Position >= f.Header.IndexEnd()
			for bit := range 8 {
				changed := bytes.Clone(b)
				changed[i] ^= 1 << bit
				got, err := collect(changed, depth)
				if depth == IndexOnly && inData {
					if err != nil {
						t.Errorf("byte %d bit %d: %v", i, bit, err)
					}
					checkFrames(t, got, want, depth)
					continue
				}
				c, ok := errors.AsType[*CorruptError](err)
				if !ok || c.Object != sampleName || c.Offset < f.Position || c.Offset > int64(i) {
					t.Errorf("byte %d bit %d: %v, want a *CorruptError at or before it", i, bit, err)
				}
				checkFrames(t, got, want[:damaged], depth)
			}
		}
	})
}

// Some file systems leave zeros where a crash cut an append off.
func TestScanOfZeros(t *testing.T) {
	eachDepth(t, func(t *testing.T, depth Depth) {
		b, want := twoFrames(t)
		got, err := collect(append(b, make([]byte, 4096)...), depth)
		checkFrames(t, got, want, depth)
		if c, ok := errors.AsType[*CorruptError](err); !ok || c.Offset != int64(len(b)) {
			t.Errorf("%v, want a *CorruptError at %d", err, len(b))
		}
	})
}

func TestScanOfANewerVersion(t *testing.T) {
	eachDepth(t, func(t *testing.T, depth Depth) {
		b, want := twoFrames(t)
		next := b[want[1].Position:]
		next[4]++
		resealHeader(next)
		got, err := collect(b, depth)
		checkFrames(t, got, want[:1], depth)
		if !errors.Is(err, ErrVersion) {
			t.Errorf("%v, want ErrVersion", err)
		}
	})
}

// Whichever read fails, the scan ends with its error and calls nothing corrupt.
func TestScanReportsErrorsOfTheStore(t *testing.T) {
	eachDepth(t, func(t *testing.T, depth Depth) {
		b, _ := twoFrames(t)
		for failing := 1; ; failing++ {
			calls := 0
			read := func(p []byte, off int64, _ func([]byte) error) error {
				if calls++; calls == failing {
					return backends.ErrThrottled
				}
				return object(b)(p, off, nil)
			}
			var last error
			for _, err := range Scan(sampleName, read, depth) {
				last = err
			}
			if calls < failing {
				if want := 2*3 + 2; calls != want || last != nil {
					t.Errorf("%d reads, %v, want %d", calls, last, want)
				}
				return
			}
			if !errors.Is(last, backends.ErrThrottled) || errors.Is(last, backends.ErrChecksum) {
				t.Errorf("read %d fails: %v", failing, last)
			}
			if calls != failing {
				t.Errorf("read %d failed, but there were %d", failing, calls)
			}
		}
	})
}

func TestScanStopsWhenToldTo(t *testing.T) {
	b, _ := twoFrames(t)
	calls := 0
	read := func(p []byte, off int64, _ func([]byte) error) error {
		calls++
		return object(b)(p, off, nil)
	}
	for range Scan(sampleName, read, Whole) {
		break
	}
	if calls != 3 {
		t.Errorf("%d reads for one frame, want 3", calls)
	}
}

// A header can claim 2 GiB; the object it stands in has 32 bytes.
func TestScanAllocatesOnlyForWhatIsThere(t *testing.T) {
	h := Header{IndexLength: MaxIndex, DataLength: MaxSize - MaxIndex - HeaderSize}.append(nil)
	read := func(p []byte, off int64, _ func([]byte) error) error {
		if len(p) > HeaderSize {
			t.Errorf("a read of %d bytes", len(p))
		}
		return object(h)(p, off, nil)
	}
	for _, err := range Scan(sampleName, read, Whole) {
		if c, ok := errors.AsType[*CorruptError](err); !ok || !c.Truncated {
			t.Errorf("%v, want a *CorruptError that is Truncated", err)
		}
	}
}
