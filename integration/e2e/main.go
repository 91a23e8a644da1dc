// Command e2e runs end-to-end scenarios of the built product. The last line that it prints is one JSON object that
// begins with {"ok":…; it exits with 1 where that is false.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	only := flag.String("only", "", "the scenario")
	keep := flag.String("dir", "", "where everything is put and left; default: a directory that is removed")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	s, ok := find(*only)
	if !ok {
		fmt.Fprintf(os.Stderr, "no scenario %q; there are:\n", *only)
		for _, s := range scenarios {
			fmt.Fprintf(os.Stderr, "  %-10s %s\n", s.name, s.about)
		}
		os.Exit(2)
	}
	if !runScenario(ctx, s, *keep) {
		stop()
		os.Exit(1)
	}
}

// runScenario runs s and prints its report.
func runScenario(ctx context.Context, s scenario, dir string) (ok bool) {
	began := time.Now()
	r := &run{report: report{
		OK: true, Scenario: s.name, Cases: map[string]string{}, Versions: map[string]string{}, Measured: map[string]any{},
	}}
	err := r.place(dir)
	if err == nil {
		defer r.clean()
		err = s.run(ctx, r)
	}
	if err != nil {
		r.report.OK, r.report.Error = false, err.Error()
	}
	r.report.Seconds = int(time.Since(began).Seconds())
	line, err := json.Marshal(r.report)
	if err != nil {
		line = fmt.Appendf(nil, `{"ok":false,"error":%q}`, err.Error())
		r.report.OK = false
	}
	fmt.Println(string(line))
	return r.report.OK
}
