// Command walbridge is the daemon and its operator's tools.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/spf13/cobra"
)

// Exit codes, as in --help and docs/operations.md.
const (
	exitOK      = 0
	exitFailed  = 1
	exitUsage   = 2
	exitCorrupt = 3
)

// version is set by the linker in a release; otherwise it is the commit.
var version = ""

// coded is an error that ends the process with its own exit code.
type coded struct {
	code int
	error
}

func (c coded) Unwrap() error { return c.error }

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root := &cobra.Command{
		Use:   "walbridge",
		Short: "Ships Kafka's active log to zonal object storage, and serves it to followers",
		Long: `Walbridge takes cross-zone replication off the bill of a stock Apache Kafka cluster. The daemon runs beside each
broker, combines the new records of many partitions into frames, writes each to a quorum of zonal buckets, and serves
ranged reads.

Exit codes: 0 done, 1 failed, 2 wrong usage or configuration, 3 corrupt objects found.`,
		Example: `  walbridge serve --config /etc/walbridge/walbridge.yaml
  walbridge inspect file:///srv/walbridge/zone-a`,
		Version:       buildVersion(),
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	// Cobra's own errors for arguments of the root are not marked as wrong usage, so that they are found here.
	root.Args = func(c *cobra.Command, args []string) error {
		if len(args) > 0 {
			return coded{exitUsage, fmt.Errorf("unknown command %q; see walbridge --help", args[0])}
		}
		return nil
	}
	root.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return coded{exitUsage, err} })
	root.AddCommand(serveCommand(), inspectCommand(), statusCommand(), configCommand(), doctorCommand(), manCommand(root))
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	fmt.Fprintln(stderr, "walbridge:", err)
	if c, ok := errors.AsType[coded](err); ok {
		return c.code
	}
	return exitFailed
}

// exactArgs is cobra.ExactArgs with the exit code of wrong usage.
func exactArgs(n int) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if err := cobra.ExactArgs(n)(c, args); err != nil {
			return coded{exitUsage, fmt.Errorf("%w\nUsage: %s", err, c.UseLine())}
		}
		return nil
	}
}

func buildVersion() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" && len(s.Value) >= 12 {
				return "dev-" + s.Value[:12]
			}
		}
	}
	return "dev"
}
