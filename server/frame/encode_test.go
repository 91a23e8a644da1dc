package frame

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/walbridge/walbridge/backends"
	framev1 "github.com/walbridge/walbridge/proto/walbridge/frame/v1"
)

func TestRoundTrip(t *testing.T) {
	rnd := random(t)
	for range 300 {
		var sections []Section
		var before []*framev1.Entry
		for range 1 + rnd.IntN(20) {
			s := randomSection(rnd, 500)
			sections = append(sections, s)
			before = append(before, proto.CloneOf(s.Entry))
		}
		encoded, err := Encode(sampleIdentity, sections)
		if err != nil {
			t.Fatal(err)
		}
		if size, err := Size(sampleIdentity, sections); size != int64(len(encoded.Bytes)) || err != nil {
			t.Fatalf("Size = %d, %v, but the frame has %d bytes", size, err, len(encoded.Bytes))
		}
		if encoded.CRC32C != backends.Checksum(encoded.Bytes) {
			t.Fatalf("CRC32C %08x, want %08x", encoded.CRC32C, backends.Checksum(encoded.Bytes))
		}
		decoded, err := Decode(encoded.Bytes)
		if err != nil {
			t.Fatal(err)
		}
		checkSame(t, decoded, encoded)
		for i, s := range sections {
			if !bytes.Equal(decoded.Entry(i), joined(s)) {
				t.Fatalf("entry %d has other bytes than its section", i)
			}
			if !proto.Equal(s.Entry, before[i]) {
				t.Fatalf("Encode changed the caller's entry %d: %v, was %v", i, s.Entry, before[i])
			}
			want := proto.CloneOf(s.Entry)
			want.Position = decoded.Index.Entries[i].Position
			if got := decoded.Index.Entries[i]; !proto.Equal(got, want) {
				t.Fatalf("entry %d is %v, want %v", i, got, want)
			}
		}
	}
}

// A field that is added to Entry must be added to newIndex and to the sample, which sets them all.
func TestEveryFieldIsStored(t *testing.T) {
	e := sampleFrame(t).Index.Entries[0]
	fields := e.ProtoReflect().Descriptor().Fields()
	for i := range fields.Len() {
		if !e.ProtoReflect().Has(fields.Get(i)) {
			t.Errorf("field %s of the sample is not stored", fields.Get(i).Name())
		}
	}
}

func TestEncodeIgnoresThePositionItIsGiven(t *testing.T) {
	sections := sampleSections()
	sections[0].Entry.Position = 12345
	f, err := Encode(sampleIdentity, sections)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(f.Bytes, sampleFrame(t).Bytes) {
		t.Error("the frame depends on it")
	}
}

func TestSizeIsAdditive(t *testing.T) {
	rnd := random(t)
	sum, err := Size(sampleIdentity, nil)
	if err != nil {
		t.Fatal(err)
	}
	overhead := sum
	var sections []Section
	for range 50 {
		s := randomSection(rnd, 1000)
		alone, err := Size(sampleIdentity, []Section{s})
		if err != nil {
			t.Fatal(err)
		}
		sum += alone - overhead
		sections = append(sections, s)
		if together, err := Size(sampleIdentity, sections); together != sum || err != nil {
			t.Fatalf("Size of %d sections = %d, %v, their sum is %d", len(sections), together, err, sum)
		}
	}
}

func TestEncodeAllocatesTheFrameOnce(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	var many []Section
	for range 1000 {
		many = append(many, randomSection(rnd, 100))
	}
	allocations := func(sections []Section) float64 {
		return testing.AllocsPerRun(10, func() {
			f, err := Encode(sampleIdentity, sections)
			if err != nil {
				t.Fatal(err)
			}
			if len(f.Bytes) != cap(f.Bytes) {
				t.Fatalf("%d bytes in a buffer of %d", len(f.Bytes), cap(f.Bytes))
			}
		})
	}
	// The bytes, their head, the frame, the index, its entries, and the pointers to them.
	for _, n := range []int{1, 1000} {
		if got := allocations(many[:n]); got > 6 {
			t.Errorf("Encode of %d sections allocates %v times, want at most 6", n, got)
		}
	}
}

func TestEncodeRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		change func(id *Identity, s []Section) []Section
		want   string
	}{
		"a cluster that is no directory": {func(id *Identity, s []Section) []Section {
			id.ClusterID = "a/b"
			return s
		}, "cluster id"},
		"a negative broker": {func(id *Identity, s []Section) []Section {
			id.BrokerID = -1
			return s
		}, "broker id"},
		"an invalid entry": {func(_ *Identity, s []Section) []Section {
			s[1].Entry.Partition = -1
			return s
		}, "partition"},
		"no sections": {func(_ *Identity, s []Section) []Section {
			return nil
		}, "number of sections"},
		"chunks shorter than the entry": {func(_ *Identity, s []Section) []Section {
			s[0].Chunks = s[0].Chunks[:1]
			return s
		}, "length"},
		"chunks longer than the entry": {func(_ *Identity, s []Section) []Section {
			s[0].Chunks = append(s[0].Chunks, []byte{0})
			return s
		}, "length"},
	} {
		id, sections := sampleIdentity, sampleSections()
		sections = c.change(&id, sections)
		_, err := Encode(id, sections)
		if invalid, ok := errors.AsType[*InvalidError](err); !ok || invalid.Field != c.want {
			t.Errorf("%s: %v, want an *InvalidError for %s", name, err, c.want)
		}
	}
}

func TestBytesThatChangedInMemoryShow(t *testing.T) {
	sections := sampleSections()
	sections[0].Chunks[1][0] ^= 1 // after their checksum was verified
	f, err := Encode(sampleIdentity, sections)
	if err != nil {
		t.Fatal(err)
	}
	if f.CRC32C == backends.Checksum(f.Bytes) {
		t.Error("the frame's checksum was taken from the changed bytes: no store would notice")
	}
}

func TestEncodeRefusesWhatIsTooLarge(t *testing.T) {
	gib := make([]byte, 1<<30) // never touched: takes no memory
	half := sampleSections()[0]
	half.Entry.Length, half.Chunks = uint32(len(gib)), [][]byte{gib}
	if _, err := Encode(sampleIdentity, []Section{half, half}); !errors.Is(err, ErrTooLarge) {
		t.Errorf("a frame of 2 GiB: %v, want ErrTooLarge", err)
	}
	longest := sampleSections()[0]
	longest.Entry.Topic = strings.Repeat("t", MaxIndex) // which Size does not mind
	if _, err := Size(sampleIdentity, []Section{longest}); !errors.Is(err, ErrTooLarge) {
		t.Errorf("an index of more than 64 MiB: %v, want ErrTooLarge", err)
	}
}

// frame4MiB are the sections of a frame of 4 MiB with 1000 entries, as a busy broker's flush would be.
func frame4MiB() []Section {
	rnd := rand.New(rand.NewPCG(1, 2))
	sections := make([]Section, 1000)
	for i := range sections {
		e := randomSection(rnd, 1).Entry
		e.Length, e.Crc32C = 0, 0
		sections[i] = section(e, randomBytes(rnd, 4<<20/len(sections)))
	}
	return sections
}

func BenchmarkEncode(b *testing.B) {
	sections := frame4MiB()
	size, err := Size(sampleIdentity, sections)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Encode(sampleIdentity, sections); err != nil {
			b.Fatal(err)
		}
	}
}
