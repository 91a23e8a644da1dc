// Command demo shows the whole product on one machine: a stock Kafka broker with the agent, the daemon with three
// zones, a load, the loss of a zone on the way, and a check of every stored byte against the broker's own log. The last
// line of its output is "demo: ok …", exit status 0, or "demo: failed: …", exit status 1.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

func main() { os.Exit(run(os.Args[1:])) }

func run(args []string) int {
	var opts options
	flags := flag.NewFlagSet("demo", flag.ContinueOnError)
	flags.StringVar(&opts.workDir, "work-dir", "", "keep everything in this `directory`; default .cache/demo")
	flags.IntVar(&opts.records, "records", 200_000, "how many records to produce")
	flags.IntVar(&opts.partitions, "partitions", 12, "over how many partitions")
	flags.Uint64Var(&opts.seed, "seed", 1, "the seed of the records")
	flags.BoolVar(&opts.killDaemon, "kill-daemon", false, "kill -9 the daemon in the load, and start it again")
	flags.Func("zones", "what the zones are: file, directories; s3, buckets of a server of S3; or gcs, buckets of a fake "+
		"Cloud Storage; default file",
		func(s string) error {
			opts.gcs, opts.s3 = s == "gcs", s == "s3"
			if s != "gcs" && s != "s3" && s != "file" {
				return errors.New("must be file, s3 or gcs")
			}
			return nil
		})
	flags.Func("wrong-byte", "flip a byte of `where`, wal or log, so that the check must fail", func(s string) error {
		opts.wrongByte = s
		if s != "wal" && s != "log" {
			return errors.New("must be wal or log")
		}
		return nil
	})
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return 0
	} else if err != nil {
		return fail(err)
	}
	if flags.NArg() > 0 || opts.records < 1 || opts.partitions < 1 {
		return fail(errors.New("takes only flags; --records and --partitions must be at least 1"))
	}

	if opts.gcs && opts.wrongByte == "wal" {
		return fail(errors.New("--wrong-byte=wal is for zones that are directories"))
	}

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	summary, err := demo(ctx, opts, newProgress(os.Stdout))
	if err != nil {
		return fail(err)
	}
	fmt.Println("demo: ok " + summary)
	return 0
}

// fail prints the error so that its first line is the last of the output.
func fail(err error) int {
	reason, details, _ := strings.Cut(err.Error(), "\n")
	if details != "" {
		fmt.Println(details)
	}
	fmt.Println("demo: failed: " + reason)
	return 1
}
