package server

import (
	"fmt"

	"github.com/walbridge/walbridge/backends"
	framev1 "github.com/walbridge/walbridge/proto/walbridge/frame/v1"
	"github.com/walbridge/walbridge/server/frame"
)

// assembler cuts the chunks of a copy into its sections, without copying them, and checks each section against the
// checksum that the broker's side took.
type assembler struct {
	sections []frame.Section
	crcs     []uint32
	// current is the section that the next byte belongs to, missing what it still lacks.
	current int
	missing int64
}

func newAssembler(entries []*framev1.Entry) *assembler {
	a := &assembler{sections: make([]frame.Section, len(entries)), crcs: make([]uint32, len(entries))}
	for i, e := range entries {
		a.sections[i].Entry = e
	}
	a.missing = int64(entries[0].GetLength())
	return a
}

// add takes the next chunk and keeps it.
func (a *assembler) add(chunk []byte) error {
	for len(chunk) > 0 {
		if a.current == len(a.sections) {
			return fmt.Errorf("%w: %d bytes more than the header's entries have", errInvalid, len(chunk))
		}
		part := chunk[:min(int64(len(chunk)), a.missing)]
		s := &a.sections[a.current]
		s.Chunks = append(s.Chunks, part)
		a.crcs[a.current] = backends.UpdateChecksum(a.crcs[a.current], part)
		chunk = chunk[len(part):]
		if a.missing -= int64(len(part)); a.missing > 0 {
			break
		}
		if a.current++; a.current < len(a.sections) {
			a.missing = int64(a.sections[a.current].Entry.GetLength())
		}
	}
	return nil
}

// finish returns the sections once all bytes are there and right.
func (a *assembler) finish(want []uint32) ([]frame.Section, error) {
	if a.current < len(a.sections) {
		return nil, fmt.Errorf("%w: cut off in entry %d, which lacks %d of its %d bytes", errInvalid, a.current, a.missing,
			a.sections[a.current].Entry.GetLength())
	}
	if len(want) != len(a.sections) {
		return nil, fmt.Errorf("%w: trailer with %d checksums for %d entries", errInvalid, len(want), len(a.sections))
	}
	for i, s := range a.sections {
		if a.crcs[i] != want[i] {
			return nil, fmt.Errorf("entry %d (%s-%d): received with CRC-32C %08x, sent with %08x: %w", i, s.Entry.GetTopic(),
				s.Entry.GetPartition(), a.crcs[i], want[i], backends.ErrChecksum)
		}
		s.Entry.Crc32C = want[i]
	}
	return a.sections, nil
}
