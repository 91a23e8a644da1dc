package source

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
	"google.golang.org/protobuf/proto"

	"github.com/walbridge/walbridge/backends"
	framev1 "github.com/walbridge/walbridge/proto/walbridge/frame/v1"
	"github.com/walbridge/walbridge/server/source/sourcetest"
)

const epoch = 4

// section is three batches, offsets 100 to 106, and their entry.
func section() ([]byte, *framev1.Entry) {
	b := bytes.Join([][]byte{sourcetest.Batch(100, 3, epoch, 70), sourcetest.Batch(103, 1, epoch, 90), sourcetest.Batch(104, 3, epoch, 80)}, nil)
	return b, &framev1.Entry{
		Topic: "orders", Partition: 3, Restorable: true, LeaderEpoch: epoch, BaseOffset: 100, LastOffset: 106,
		MaxTimestampMs: 12345, Length: uint32(len(b)),
	}
}

func segment(t *testing.T, content ...[]byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "00000000000000000000.log")
	if err := os.WriteFile(path, bytes.Join(content, nil), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestRead(t *testing.T) {
	want, entry := section()
	before := sourcetest.Batch(0, 100, 1, 5)
	path := segment(t, before, want, sourcetest.Batch(107, 1, epoch, 999))
	got, err := Read(path, uint64(len(before)), entry)
	if err != nil || !bytes.Equal(got, want) {
		t.Fatalf("got %d bytes, %v, want %d", len(got), err, len(want))
	}
	if entry.MaxTimestampMs != 90 {
		t.Errorf("max_timestamp_ms %d, want that of the batches, 90", entry.MaxTimestampMs)
	}
}

// Whatever byte of a section is another than it was, the section is refused.
func TestReadRefusesAnyWrongByte(t *testing.T) {
	b, entry := section()
	for i := range b {
		for _, flip := range []byte{1, 0x80} {
			wrong := bytes.Clone(b)
			wrong[i] ^= flip
			if _, err := Read(segment(t, wrong), 0, proto.CloneOf(entry)); !errors.Is(err, ErrSource) {
				t.Fatalf("byte %d ^ %#x: got %v, want ErrSource", i, flip, err)
			}
		}
	}
}

func TestReadRefuses(t *testing.T) {
	b, _ := section()
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe.log")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	directory := filepath.Join(dir, "directory.log")
	if err := os.Mkdir(directory, 0o700); err != nil {
		t.Fatal(err)
	}
	whole := segment(t, b)
	for _, tc := range []struct {
		name, path string
		position   uint64
		change     func(*framev1.Entry)
		want       string
	}{
		{"relative path", "00000000000000000000.log", 0, nil, "absolute"},
		{"no segment", "/etc/passwd", 0, nil, "ends in .log"},
		{"missing", filepath.Join(dir, "none.log"), 0, nil, "no such file"},
		{"pipe", pipe, 0, nil, "no regular file"},
		{"directory", directory, 0, nil, "no regular file"},
		{"cut off", segment(t, b[:len(b)-1]), 0, nil, "has only"},
		{"beyond the end", whole, 1 << 63, nil, "has only"},
		{"not at a batch", whole, 1, func(e *framev1.Entry) { e.Length-- }, "record batch at byte 0"},
		{"half a batch", whole, 0, func(e *framev1.Entry) { e.Length-- }, "claims"},
		{"half a header", whole, 0, func(e *framev1.Entry) { e.Length = headerSize - 1 }, "cut off"},
		{"older epoch", whole, 0, func(e *framev1.Entry) { e.LeaderEpoch++ }, "leader epoch 4, not 5"},
		{"earlier start", whole, 0, func(e *framev1.Entry) { e.BaseOffset-- }, "not those from 99 on"},
		{"later end", whole, 0, func(e *framev1.Entry) { e.LastOffset++ }, "end at offset 106, not 107"},
		{"gap", segment(t, sourcetest.Batch(100, 3, epoch, 70), sourcetest.Batch(104, 3, epoch, 80)), 0,
			func(e *framev1.Entry) { e.Length = uint32(2 * len(sourcetest.Batch(0, 1, 0, 0))) }, "not those from 103 on"},
		{"not restorable", whole, 0, func(e *framev1.Entry) { e.Restorable = false }, "does not say"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, entry := section()
			if tc.change != nil {
				tc.change(entry)
			}
			_, err := Read(tc.path, tc.position, entry)
			if !errors.Is(err, ErrSource) || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want ErrSource with %q", err, tc.want)
			}
		})
	}
}

// FuzzCheck looks for bytes that check takes though they are not batches that follow one another to the last offset.
func FuzzCheck(f *testing.F) {
	f.Fuzz(func(t *testing.T, b []byte, seal bool) {
		_, entry := section()
		if seal && len(b) >= headerSize { // What is behind the first batch's checksum.
			binary.BigEndian.PutUint32(b[lengthAt:], uint32(len(b)-leaderEpochAt))
			binary.BigEndian.PutUint32(b[crcAt:], backends.Checksum(b[attributesAt:]))
		}
		if _, err := check(b, entry); err != nil {
			return
		}
		next := entry.BaseOffset
		for rest := b; len(rest) > 0; {
			var batch kmsg.RecordBatch
			size := leaderEpochAt + int(int32(binary.BigEndian.Uint32(rest[lengthAt:])))
			if err := batch.ReadFrom(rest[:size]); err != nil {
				t.Fatal(err)
			}
			if batch.FirstOffset != next || batch.PartitionLeaderEpoch != epoch {
				t.Fatalf("offset %d of epoch %d, want %d", batch.FirstOffset, batch.PartitionLeaderEpoch, next)
			}
			next += int64(batch.LastOffsetDelta) + 1
			rest = rest[size:]
		}
		if next != entry.LastOffset+1 {
			t.Fatalf("taken up to offset %d, want %d", next-1, entry.LastOffset)
		}
	})
}
