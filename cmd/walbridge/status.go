package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/encoding/protojson"

	walbridgev1 "github.com/walbridge/walbridge/proto/walbridge/v1"
)

func statusCommand() *cobra.Command {
	var daemon client
	var output string
	var timeout time.Duration
	c := &cobra.Command{
		Use:   "status",
		Short: "Ask a running daemon how it is",
		Long: `Status asks the daemon at --target and prints its zones, pool, lanes and what is in flight.

It exits with 1 where the daemon does not answer or is not healthy.`,
		Example: `  walbridge status --output json
  walbridge status --target tcp://broker-1:9476 --cacert ca.pem --cert me.pem --key me.key`,
		Args: exactArgs(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if output != "text" && output != "json" {
				return coded{exitUsage, fmt.Errorf("--output %q: must be text or json", output)}
			}
			ctx, cancel := context.WithTimeout(cmd.Context(), timeout)
			defer cancel()
			conn, err := daemon.dial()
			if err != nil {
				return err
			}
			defer conn.Close()
			status, err := walbridgev1.NewWalServiceClient(conn).GetStatus(ctx, &walbridgev1.GetStatusRequest{})
			if err != nil {
				return fmt.Errorf("daemon at %s: %w%s", daemon.target, err, daemon.hint(err))
			}
			if err := printStatus(cmd.OutOrStdout(), status, output); err != nil {
				return err
			}
			if !status.GetHealthy() {
				return fmt.Errorf("daemon at %s is degraded", daemon.target)
			}
			return nil
		},
	}
	c.Flags().StringVar(&daemon.target, "target", "unix:///run/walbridge/walbridge.sock",
		"the daemon's address, as its listen says it: unix:///path or tcp://host:port")
	daemon.addFlags(c)
	c.Flags().StringVar(&output, "output", "text", "text or json")
	c.Flags().DurationVar(&timeout, "timeout", 5*time.Second, "how long to wait for the answer")
	return c
}

func printStatus(w io.Writer, s *walbridgev1.GetStatusResponse, output string) error {
	if output == "json" {
		b, err := protojson.MarshalOptions{UseProtoNames: true, EmitUnpopulated: true}.Marshal(s)
		if err != nil {
			return err
		}
		// protojson varies its blanks on purpose; scripts and people want the same text for the same status.
		var v map[string]any
		if err := json.Unmarshal(b, &v); err != nil {
			return err
		}
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(v)
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	row := func(key, format string, args ...any) { fmt.Fprintf(t, "%s\t%s\n", key, fmt.Sprintf(format, args...)) }
	row("daemon", "%s, incarnation %d, up %s", s.GetVersion(), s.GetIncarnation(),
		s.GetUptime().AsDuration().Round(time.Second))
	row("serves", "broker %d of cluster %s", s.GetBrokerId(), s.GetClusterId())
	row("written", "%d frames, %d bytes; %d frames not in every zone; %d copies failed", s.GetFramesWritten(),
		s.GetBytesWritten(), s.GetFramesUnderReplicated(), s.GetCopiesFailed())
	row("in flight", "%d of %d bytes", s.GetInflightBytes(), s.GetMaxInflightBytes())
	row("lanes", "%d of %d busy, %d copies queued", s.GetLanes().GetBusy(), s.GetLanes().GetLanes(), s.GetLanes().GetQueued())
	p := s.GetPool()
	row("pool", "%d of %d writers ready, %d loading; created %d, used %d, discarded %d, failed %d", p.GetReady(),
		p.GetTarget(), p.GetLoading(), p.GetCreated(), p.GetUsed(), p.GetDiscarded(), p.GetFailed())
	row("quorum", "%d of %d zones", s.GetQuorum(), len(s.GetZones()))
	for _, z := range s.GetZones() {
		state := "healthy"
		if z.GetState() == walbridgev1.ZoneState_ZONE_STATE_DOWN {
			state = "down"
		}
		row("zone "+z.GetName(), "%s, %s", state, z.GetUrl())
		if z.GetLastError() != "" {
			row("", "%s: %s", z.GetLastErrorTime().AsTime().Format(time.RFC3339), z.GetLastError())
		}
	}
	return t.Flush()
}
