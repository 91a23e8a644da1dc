package daemon_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	walbridgev1 "github.com/walbridge/walbridge/proto/walbridge/v1"
	"github.com/walbridge/walbridge/server/source/sourcetest"
)

// inFile writes a log segment that holds b behind another batch, and returns where.
func inFile(t *testing.T, b []byte) *walbridgev1.Source {
	t.Helper()
	before := sourcetest.Batch(0, 100, 1, 5)
	path := filepath.Join(t.TempDir(), "00000000000000000000.log")
	if err := os.WriteFile(path, append(bytes.Clone(before), b...), 0o600); err != nil {
		t.Fatal(err)
	}
	return &walbridgev1.Source{Path: path, Position: uint64(len(before))}
}

// batches are the record batches of header's entries, offsets 100 to 109 of leader epoch 4.
func batches() []byte {
	return append(sourcetest.Batch(100, 4, 4, 7777), sourcetest.Batch(104, 6, 4, 6666)...)
}

// Sections in files and sections in chunks, in any order, are stored alike.
func TestCopyFromFiles(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	r := start(t, nil)
	chunk := bytes.Repeat([]byte("chunk"), 1000)
	inLog := batches()
	for name, files := range map[string][]bool{
		"all": {true, true}, "none": {false, false}, "first": {true, false, false}, "last": {false, false, true},
		"middle": {false, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			var sections, chunks [][]byte
			var sources []*walbridgev1.Source
			for _, file := range files {
				if file {
					sections, sources = append(sections, inLog), append(sources, inFile(t, inLog))
				} else {
					sections, sources = append(sections, chunk), append(sources, &walbridgev1.Source{})
					chunks = append(chunks, chunk)
				}
			}
			h := header(sections...)
			h.Sources = sources
			h.CombinedSegmentId = bytes.Repeat([]byte{byte(len(name))}, 16)
			answer, err := r.copySections(ctx, h, 700, chunks...)
			if err != nil {
				t.Fatal(err)
			}
			for i, want := range sections {
				got, err := r.fetch(ctx, answer.GetExtent(), whole(answer.GetEntries()[i]))
				if err != nil || !bytes.Equal(got, want) {
					t.Errorf("section %d: got %d bytes, %v, want %d", i, len(got), err, len(want))
				}
			}
			list, err := r.client.ListCombinedSegments(ctx, &walbridgev1.ListCombinedSegmentsRequest{})
			if err != nil {
				t.Fatal(err)
			}
			for {
				frame, err := list.Recv()
				if errors.Is(err, io.EOF) {
					t.Fatal("the frame is not listed")
				}
				if err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(frame.GetExtent(), answer.GetExtent()) {
					continue
				}
				for i, e := range frame.GetIndex().GetEntries() {
					want := int64(1700000000000)
					if files[i] {
						want = 7777
					}
					if e.GetMaxTimestampMs() != want {
						t.Errorf("entry %d: max_timestamp_ms %d, want %d", i, e.GetMaxTimestampMs(), want)
					}
				}
				return
			}
		})
	}
}

func TestCopyFromFilesRefuses(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	r := start(t, nil)
	wrong := batches()
	wrong[len(wrong)-1] ^= 1
	for _, tc := range []struct {
		name    string
		sources []*walbridgev1.Source
		chunks  [][]byte
		code    codes.Code
		reason  string
	}{
		{"wrong byte", []*walbridgev1.Source{inFile(t, wrong)}, nil, codes.FailedPrecondition, "SOURCE"},
		{"no file", []*walbridgev1.Source{{Path: "/nowhere/0.log"}}, nil, codes.FailedPrecondition, "SOURCE"},
		{"more sources than entries", []*walbridgev1.Source{inFile(t, batches()), {}}, nil, codes.InvalidArgument, "INVALID"},
		{"bytes as well", []*walbridgev1.Source{inFile(t, batches())}, [][]byte{batches()}, codes.InvalidArgument, "INVALID"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			h := header(batches())
			h.Sources = tc.sources
			_, err := r.copySections(ctx, h, 700, tc.chunks...)
			wantError(t, err, tc.code, tc.reason)
		})
	}
	list, err := r.client.ListCombinedSegments(ctx, &walbridgev1.ListCombinedSegmentsRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if frame, err := list.Recv(); !errors.Is(err, io.EOF) {
		t.Errorf("got %v, %v; nothing of what was refused may be stored", frame, err)
	}
}

// A client on another host means another host's files.
func TestCopyFromFilesOnlyOnASocketOfThisHost(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := startOn(t, l, l.Addr().String(), nil)
	h := header(batches())
	h.Sources = []*walbridgev1.Source{inFile(t, batches())}
	_, err = r.copySections(ctx, h, 700)
	wantError(t, err, codes.FailedPrecondition, "SOURCE")
}
