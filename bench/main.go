// Command bench measures the product against a baseline in the same run and merges what it found into
// bench/results.json. Timings live here only: tests look at outcomes.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime/pprof"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/walbridge/walbridge/server/daemon"
)

// Row is one figure. Ratio is Value / Baseline; both are null where there is no baseline.
type Row struct {
	Name     string   `json:"name"`
	Unit     string   `json:"unit"`
	Value    float64  `json:"value"`
	Baseline *float64 `json:"baseline"`
	Ratio    *float64 `json:"ratio"`

	// Want says what the figure must be, and OK whether it is. They are printed, not stored.
	Want string `json:"-"`
	OK   bool   `json:"-"`
}

// measure makes a row without a baseline, bounded by most.
func measure(name, unit string, value, most float64) Row {
	return Row{Name: name, Unit: unit, Value: value, Want: fmt.Sprintf("value <= %g", most), OK: value <= most}
}

// compare makes a row with a baseline, whose ratio is at least or at most bound.
func compare(name, unit string, value, baseline float64, relation string, bound float64) Row {
	ratio := value / baseline
	return Row{
		Name: name, Unit: unit, Value: value, Baseline: &baseline, Ratio: &ratio,
		Want: fmt.Sprintf("ratio %s %g", relation, bound),
		OK:   relation == "<=" && ratio <= bound || relation == ">=" && ratio >= bound,
	}
}

// report makes a row with a baseline and without a bound.
func report(name, unit string, value, baseline float64) Row {
	ratio := value / baseline
	return Row{Name: name, Unit: unit, Value: value, Baseline: &baseline, Ratio: &ratio, Want: "reported", OK: true}
}

// groups are what -only names; each is in a file of its own.
var groups = []struct {
	name string
	run  func(context.Context) ([]Row, error)
}{
	{"core", core},
	{"s3", s3Group},
	{"gcs", gcsGroup},
	{"broker", brokerGroup},
}

const resultsFile = "bench/results.json"

func main() {
	only := flag.String("only", "", "measure this group only")
	row := flag.String("row", "", "measure only the rows whose name contains this")
	profile := flag.String("cpuprofile", "", "write a CPU profile to this file")
	flag.Parse()
	daemon.TuneGC() // As the product does.
	if len(os.Args) == 3 && os.Args[1] == daemonArg {
		if err := daemonMain(os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(1)
		}
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	rowFilter = *row
	if *profile != "" {
		f, err := os.Create(*profile)
		if err == nil {
			err = pprof.StartCPUProfile(f)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(1)
		}
	}
	err := run(ctx, *only)
	pprof.StopCPUProfile()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// rowFilter leaves out, while developing, what is not looked at.
var rowFilter string

func wanted(rows ...string) bool {
	return slices.ContainsFunc(rows, func(r string) bool { return strings.Contains(r, rowFilter) })
}

func run(ctx context.Context, only string) error {
	var rows []Row
	for _, g := range groups {
		if only != "" && only != g.name {
			continue
		}
		if group, _, ok := strings.Cut(rowFilter, "."); ok && group != g.name {
			continue
		}
		start := time.Now()
		got, err := g.run(ctx)
		if err != nil {
			return fmt.Errorf("%s: %w", g.name, err)
		}
		fmt.Fprintf(os.Stderr, "bench: %s took %v\n", g.name, time.Since(start).Round(time.Second))
		rows = append(rows, got...)
	}
	if len(rows) == 0 {
		var names []string
		for _, g := range groups {
			names = append(names, g.name)
		}
		return fmt.Errorf("nothing measured: -only %q, -row %q; the groups are %s", only, rowFilter, strings.Join(names, ", "))
	}
	if err := merge(rows); err != nil {
		return err
	}
	return printTable(rows)
}

// merge puts rows into the results file, in place of those of the same name.
func merge(rows []Row) error {
	var all []Row
	b, err := os.ReadFile(resultsFile)
	if err == nil {
		err = json.Unmarshal(b, &all)
	} else if os.IsNotExist(err) {
		err = nil
	}
	if err != nil {
		return fmt.Errorf("%s: %w", resultsFile, err)
	}
	for _, r := range rows {
		all = slices.DeleteFunc(all, func(old Row) bool { return old.Name == r.Name })
	}
	all = append(all, rows...)
	slices.SortFunc(all, func(a, b Row) int { return cmp.Compare(a.Name, b.Name) })
	b, err = json.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(resultsFile, append(b, '\n'), 0o644)
}

func printTable(rows []Row) error {
	t := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "name\tunit\tvalue\tbaseline\tratio\twanted\t")
	missed := 0
	for _, r := range rows {
		verdict := "ok"
		if !r.OK {
			verdict = "MISSED"
			missed++
		}
		baseline, ratio := "-", "-"
		if r.Baseline != nil {
			baseline, ratio = fmt.Sprintf("%.4g", *r.Baseline), fmt.Sprintf("%.3f", *r.Ratio)
		}
		fmt.Fprintf(t, "%s\t%s\t%.4g\t%s\t%s\t%s\t%s\n", r.Name, r.Unit, r.Value, baseline, ratio, r.Want, verdict)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if missed > 0 {
		return fmt.Errorf("%d of %d figures missed what is wanted", missed, len(rows))
	}
	return nil
}
