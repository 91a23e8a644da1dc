package frame

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/walbridge/walbridge/backends"
)

// The seeds are in testdata/fuzz. Checksums hide what is behind them from a fuzzer, so most targets also make those of
// their input right.

func FuzzDecode(f *testing.F) {
	f.Fuzz(func(t *testing.T, b []byte) { decodeAnything(t, b) })
}

// FuzzDecodeSealed reaches what is behind the checksums of a header.
func FuzzDecodeSealed(f *testing.F) {
	f.Fuzz(func(t *testing.T, index, data []byte) { decodeAnything(t, seal(index, data)) })
}

// decodeAnything checks that b is refused with one of the documented errors, or is what Encode makes of its content.
func decodeAnything(t *testing.T, b []byte) {
	decoded, err := Decode(b)
	if err != nil {
		checkRefusal(t, err)
		return
	}
	if crc := backends.Checksum(b); decoded.CRC32C != crc || decoded.Size() != int64(len(b)) {
		t.Fatalf("%d bytes, crc32c %08x, want %d, %08x", decoded.Size(), decoded.CRC32C, len(b), crc)
	}
	var sections []Section
	for i, e := range decoded.Index.Entries {
		sections = append(sections, Section{Entry: e, Chunks: [][]byte{decoded.Entry(i)}})
	}
	x := decoded.Index
	encoded, err := Encode(Identity{ClusterID: x.ClusterId, BrokerID: x.BrokerId, Incarnation: x.Incarnation}, sections)
	if err != nil {
		t.Fatalf("Decode accepts what Encode refuses: %v", err)
	}
	again, err := Decode(encoded.Bytes)
	if err != nil || !proto.Equal(again.Index, encoded.Index) {
		t.Fatalf("Decode(Encode(%v)) = %v, %v", encoded.Index, again, err)
	}
}

func FuzzScan(f *testing.F) {
	f.Fuzz(func(t *testing.T, b []byte) {
		whole, wholeErr := collect(b, Whole)
		indexes, indexErr := collect(b, IndexOnly)
		end := int64(0)
		for i, s := range indexes {
			if s.Position != end {
				t.Fatalf("frame %d is at %d, but the one before ends at %d", i, s.Position, end)
			}
			end += s.Size()
			if i < len(whole) && (s.CRC32C != whole[i].CRC32C || backends.Checksum(whole[i].Bytes) != s.CRC32C) {
				t.Fatalf("frame %d: crc32c %08x and %08x of the same frame", i, s.CRC32C, whole[i].CRC32C)
			}
		}
		if len(whole) > len(indexes) || wholeErr == nil && indexErr != nil {
			t.Fatalf("%d frames, %v; %d indexes, %v", len(whole), wholeErr, len(indexes), indexErr)
		}
		for _, err := range []error{wholeErr, indexErr} {
			if err != nil {
				checkRefusal(t, err)
			}
		}
		if indexErr == nil && end != int64(len(b)) {
			t.Fatalf("frames end at %d of %d without an error", end, len(b))
		}
	})
}

func checkRefusal(t *testing.T, err error) {
	_, ok := errors.AsType[*CorruptError](err)
	if !ok && !errors.Is(err, ErrVersion) {
		t.Fatalf("neither a *CorruptError nor ErrVersion: %v", err)
	}
	if len(err.Error()) > 2000 {
		t.Fatalf("an error of %d bytes: %.200s", len(err.Error()), err)
	}
}

func FuzzParseExtent(f *testing.F) {
	f.Fuzz(func(t *testing.T, b []byte) {
		parse := func(b []byte) {
			e, err := ParseExtent(b)
			if err != nil {
				return
			}
			if again, err := e.AppendBinary(nil); string(again) != string(b) || err != nil {
				t.Fatalf("%x is %v, which is %x, %v", b, e, again, err)
			}
		}
		parse(b)
		if len(b) >= 4 {
			parse(resealExtent([]byte(string(b))))
		}
	})
}

func FuzzParseName(f *testing.F) {
	f.Fuzz(func(t *testing.T, name string) {
		cluster, id, err := ParseName(name)
		if err != nil {
			return
		}
		if again := id.Name(cluster); again != name {
			t.Fatalf("%q is %v, which is %q", name, id, again)
		}
		if err := backends.CheckName(name); err != nil {
			t.Fatal(err)
		}
	})
}

// TestSeeds keeps the committed seeds what the format is.
func TestSeeds(t *testing.T) {
	f := sampleFrame(t)
	two, frames := twoFrames(t)
	newer := []byte(string(f.Bytes))
	newer[4]++
	index, data := f.Bytes[HeaderSize:f.Header.IndexEnd()], f.Bytes[f.Header.IndexEnd():]
	extent := marshal(t, f.Extent(sampleObject, 4096))

	seed(t, "FuzzDecode", "whole", f.Bytes)
	seed(t, "FuzzDecode", "truncated", f.Bytes[:f.Size()-1])
	seed(t, "FuzzDecode", "newer", resealHeader(newer))
	seed(t, "FuzzDecodeSealed", "whole", index, data)
	seed(t, "FuzzDecodeSealed", "one_entry", two[frames[1].Position+HeaderSize:][:frames[1].Header.IndexLength], data[23:])
	seed(t, "FuzzDecodeSealed", "empty_entries", []byte(strings.Repeat("\x22\x00", 100)), data)
	seed(t, "FuzzScan", "unused", []byte{})
	seed(t, "FuzzScan", "two", two)
	seed(t, "FuzzScan", "torn", two[:len(two)-5])
	seed(t, "FuzzScan", "zeros", append(two, make([]byte, 64)...))
	seed(t, "FuzzParseExtent", "whole", extent)
	seed(t, "FuzzParseExtent", "newer", resealExtent(append([]byte{2}, make([]byte, MaxExtent-1)...)))
	seed(t, "FuzzParseName", "whole", sampleName)
	seed(t, "FuzzParseName", "escape", "../"+sampleName)
}

func seed(t *testing.T, target, name string, values ...any) {
	t.Helper()
	file := "go test fuzz v1\n"
	for _, v := range values {
		file += fmt.Sprintf("%T(%q)\n", v, v)
	}
	file = strings.ReplaceAll(file, "[]uint8(", "[]byte(")
	checkGolden(t, "testdata/fuzz/"+target+"/"+name, []byte(file))
}
