package gcs_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"

	"github.com/walbridge/walbridge/backends"
	"github.com/walbridge/walbridge/backends/gcs"
	"github.com/walbridge/walbridge/backends/gcs/gcstest"
)

// What the bucket is is found out and logged; a mode that does not fit is refused, and says what the bucket is.
func TestOpen(t *testing.T) {
	s := start(t, gcstest.Options{})
	for _, c := range []struct {
		bucket  string
		mode    gcs.Mode
		appends bool
		refusal string
	}{
		{"zonal", "", true, ""},
		{"zonal", gcs.Zonal, true, ""},
		{"zonal", gcs.Regional, false, "class RAPID"},
		{"regional", "", false, ""},
		{"regional", gcs.Regional, false, ""},
		{"regional", gcs.Zonal, false, "location type region"},
		{"regional", "dual", false, `mode "dual"`},
		{"missing", "", false, "no bucket"},
		{"", "", false, "no bucket is named"},
	} {
		var log bytes.Buffer
		b, err := gcs.Open(deadline(t), gcs.Options{
			Bucket: c.bucket, Mode: c.mode, Logger: slog.New(slog.NewTextHandler(&log, nil)), ClientOptions: s.ClientOptions(),
		})
		if c.refusal != "" {
			if err == nil || !strings.Contains(err.Error(), c.refusal) {
				t.Errorf("Open of %q in mode %q: error %v, want one with %q", c.bucket, c.mode, err, c.refusal)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if got := b.Caps().Appends > 1; got != c.appends {
			t.Errorf("bucket %q in mode %q takes appends: %v, want %v", c.bucket, c.mode, got, c.appends)
		}
		if n := strings.Count(log.String(), "identity="); n != 1 {
			t.Errorf("Open of %q logs the identity %d times: %q", c.bucket, n, log.String())
		}
		close(t, b)
	}
}

func TestOpenDenied(t *testing.T) {
	s := start(t, gcstest.Options{})
	s.Inject(gcstest.Get, denied)
	_, err := gcs.Open(deadline(t), gcs.Options{Bucket: "zonal", ClientOptions: s.ClientOptions()})
	if !errors.Is(err, backends.ErrDenied) {
		t.Errorf("Open without permission: error %v, want ErrDenied", err)
	}
}

func TestParseURL(t *testing.T) {
	for url, want := range map[string]gcs.Options{
		"gs://b":                                {Bucket: "b"},
		"gs://b/":                               {Bucket: "b"},
		"gs://b.example-1/wal/prod/":            {Bucket: "b.example-1", Prefix: "wal/prod"},
		"gs://b/p?mode=zonal":                   {Bucket: "b", Prefix: "p", Mode: gcs.Zonal},
		"gs://b?mode=regional&unfinalized=keep": {Bucket: "b", Mode: gcs.Regional, KeepUnfinalized: true},
		"gs:///p":                               {},
		"s3://b/p":                              {},
		"gs://user@b/p":                         {},
		"gs://b:80/p":                           {},
		"gs://b/../p":                           {},
		"gs://b/p?mode=fast":                    {},
		"gs://b/p?unfinalized=finalize":         {},
		"gs://b/p?region=us":                    {},
		"gs://b/" + strings.Repeat("p", 1000) + "": {},
	} {
		got, err := gcs.ParseURL(url)
		if (err == nil) != (want.Bucket != "") {
			t.Errorf("ParseURL(%q): error %v", url, err)
			continue
		}
		if got.Bucket != want.Bucket || got.Prefix != want.Prefix || got.Mode != want.Mode ||
			got.KeepUnfinalized != want.KeepUnfinalized {
			t.Errorf("ParseURL(%q) = %+v, want %+v", url, got, want)
		}
	}
}

// Objects that are finalized, that are not, and that are empty can be deleted, also where the service refuses what is
// not finalized, unless that is what it should do.
func TestDeleteUnfinalized(t *testing.T) {
	for _, refuses := range []bool{false, true} {
		for _, keep := range []bool{false, true} {
			s := start(t, gcstest.Options{KeepUnfinalized: refuses})
			b := open(t, s, gcs.Options{Bucket: "zonal", KeepUnfinalized: keep})
			empty, err := b.Create(deadline(t), "empty")
			if err != nil {
				t.Fatal(err)
			}
			closeWriter(t, empty)
			full, err := b.Create(deadline(t), "full")
			if err != nil {
				t.Fatal(err)
			}
			appendAll(t, full, "x") // It stays open.
			deleted, err := b.Delete(deadline(t), []string{"empty", "full", "missing"})
			if refuses && keep {
				if err == nil || len(deleted) > 1 {
					t.Errorf("Delete that the service refuses = %q, %v", deleted, err)
				}
			} else if err != nil || len(deleted) != 3 {
				t.Errorf("Delete (service refuses %v, keep %v) = %q, %v", refuses, keep, deleted, err)
			}
			if want := 2; refuses && !keep && s.Count(gcstest.Finalize) != want {
				t.Errorf("%d objects finalized, want %d", s.Count(gcstest.Finalize), want)
			}
			closeBroken(full, t)
			close(t, b)
		}
	}
}

// closeBroken closes a writer whose object is gone, which may be said.
func closeBroken(w backends.Writer, t *testing.T) {
	if err := w.Close(deadline(t)); err != nil {
		t.Logf("Close of the Writer of a deleted object: %v", err)
	}
}

// What is done in a zone that is lost fails long before its deadline, so that other zones' answers are not kept
// waiting.
func TestLostZone(t *testing.T) {
	s := start(t, gcstest.Options{})
	b := open(t, s, gcs.Options{Bucket: "zonal"})
	defer close(t, b)
	w, err := b.Create(deadline(t), "a")
	if err != nil {
		t.Fatal(err)
	}
	s.Lose("zonal")
	p := []byte("x")
	_, createErr := b.Create(deadline(t), "b")
	_, deleteErr := b.Delete(deadline(t), []string{"a"})
	var listErr error
	for _, err := range b.List(deadline(t), "") {
		listErr = err
	}
	for op, err := range map[string]error{
		"Append": w.Append(deadline(t), p, backends.Checksum(p)), "Create": createErr, "Delete": deleteErr, "List": listErr,
		"ReadAt": b.ReadAt(deadline(t), "a", make([]byte, 1), 0),
	} {
		if !matches(err, errAny) || errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s in a lost zone: error %v, want that it is unavailable", op, err)
		}
	}
	closeWriter(t, w)
}

// A Delete that is throttled on the way confirms what it deleted.
func TestDeleteThrottled(t *testing.T) {
	s := start(t, gcstest.Options{})
	b := open(t, s, gcs.Options{Bucket: "regional"})
	defer close(t, b)
	names := make([]string, 100)
	for i := range names {
		names[i] = strings.Repeat("a", i+1)
		w, err := b.Create(deadline(t), names[i])
		if err != nil {
			t.Fatal(err)
		}
		appendAll(t, w, "x")
		closeWriter(t, w)
	}
	s.Inject(gcstest.Delete, gcstest.Fault{Applied: true}, gcstest.Fault{Code: codes.ResourceExhausted})
	for len(names) > 0 {
		deleted, err := b.Delete(deadline(t), names)
		if err != nil && !errors.Is(err, backends.ErrThrottled) {
			t.Fatalf("Delete: %v", err)
		}
		if err == nil && len(deleted) != len(names) || len(deleted) == 0 {
			t.Fatalf("Delete of %d confirms %d, error %v", len(names), len(deleted), err)
		}
		for _, name := range deleted {
			if err := b.ReadAt(deadline(t), name, nil, 0); !errors.Is(err, backends.ErrNotFound) {
				t.Errorf("ReadAt of an object that is confirmed as deleted: %v", err)
			}
		}
		names = without(names, deleted)
	}
}

func without(names, deleted []string) (rest []string) {
	gone := map[string]bool{}
	for _, name := range deleted {
		gone[name] = true
	}
	for _, name := range names {
		if !gone[name] {
			rest = append(rest, name)
		}
	}
	return rest
}
