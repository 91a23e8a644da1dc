package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/walbridge/walbridge/backends"
	"github.com/walbridge/walbridge/backends/backendtest"
	"github.com/walbridge/walbridge/backends/file"
	framev1 "github.com/walbridge/walbridge/proto/walbridge/frame/v1"
	"github.com/walbridge/walbridge/server/frame"
)

func walbridge(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = run(t.Context(), args, &out, &errs)
	return code, out.String(), errs.String()
}

func TestUsage(t *testing.T) {
	for _, tc := range []struct {
		name string
		args []string
		code int
		want string
	}{
		{"help", []string{"--help"}, exitOK, "Exit codes"},
		{"bare", nil, exitOK, "Available Commands"},
		{"version", []string{"--version"}, exitOK, "walbridge version"},
		{"unknown command", []string{"sevre"}, exitUsage, `unknown command "sevre"`},
		{"unknown flag", []string{"serve", "--conf", "x"}, exitUsage, "unknown flag: --conf"},
		{"serve without configuration", []string{"serve"}, exitUsage, "--config"},
		{"serve with no file", []string{"serve", "--config", "/nonexistent.yaml"}, exitUsage, "/nonexistent.yaml"},
		{"inspect nothing", []string{"inspect"}, exitUsage, "accepts 1 arg"},
		{"inspect no URL", []string{"inspect", "zone-a"}, exitUsage, "file:///"},
		{"inspect unknown store", []string{"inspect", "ftp://x/y"}, exitUsage, "must be file"},
		{"inspect no zone", []string{"inspect", "file:///nonexistent"}, exitFailed, "/nonexistent"},
		{"inspect output", []string{"inspect", "--output", "xml", "file:///tmp"}, exitUsage, "text or json"},
		{"status of a path", []string{"status", "--target", "/run/w.sock"}, exitUsage, "must be unix:///path or tcp://host:port"},
		{"status without a port", []string{"status", "--target", "tcp://localhost"}, exitUsage, "tcp://host:port"},
		{"status of a URL", []string{"status", "--target", "http://localhost:1/"}, exitUsage, "tcp://host:port"},
		{"status, nobody there", []string{"status", "--target", "unix:///nonexistent.sock", "--timeout", "1s"}, exitFailed, "nonexistent.sock"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			code, stdout, stderr := walbridge(t, tc.args...)
			if code != tc.code || !strings.Contains(stdout+stderr, tc.want) {
				t.Errorf("got %d, %q, %q; want %d and %q", code, stdout, stderr, tc.code, tc.want)
			}
		})
	}
}

// Every command explains itself, with an example.
func TestEveryCommandHasAnExample(t *testing.T) {
	for _, args := range [][]string{{}, {"serve"}, {"inspect"}, {"status"}, {"config", "check"}} {
		code, stdout, _ := walbridge(t, append(args, "--help")...)
		if code != exitOK || !strings.Contains(stdout, "Examples:") {
			t.Errorf("%v --help: exit code %d: %s", args, code, stdout)
		}
	}
}

func TestConfigCheck(t *testing.T) {
	if code, stdout, stderr := walbridge(t, "config", "check", "../../deploy/walbridge.yaml"); code != exitOK {
		t.Errorf("the example configuration: %d, %s%s", code, stdout, stderr)
	}
	wrong := filepath.Join(t.TempDir(), "w.yaml")
	if err := os.WriteFile(wrong, []byte("cluster_id: x\nbroker: 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := walbridge(t, "config", "check", wrong); code != exitUsage || !strings.Contains(stderr, wrong+":2:1") {
		t.Errorf("a wrong one: %d, %s", code, stderr)
	}
}

// zoneWithObject makes a file zone with one object of two frames and returns its directory and the object's name.
func zoneWithObject(t *testing.T) (dir, name string) {
	t.Helper()
	dir = t.TempDir()
	b, err := file.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	id := frame.ObjectID{Broker: 1, Incarnation: 1, ULID: ulid.MustNew(ulid.Timestamp(time.Now()), ulid.DefaultEntropy())}
	name = id.Name("cluster")
	w, err := b.Create(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	id16 := bytes.Repeat([]byte{1}, 16)
	for range 2 {
		section := []byte("record batches")
		f, err := frame.Encode(frame.Identity{ClusterID: "cluster", BrokerID: 1, Incarnation: 1}, []frame.Section{{
			Entry: &framev1.Entry{
				Topic: "orders", TopicId: id16, SegmentId: id16, Length: uint32(len(section)), Crc32C: backends.Checksum(section),
			}, Chunks: [][]byte{section},
		}})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Append(t.Context(), f.Bytes, f.CRC32C); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	return dir, name
}

func TestInspect(t *testing.T) {
	dir, name := zoneWithObject(t)
	if empty := filepath.Join(dir, filepath.Dir(name), ulid.Make().String()); os.WriteFile(empty, nil, 0o600) != nil {
		t.Fatal("no empty object")
	}
	for _, target := range []string{"file://" + dir, "file://" + dir + "/" + name} {
		code, stdout, stderr := walbridge(t, "inspect", "--output", "json", target)
		if code != exitOK {
			t.Fatalf("%s: %d, %s", target, code, stderr)
		}
		var frames int
		for line := range strings.Lines(stdout) {
			var r objectReport
			if err := json.Unmarshal([]byte(line), &r); err != nil {
				t.Fatalf("%s: %v in %s", target, err, line)
			}
			frames += len(r.Frames)
			if len(r.Frames) == 0 != (r.State == "empty") {
				t.Errorf("%s: %d frames, state %s", target, len(r.Frames), r.State)
			}
		}
		if frames != 2 {
			t.Errorf("%s: %d frames, want 2: %s", target, frames, stdout)
		}
	}
	if code, stdout, _ := walbridge(t, "inspect", "file://"+dir); code != exitOK || !strings.Contains(stdout, "orders-0") {
		t.Errorf("text: %d, %s", code, stdout)
	}
	above := "file://" + filepath.Dir(dir)
	if code, stdout, _ := walbridge(t, "inspect", above); code != exitOK || !strings.Contains(stdout, "the zone's own URL?") {
		t.Errorf("the folder above the zone: %d, %s", code, stdout)
	}
}

// One wrong byte is found, reported with object and offset, and shows in the exit code.
func TestInspectCorrupt(t *testing.T) {
	dir, name := zoneWithObject(t)
	path := filepath.Join(dir, name)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)-1] ^= 1
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := walbridge(t, "inspect", "file://"+dir)
	if code != exitCorrupt || !strings.Contains(stdout, name) || !strings.Contains(stdout, "offset") {
		t.Errorf("got %d, %s, %s", code, stdout, stderr)
	}
	if code, _, _ := walbridge(t, "inspect", "--index-only", "file://"+dir); code != exitOK {
		t.Errorf("the index is right: got %d", code)
	}
}

func TestSplitObject(t *testing.T) {
	const object = "cluster/1/0000000001/20261130T1538/01M8PHPJVGSECE4HMA670RM987"
	for target, want := range map[string][2]string{
		"file:///srv/a":                              {"file:///srv/a", ""},
		"file:///srv/a/b/c/d/e/f/g":                  {"file:///srv/a/b/c/d/e/f/g", ""},
		"file:///srv/a/" + object:                    {"file:///srv/a", object},
		"s3://bucket/prefix/" + object + "?region=x": {"s3://bucket/prefix?region=x", object},
	} {
		zone, name, err := splitObject(target)
		if err != nil || zone != want[0] || name != want[1] {
			t.Errorf("%s: got %q, %q, %v", target, zone, name, err)
		}
	}
}

// A late zone is the zone, once it is there.
func TestLateZone(t *testing.T) {
	backendtest.Run(t, func(t *testing.T) backends.Bucket {
		dir := filepath.Join(t.TempDir(), "zone")
		z := &lateZone{
			open: func(ctx context.Context) (backends.Bucket, error) { return file.Open(ctx, dir) }, caps: capsOf("file://" + dir),
		}
		if _, err := z.Create(t.Context(), "a"); err == nil {
			t.Error("created an object in a zone that is not there")
		}
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		return z
	})
}

// What is promised of a zone before it was opened, it does.
func TestCapsOf(t *testing.T) {
	for zoneURL, appends := range map[string]bool{
		"file:///srv/a": true, "gs://bucket/prefix?mode=zonal": true, "gs://bucket": false, "gs://bucket?mode=regional": false,
		"s3://bucket--use1-az4--x-s3?region=us-east-1": false,
	} {
		if got := capsOf(zoneURL); got.Appends > 1 != appends || got.MaxAppend < 1 {
			t.Errorf("%s: %+v, appends %v", zoneURL, got, appends)
		}
	}
	b, err := file.Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if got := capsOf("file:///srv/a"); got != b.Caps() {
		t.Errorf("a late zone of files: %+v, an open one %+v", got, b.Caps())
	}
}
