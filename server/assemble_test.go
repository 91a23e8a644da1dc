package server

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/walbridge/walbridge/backends"
	framev1 "github.com/walbridge/walbridge/proto/walbridge/frame/v1"
	"github.com/walbridge/walbridge/server/frame"
)

func unread(lengths ...uint32) []frame.Section {
	var sections []frame.Section
	for _, n := range lengths {
		sections = append(sections, frame.Section{Entry: &framev1.Entry{Topic: "t", Length: n}})
	}
	return sections
}

// However the bytes are cut into chunks, every section gets its own.
func TestAssembleAnyChunks(t *testing.T) {
	lengths := []uint32{1, 7, 300, 2, 1}
	var data []byte
	var want [][]byte
	var crcs []uint32
	for i, n := range lengths {
		section := bytes.Repeat([]byte{byte(i + 1)}, int(n))
		want, data, crcs = append(want, section), append(data, section...), append(crcs, backends.Checksum(section))
	}
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 0))
		a := newAssembler(unread(lengths...))
		for rest := data; len(rest) > 0; {
			n := 1 + r.IntN(len(rest))
			if err := a.add(rest[:n]); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			rest = rest[n:]
		}
		sections, err := a.finish(crcs)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for i, s := range sections {
			if got := bytes.Join(s.Chunks, nil); !bytes.Equal(got, want[i]) {
				t.Fatalf("seed %d: section %d: got %v, want %v", seed, i, got, want[i])
			}
			if s.Entry.GetCrc32C() != crcs[i] {
				t.Fatalf("seed %d: section %d: checksum %08x not kept", seed, i, crcs[i])
			}
		}
	}
}

func TestAssembleRefuses(t *testing.T) {
	data := []byte("abcdef")
	crcs := []uint32{backends.Checksum(data[:2]), backends.Checksum(data[2:])}
	for _, tc := range []struct {
		name string
		data []byte
		crcs []uint32
		want error
	}{
		{"too short", data[:5], crcs, errInvalid},
		{"nothing", nil, crcs, errInvalid},
		{"too long", append(bytes.Clone(data), 'g'), crcs, errInvalid},
		{"too few checksums", data, crcs[:1], errInvalid},
		{"wrong checksum", data, []uint32{crcs[0], crcs[1] ^ 1}, backends.ErrChecksum},
		{"wrong byte", []byte("abcdeg"), crcs, backends.ErrChecksum},
		{"right", data, crcs, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			a := newAssembler(unread(2, 4))
			err := a.add(tc.data)
			if err == nil {
				_, err = a.finish(tc.crcs)
			}
			if !errors.Is(err, tc.want) {
				t.Errorf("got %v, want %v", err, tc.want)
			}
		})
	}
}

// Sections that have their bytes already are passed over, wherever they are among the others.
func TestAssembleAroundSectionsThatAreRead(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 0))
		var want, data [][]byte
		var crcs []uint32
		sections := make([]frame.Section, 1+r.IntN(6))
		for i := range sections {
			b := bytes.Repeat([]byte{byte(i)}, 1+r.IntN(9))
			want = append(want, b)
			sections[i].Entry = &framev1.Entry{Topic: "t", Length: uint32(len(b))}
			if r.IntN(2) == 0 {
				sections[i].Chunks = [][]byte{b}
			} else {
				data, crcs = append(data, b), append(crcs, backends.Checksum(b))
			}
		}
		a := newAssembler(sections)
		if err := a.add(bytes.Join(data, nil)); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		got, err := a.finish(crcs)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for i, s := range got {
			if b := bytes.Join(s.Chunks, nil); !bytes.Equal(b, want[i]) {
				t.Fatalf("seed %d: section %d: got %v, want %v", seed, i, b, want[i])
			}
		}
		if a.add([]byte{1}) == nil {
			t.Fatalf("seed %d: a byte too many was taken", seed)
		}
	}
}
