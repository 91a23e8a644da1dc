package frame

import (
	"encoding/binary"
	"errors"
	"math"
	"testing"

	"github.com/walbridge/walbridge/backends"
)

var sampleExtent = Extent{Object: sampleObject, Position: 1 << 40, Length: 416, CRC32C: 0x89abcdef}

func marshal(t testing.TB, e Extent) []byte {
	t.Helper()
	b, err := e.AppendBinary(nil)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// resealExtent makes the last four bytes the checksum of those before.
func resealExtent(b []byte) []byte {
	binary.BigEndian.PutUint32(b[len(b)-4:], backends.Checksum(b[:len(b)-4]))
	return b
}

func TestExtentRoundTrip(t *testing.T) {
	for _, e := range []Extent{
		sampleExtent,
		{Length: HeaderSize + 1},
		{
			Object:   ObjectID{Broker: math.MaxInt32, Incarnation: math.MaxUint32},
			Position: math.MaxInt64 - MaxSize, Length: MaxSize, CRC32C: math.MaxUint32,
		},
	} {
		b := marshal(t, e)
		if len(b) != ExtentSize {
			t.Errorf("%v takes %d bytes, want %d", e, len(b), ExtentSize)
		}
		if got, err := ParseExtent(b); got != e || err != nil {
			t.Errorf("ParseExtent = %v, %v, want %v", got, err, e)
		}
	}
	prefixed, err := sampleExtent.AppendBinary([]byte("before"))
	if err != nil || string(prefixed[:6]) != "before" || string(prefixed[6:]) != string(marshal(t, sampleExtent)) {
		t.Errorf("AppendBinary to 6 bytes = %x, %v", prefixed, err)
	}
}

func TestExtentDetectsEveryFlipAndLength(t *testing.T) {
	b := marshal(t, sampleExtent)
	for i := range b {
		for bit := range 8 {
			b[i] ^= 1 << bit
			if e, err := ParseExtent(b); err == nil || errors.Is(err, ErrVersion) {
				t.Errorf("byte %d bit %d flipped: %v, %v, want a wrong checksum", i, bit, e, err)
			}
			b[i] ^= 1 << bit
		}
	}
	long := append(b, make([]byte, 100)...)
	for n := range len(long) {
		if _, err := ParseExtent(long[:n]); (err == nil) != (n == ExtentSize) {
			t.Errorf("ParseExtent of %d bytes: %v", n, err)
		}
	}
}

func TestExtentOfANewerVersion(t *testing.T) {
	for i := range 4 { // the version and the reserved bytes
		b := marshal(t, sampleExtent)
		b[i]++
		if _, err := ParseExtent(resealExtent(b)); !errors.Is(err, ErrVersion) {
			t.Errorf("byte %d changed: %v, want ErrVersion", i, err)
		}
	}
	longer := resealExtent(append([]byte{2}, make([]byte, MaxExtent-1)...))
	if _, err := ParseExtent(longer); !errors.Is(err, ErrVersion) {
		t.Errorf("a longer extent of version 2: %v, want ErrVersion", err)
	}
}

func TestExtentRefusesWhatCannotBe(t *testing.T) {
	for field, e := range map[string]Extent{
		"length":           {Length: HeaderSize},
		"position":         {Length: 100, Position: -1},
		"broker":           {Length: 100, Object: ObjectID{Broker: -1}},
		"time of the ULID": {Length: 100, Object: ObjectID{ULID: [16]byte{255}}},
	} {
		_, err := e.AppendBinary(nil)
		if invalid, ok := errors.AsType[*InvalidError](err); !ok || invalid.Field != field {
			t.Errorf("AppendBinary of a wrong %s: %v", field, err)
		}
	}
	for _, e := range []Extent{{Length: MaxSize + 1}, {Length: 100, Position: math.MaxInt64 - 99}} {
		if _, err := e.AppendBinary(nil); err == nil {
			t.Errorf("AppendBinary accepts %v", e)
		}
	}
	b := marshal(t, sampleExtent)
	b[28] |= 0x80 // the position's sign
	if e, err := ParseExtent(resealExtent(b)); err == nil {
		t.Errorf("ParseExtent accepts %v", e)
	}
}

func TestExtentString(t *testing.T) {
	const want = "1/0000000007/01M8PCG6H3E9J2M6N0PR4TVWXY@1099511627776+416 crc32c 89abcdef"
	if got := sampleExtent.String(); got != want {
		t.Errorf("String = %q, want %q", got, want)
	}
}
