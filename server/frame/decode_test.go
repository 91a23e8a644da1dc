package frame

import (
	"errors"
	"math"
	"runtime"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/walbridge/walbridge/backends"
	framev1 "github.com/walbridge/walbridge/proto/walbridge/frame/v1"
)

func TestDecodeDetectsEveryFlip(t *testing.T) {
	b := sampleFrame(t).Bytes
	for i := range b {
		for bit := range 8 {
			b[i] ^= 1 << bit
			_, err := Decode(b)
			if c, ok := errors.AsType[*CorruptError](err); !ok || !errors.Is(err, backends.ErrChecksum) || c.Truncated {
				t.Errorf("byte %d bit %d flipped: %v, want a *CorruptError", i, bit, err)
			}
			b[i] ^= 1 << bit
		}
	}
}

func TestDecodeDetectsEveryLength(t *testing.T) {
	b := sampleFrame(t).Bytes
	for n := range b {
		_, err := Decode(b[:n])
		if c, ok := errors.AsType[*CorruptError](err); !ok || !c.Truncated || c.Offset != int64(n) {
			t.Errorf("%d of %d bytes: %v, want a *CorruptError that is Truncated at %d", n, len(b), err, n)
		}
	}
	_, err := Decode(append(b, 0))
	if c, ok := errors.AsType[*CorruptError](err); !ok || c.Truncated || c.Offset != int64(len(b)) {
		t.Errorf("a byte too many: %v, want a *CorruptError at %d", err, len(b))
	}
}

func TestDecodeIndexNeedsNoData(t *testing.T) {
	want := sampleFrame(t)
	f, err := DecodeIndex(want.Bytes[:want.Header.IndexEnd()])
	if err != nil {
		t.Fatal(err)
	}
	if f.CRC32C != want.CRC32C || f.Size() != want.Size() || !proto.Equal(f.Index, want.Index) || f.Bytes != nil {
		t.Errorf("DecodeIndex = %+v, want %+v without bytes", f, want)
	}
}

func TestDecodeOfANewerVersion(t *testing.T) {
	for _, i := range []int{4, 5, 6, 7, 24, 25, 26, 27} { // version, flags, reserved
		b := sampleFrame(t).Bytes
		b[i]++
		if _, err := Decode(resealHeader(b)); !errors.Is(err, ErrVersion) || errors.Is(err, backends.ErrChecksum) {
			t.Errorf("byte %d changed: %v, want ErrVersion alone", i, err)
		}
	}
}

// A newer writer of the same version may add fields to the index.
func TestDecodeIgnoresUnknownFields(t *testing.T) {
	f := sampleFrame(t)
	unknown := protowire.AppendVarint(protowire.AppendTag(nil, 1000, protowire.VarintType), 1)
	f.Index.ProtoReflect().SetUnknown(unknown)
	f.Index.Entries[1].ProtoReflect().SetUnknown(unknown)
	place(f.Index, HeaderSize+int64(proto.Size(f.Index)))
	index, err := proto.Marshal(f.Index)
	if err != nil {
		t.Fatal(err)
	}
	decoded, err := Decode(seal(index, f.Bytes[f.Header.IndexEnd():]))
	if err != nil {
		t.Fatal(err)
	}
	if string(decoded.Entry(1)) != "some records" {
		t.Errorf("entry 1 is %q", decoded.Entry(1))
	}
}

// Checksums do not help against these: they are right.
func TestDecodeRefusesWhatEncodeWouldNotWrite(t *testing.T) {
	for name, change := range map[string]func(index *framev1.FrameIndex){
		"no entries":           func(x *framev1.FrameIndex) { x.Entries = nil },
		"an entry less":        func(x *framev1.FrameIndex) { x.Entries = x.Entries[:1] },
		"an entry twice":       func(x *framev1.FrameIndex) { x.Entries = append(x.Entries, x.Entries[1]) },
		"entries out of order": func(x *framev1.FrameIndex) { x.Entries[0], x.Entries[1] = x.Entries[1], x.Entries[0] },
		"a gap":                func(x *framev1.FrameIndex) { x.Entries[0].Length-- },
		"an overlap":           func(x *framev1.FrameIndex) { x.Entries[1].Position-- },
		"length that wraps":    func(x *framev1.FrameIndex) { x.Entries[1].Length = math.MaxUint32 },
		"a topic with slashes": func(x *framev1.FrameIndex) { x.Entries[0].Topic = "../x" },
		"no cluster":           func(x *framev1.FrameIndex) { x.ClusterId = "" },
		"a negative broker id": func(x *framev1.FrameIndex) { x.BrokerId = -1 },
	} {
		f := sampleFrame(t)
		change(f.Index)
		index, err := proto.Marshal(f.Index)
		if err != nil {
			t.Fatal(err)
		}
		// Where the change made the index longer or shorter, the positions are off by that as well.
		shift := uint32(len(index)) - f.Header.IndexLength
		for _, e := range f.Index.Entries {
			e.Position += shift
		}
		if index, err = proto.Marshal(f.Index); err != nil {
			t.Fatal(err)
		}
		_, err = Decode(seal(index, f.Bytes[f.Header.IndexEnd():]))
		if _, ok := errors.AsType[*CorruptError](err); !ok {
			t.Errorf("%s: %v, want a *CorruptError", name, err)
		}
	}
}

func TestDecodeHeaderBoundsItsLengths(t *testing.T) {
	for _, h := range []Header{
		{IndexLength: MaxIndex + 1},
		{IndexLength: 100, DataLength: MaxSize - 100 - HeaderSize + 1},
		{IndexLength: math.MaxUint32, DataLength: math.MaxUint64},
	} {
		if _, err := DecodeHeader(h.append(nil)); err == nil {
			t.Errorf("DecodeHeader accepts %+v", h)
		}
	}
	largest := Header{IndexLength: MaxIndex, DataLength: MaxSize - MaxIndex - HeaderSize}
	if h, err := DecodeHeader(largest.append(nil)); h != largest || err != nil || h.Size() != MaxSize {
		t.Errorf("DecodeHeader = %+v, %v, want %+v", h, err, largest)
	}
}

func TestDecodeOfAHostileIndexTakesLittleMemory(t *testing.T) {
	repeat := func(b []byte) (all []byte) {
		for len(all) < 4<<20 {
			all = append(all, b...)
		}
		return all
	}
	entry := func(lineage []byte) []byte {
		e := append(make([]byte, 0, 64+len(lineage)), lineage...)
		for _, field := range []protowire.Number{1, 4} {
			e = protowire.AppendBytes(protowire.AppendTag(e, field, protowire.BytesType), make([]byte, idSize))
		}
		e = protowire.AppendBytes(protowire.AppendTag(e, 2, protowire.BytesType), []byte("t"))
		for _, field := range []protowire.Number{15, 16} {
			e = protowire.AppendFixed32(protowire.AppendTag(e, field, protowire.Fixed32Type), 1)
		}
		return protowire.AppendBytes(protowire.AppendTag(nil, fieldEntries, protowire.BytesType), e)
	}
	start := protowire.AppendTag(nil, fieldLineage, protowire.BytesType)
	for name, index := range map[string][]byte{
		"empty entries":             repeat([]byte{fieldEntries<<3 | 2, 0}),
		"shortest entries":          repeat(entry(nil)),
		"empty leader epochs":       entry(repeat(append(start, 0))),
		"shortest leader epochs":    entry(repeat(append(start, 4, 1<<3, 1, 2<<3, 1))),
		"one leader epoch each":     repeat(entry(append(start, 0))),
		"the same field over again": repeat([]byte{1<<3 | 2, 1, 'c'}),
	} {
		b := seal(index, []byte("data"))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Decode(b)
		runtime.ReadMemStats(&after)
		if err == nil {
			t.Errorf("%s: no error", name)
		}
		times := float64(after.TotalAlloc-before.TotalAlloc) / float64(len(b))
		t.Logf("%s: %d bytes, allocates %.1f times as many: %v", name, len(b), times, err)
		if times > 20 {
			t.Errorf("%s: allocates %.1f times the frame's size, want at most 20", name, times)
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	f, err := Encode(sampleIdentity, frame4MiB())
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(f.Size())
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Decode(f.Bytes); err != nil {
			b.Fatal(err)
		}
	}
}
