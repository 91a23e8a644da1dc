package server

import (
	"fmt"

	"github.com/walbridge/walbridge/backends"
	"github.com/walbridge/walbridge/server/frame"
)

// assembler cuts the chunks of a copy into its sections, without copying them, and checks each section against the
// checksum that the broker's side took. Sections that have bytes already it leaves alone.
type assembler struct {
	sections []frame.Section
	// chunked are the indices of the sections that come in chunks, with their checksums so far.
	chunked []int
	crcs    []uint32
	// current, of chunked, is the section that the next byte belongs to, missing what it still lacks.
	current int
	missing int64
}

func newAssembler(sections []frame.Section) *assembler {
	a := &assembler{sections: sections}
	for i, s := range sections {
		if s.Chunks == nil {
			a.chunked = append(a.chunked, i)
		}
	}
	a.crcs = make([]uint32, len(a.chunked))
	a.begin()
	return a
}

// begin makes ready for the first byte of the current section, if there is one.
func (a *assembler) begin() {
	if a.current < len(a.chunked) {
		a.missing = int64(a.sections[a.chunked[a.current]].Entry.GetLength())
	}
}

// add takes the next chunk and keeps it.
func (a *assembler) add(chunk []byte) error {
	for len(chunk) > 0 {
		if a.current == len(a.chunked) {
			return fmt.Errorf("%w: %d bytes more than the header's entries have", errInvalid, len(chunk))
		}
		part := chunk[:min(int64(len(chunk)), a.missing)]
		s := &a.sections[a.chunked[a.current]]
		s.Chunks = append(s.Chunks, part)
		a.crcs[a.current] = backends.UpdateChecksum(a.crcs[a.current], part)
		chunk = chunk[len(part):]
		if a.missing -= int64(len(part)); a.missing > 0 {
			break
		}
		a.current++
		a.begin()
	}
	return nil
}

// finish returns the sections once all bytes are there and right.
func (a *assembler) finish(want []uint32) ([]frame.Section, error) {
	if a.current < len(a.chunked) {
		i := a.chunked[a.current]
		return nil, fmt.Errorf("%w: cut off in entry %d, which lacks %d of its %d bytes", errInvalid, i, a.missing,
			a.sections[i].Entry.GetLength())
	}
	if len(want) != len(a.chunked) {
		return nil, fmt.Errorf("%w: trailer with %d checksums for %d entries in chunks", errInvalid, len(want), len(a.chunked))
	}
	for j, i := range a.chunked {
		e := a.sections[i].Entry
		if a.crcs[j] != want[j] {
			return nil, fmt.Errorf("entry %d (%s-%d): received with CRC-32C %08x, sent with %08x: %w", i, e.GetTopic(),
				e.GetPartition(), a.crcs[j], want[j], backends.ErrChecksum)
		}
		e.Crc32C = want[j]
	}
	return a.sections, nil
}
