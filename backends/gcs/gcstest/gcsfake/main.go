// Command gcsfake serves package gcstest's fake of Google Cloud Storage as a process of its own, for measurements and
// for the demo. It prints its address when it is ready, and ends with SIGTERM or, with -until-eof, with its standard
// input. A SIGUSR1 has it lose the last of the zonal buckets.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/walbridge/walbridge/backends/gcs/gcstest"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "gcsfake:", err)
		os.Exit(1)
	}
}

func run() error {
	var o gcstest.Options
	list := func(names *[]string) func(string) error {
		return func(s string) error {
			*names = append(*names, strings.Split(s, ",")...)
			return nil
		}
	}
	listen := flag.String("listen", "127.0.0.1:0", "the `address` to serve")
	flag.Func("zonal", "zonal `buckets`, separated by commas", list(&o.Zonal))
	flag.Func("regional", "regional `buckets`, separated by commas", list(&o.Regional))
	flag.DurationVar(&o.Latency.Create, "create", 0, "how long it takes to make an object")
	flag.DurationVar(&o.Latency.Append, "append", 0, "how long a flush takes")
	flag.DurationVar(&o.Latency.Finalize, "finalize", 0, "how long it takes to finalize an object")
	flag.DurationVar(&o.Latency.Close, "close", 0, "how long it takes to close a stream")
	flag.DurationVar(&o.Latency.Read, "read", 0, "how long it takes to open a read")
	flag.DurationVar(&o.Latency.PerMiB, "per-mib", 0, "how much longer a flush takes for each MiB")
	flag.BoolVar(&o.Discard, "discard", false, "keep the lengths of objects only")
	untilEOF := flag.Bool("until-eof", false, "end with the standard input")
	flag.Parse()

	l, err := net.Listen("tcp", *listen)
	if err != nil {
		return err
	}
	s := gcstest.New(o)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, s.Stop)
	if len(o.Zonal) > 0 {
		go loseOnSignal(s, o.Zonal[len(o.Zonal)-1])
	}
	if *untilEOF {
		go func() {
			_, _ = io.Copy(io.Discard, os.Stdin)
			stop()
		}()
	}
	fmt.Println(l.Addr())
	return s.Serve(l)
}

func loseOnSignal(s *gcstest.Server, bucket string) {
	lose := make(chan os.Signal, 1)
	signal.Notify(lose, syscall.SIGUSR1)
	<-lose
	s.Lose(bucket)
}
