package integration

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/walbridge/walbridge"

// rules say what a folder may import of the product, as Go patterns, and what it must not import of others. The first
// rule whose folder contains the file counts.
var rules = []struct {
	folder string
	allow  string
	forbid string
	why    string
}{
	{"backends/backendtest", "backends", "",
		"the conformance suite knows the contract only, so that every store can run it"},
	{"backends/quorum", "backends", "", "a quorum is made of Buckets, whatever stores they are"},
	{"backends/metered", "backends", "", "a decorator knows the contract only"},
	{"backends/gcs/gcstest", "backends/gcs/gcstest", "", "the fake knows Google's protocol, and nothing of the product"},
	{"backends/gcs", "backends", "github.com/prometheus",
		"a store knows the contract and its vendor's SDK, which here speaks gRPC"},
	{"backends", "backends", "google.golang.org/grpc github.com/prometheus",
		"a store knows the contract and its vendor's SDK: it must stay usable, and testable, without the daemon"},
	{"pool", "", "google.golang.org", "the pool loads anything: it must not learn what a writer or a frame is"},
	{"server/frame", "backends proto/walbridge/frame/v1", "net os google.golang.org/grpc",
		"the format is pure: bytes in, bytes out"},
	{"server", "server/... pool backends backends/quorum proto/...", "",
		"the daemon's core knows the contract of stores and their quorum, and no store; cmd/walbridge alone names those"},
	{"cmd", "cmd/... server/... pool backends/... proto/...", "testing",
		"the binary puts everything together; it holds no test code"},
	{"proto", "proto/...", "", "generated code depends on nothing of the product"},
	{"integration", "integration/... server/... backends/... pool proto/...", "",
		"the daemon is tested as it is run: as a process, not by importing its main package"},
	{"bench", "bench/... integration/... server/... backends/... pool proto/...", "",
		"benchmarks measure the product, and nothing of it depends on them"},
}

// Imports go one way: cmd -> server -> pool, backends. Test files may import more (a test of a quorum needs stores), but
// for what a rule forbids.
func TestImports(t *testing.T) {
	root := ".."
	files := 0
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, name)
		rel = filepath.ToSlash(rel)
		if d.IsDir() && (strings.HasPrefix(d.Name(), ".") && rel != "." || rel == "tools" || rel == "zzdeps" || d.Name() == "node_modules") {
			return filepath.SkipDir
		}
		if d.IsDir() || path.Ext(rel) != ".go" {
			return nil
		}
		files++
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range f.Imports {
			imported, _ := strconv.Unquote(spec.Path.Value)
			if why := forbidden(rel, imported); why != "" {
				t.Errorf("%s imports %s: %s", rel, imported, why)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 20 {
		t.Fatalf("found only %d Go files: is the test looking at the right folder?", files)
	}
}

func forbidden(file, imported string) (why string) {
	test := strings.HasSuffix(file, "_test.go")
	for _, r := range rules {
		if !within(file, r.folder) {
			continue
		}
		inner, ours := strings.CutPrefix(imported, module+"/")
		switch {
		case !ours && !test && matches(imported, strings.ReplaceAll(r.forbid, " ", "/... ")+"/..."):
			return r.why
		case ours && test && within(inner, "cmd") && !within(file, "cmd"):
			return r.why
		case ours && !test && !matches(inner, r.allow):
			return r.why
		}
		return ""
	}
	return "no rule for this folder: add one to integration/imports_test.go, or put the file where it belongs"
}

// matches tells whether one of the patterns, separated by blanks, matches the import path.
func matches(imported, patterns string) bool {
	for pattern := range strings.FieldsSeq(patterns) {
		folder, tree := strings.CutSuffix(pattern, "/...")
		if imported == folder || tree && folder != "" && within(imported, folder) {
			return true
		}
	}
	return false
}

func within(name, folder string) bool { return name == folder || strings.HasPrefix(name, folder+"/") }

// The test can fail: each of these must be found.
func TestForbidden(t *testing.T) {
	for _, tc := range []struct {
		file, imported string
		ok             bool
	}{
		{"server/combine/lane.go", module + "/backends/file", false},
		{"server/combine/lane_test.go", module + "/backends/mem", true},
		{"server/combine/lane.go", module + "/backends", true},
		{"server/copy.go", module + "/cmd/walbridge/config", false},
		{"backends/file/file.go", module + "/backends/mem", false},
		{"backends/file/file.go", module + "/server/frame", false},
		{"backends/file/file.go", "google.golang.org/grpc/codes", false},
		{"backends/quorum/quorum.go", "github.com/prometheus/client_golang/prometheus", true},
		{"pool/pool.go", module + "/backends", false},
		{"server/frame/frame.go", "net/http", false},
		{"server/frame/frame.go", "google.golang.org/protobuf/proto", true},
		{"cmd/walbridge/zones.go", module + "/backends/file", true},
		{"cmd/walbridge/zones.go", "testing", false},
		{"surprise/x.go", "fmt", false},
	} {
		if got := forbidden(tc.file, tc.imported) == ""; got != tc.ok {
			t.Errorf("%s imports %s: allowed %v, want %v", tc.file, tc.imported, got, tc.ok)
		}
	}
}
