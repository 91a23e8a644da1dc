package main

import (
	"errors"
	"fmt"
	"os"
	"time"
)

// report is the last line.
type report struct {
	OK       bool   `json:"ok"`
	Scenario string `json:"scenario"`
	// Cases are "ok", "skipped: …" or "failed: …" by name; Skipped counts those that this machine cannot run.
	Cases map[string]string `json:"cases,omitempty"`
	// Versions are the same, of cases that are named after a version of Kafka.
	Versions map[string]string `json:"versions,omitempty"`
	Skipped  int               `json:"skipped"`
	Measured map[string]any    `json:"measured,omitempty"`
	Error    string            `json:"error,omitempty"`
	Seconds  int               `json:"seconds"`
}

// run is one scenario that runs. Its methods are for one goroutine.
type run struct {
	// dir is where the scenario puts its files; its path is short enough for sockets.
	dir    string
	made   bool
	report report
}

func (r *run) place(dir string) (err error) {
	if r.dir = dir; dir != "" {
		return os.MkdirAll(dir, 0o755)
	}
	r.made = true
	if r.dir, err = os.MkdirTemp("", "e2e"); err != nil {
		return err
	}
	return os.Chmod(r.dir, 0o755) // Other users are part of some scenarios.
}

func (r *run) clean() {
	if r.made {
		_ = os.RemoveAll(r.dir)
	}
}

// try runs a case and records what came of it.
func (r *run) try(name string, f func() error) {
	began := time.Now()
	r.record(name, f(), nil, began)
}

// record notes a case's outcome and tells whoever watches. An error that is skipped is no failure.
func (r *run) record(name string, err, skipped error, began time.Time) {
	r.report.Cases[name] = r.outcome(name, err, skipped, began)
}

func (r *run) outcome(name string, err, skipped error, began time.Time) string {
	outcome := "ok"
	switch {
	case err == nil:
	case skipped != nil && errors.Is(err, skipped):
		outcome = err.Error()
		r.report.Skipped++
	default:
		outcome, r.report.OK = "failed: "+err.Error(), false
	}
	fmt.Printf("%-32s %6.1f s  %s\n", name, time.Since(began).Seconds(), outcome)
	const enough = 500 // The whole of it is above.
	return outcome[:min(len(outcome), enough)]
}

// measured notes a figure.
func (r *run) measured(name string, value any) { r.report.Measured[name] = value }
