package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/walbridge/walbridge/cmd/walbridge/config"
	"github.com/walbridge/walbridge/server/daemon"
	"github.com/walbridge/walbridge/server/peer"
)

// metricsReference is where docs/metrics.md is; WALBRIDGE_WRITE=1 writes it.
const metricsReference = "../../docs/metrics.md"

// docs/metrics.md lists what a daemon can serve, also what it has not counted yet, and nothing else.
func TestMetricsReferenceIsFresh(t *testing.T) {
	text := `# Metrics

<!-- Written by: WALBRIDGE_WRITE=1 go test -run TestMetricsReferenceIsFresh ./cmd/walbridge. Do not edit. -->

Served at ` + "`metrics_listen` and `admin_listen`" + `, with those of the Go runtime and of the process (` + "`go_*`, `process_*`" + `). A
label never is a topic or a partition.

| metric | labels | means |
|---|---|---|
`
	for _, line := range describe(t, daemonRegistry(t)) {
		text += line
	}
	if os.Getenv("WALBRIDGE_WRITE") != "" {
		if err := os.WriteFile(metricsReference, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile(metricsReference)
	if err != nil {
		t.Fatal(err)
	}
	if string(b) != text {
		t.Errorf("docs/metrics.md is stale; the test itself writes it with WALBRIDGE_WRITE=1. It must be:\n%s", text)
	}
}

// daemonRegistry is the registry of a daemon that ran.
func daemonRegistry(t *testing.T) *prometheus.Registry {
	t.Helper()
	text := "cluster_id: c\nbroker_id: 1\nzones:\n"
	for _, zone := range []string{"a", "b", "c"} {
		text += fmt.Sprintf("  - {name: %s, url: \"file://%s\"}\n", zone, t.TempDir())
	}
	c, err := config.Parse("w.yaml", []byte(text), nil, checkZone)
	if err != nil {
		t.Fatal(err)
	}
	registry, logger := prometheus.NewRegistry(), slog.New(slog.DiscardHandler)
	zones, urls, err := openZones(t.Context(), c, logger, registry, nil)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	o := daemonOptions(c)
	o.Zones, o.URLs, o.Logger, o.Registerer, o.Ready = zones, urls, logger, registry, cancel
	admitted := peer.Listen(l, peer.Options{Max: 2, Logger: logger, Registerer: registry})
	if err := daemon.Run(ctx, admitted, o); err != nil {
		t.Fatal(err)
	}
	return registry
}

var description = regexp.MustCompile(`fqName: "([^"]*)", help: "([^"]*)", unit: "[^"]*", constLabels: \{([^}]*)\}, variableLabels: \{([^}]*)\}`)

func describe(t *testing.T, registry *prometheus.Registry) (lines []string) {
	t.Helper()
	all := make(chan *prometheus.Desc)
	go func() {
		registry.Describe(all)
		close(all)
	}()
	for d := range all {
		m := description.FindStringSubmatch(d.String())
		if m == nil {
			t.Fatalf("cannot read %s", d)
		}
		var labels []string
		for _, label := range strings.FieldsFunc(m[3]+","+m[4], func(r rune) bool { return r == ',' }) {
			name, _, _ := strings.Cut(label, "=")
			labels = append(labels, name)
		}
		lines = append(lines, fmt.Sprintf("| `%s` | %s | %s |\n", m[1], strings.Join(labels, ", "), m[2]))
	}
	slices.Sort(lines)
	return slices.Compact(lines)
}
