package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/walbridge/walbridge/cmd/walbridge/config"
)

// verdict says how bad a finding is.
type verdict string

const (
	fine    verdict = "ok"
	warning verdict = "warning"
	problem verdict = "problem"
)

// finding is one thing that the doctor looked at.
type finding struct {
	Verdict verdict `json:"verdict"`
	Check   string  `json:"check"`
	Detail  string  `json:"detail"`
	// Do is what to do about it; empty where it is fine.
	Do string `json:"do,omitempty"`
}

// examination collects findings.
type examination struct {
	config   *config.Config
	agent    string
	client   client
	findings []finding
}

func (e *examination) fine(check, format string, args ...any) {
	e.findings = append(e.findings, finding{Verdict: fine, Check: check, Detail: fmt.Sprintf(format, args...)})
}

func (e *examination) warn(check, do, format string, args ...any) {
	e.findings = append(e.findings, finding{Verdict: warning, Check: check, Detail: fmt.Sprintf(format, args...), Do: do})
}

func (e *examination) wrong(check, do, format string, args ...any) {
	e.findings = append(e.findings, finding{Verdict: problem, Check: check, Detail: fmt.Sprintf(format, args...), Do: do})
}

func (e *examination) problems() (n int) {
	for _, f := range e.findings {
		if f.Verdict == problem {
			n++
		}
	}
	return n
}

func doctorCommand() *cobra.Command {
	var path, output string
	var e examination
	var timeout time.Duration
	c := &cobra.Command{
		Use:   "doctor --config FILE",
		Short: "Look for what is wrong, and say what to do about it",
		Long: `Doctor looks at the configuration, the host's clock, disks and limits, the socket and the daemon behind it, the agent's
version, and at each zone, where it writes, reads, lists and deletes one small object. It may run beside a daemon; run it
as the daemon's user, since it is that one's permissions that count.

It exits with 0 where nothing is a problem, with 1 where something is, and with 2 where the configuration is wrong.`,
		Example: "  runuser -u walbridge -- walbridge doctor --config /etc/walbridge/walbridge.yaml",
		Args:    exactArgs(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if output != "text" && output != "json" {
				return coded{exitUsage, fmt.Errorf("--output %q: must be text or json", output)}
			}
			ctx, cancel := context.WithTimeout(cmd.Context(), timeout)
			defer cancel()
			configured := e.all(ctx, path)
			if err := printFindings(cmd.OutOrStdout(), e.findings, output); err != nil {
				return err
			}
			switch n := e.problems(); {
			case !configured:
				return coded{exitUsage, fmt.Errorf("%s cannot be used", path)}
			case n > 0:
				return fmt.Errorf("%d of %d findings are problems", n, len(e.findings))
			}
			return nil
		},
	}
	c.Flags().StringVar(&path, "config", "/etc/walbridge/walbridge.yaml", "the configuration file")
	c.Flags().StringVar(&e.agent, "agent", "/usr/share/walbridge/walbridge-agent.jar", "the agent's jar that brokers use")
	c.Flags().StringVar(&e.client.target, "target", "", "the daemon's address; default: what the configuration listens on")
	e.client.addFlags(c)
	c.Flags().StringVar(&output, "output", "text", "text or json")
	c.Flags().DurationVar(&timeout, "timeout", time.Minute, "how long to look at most")
	return c
}

// all makes every check, and returns false where the configuration lets it make none.
func (e *examination) all(ctx context.Context, path string) (configured bool) {
	c, err := config.Load(path, checkZone)
	if err != nil {
		e.wrong("configuration", "correct it; docs/configuration.md, or walbridge config reference, has every key", "%v", err)
		return false
	}
	e.config = c
	e.fine("configuration", "%s: broker %d of cluster %s, %d zones, quorum %d", path, c.BrokerID, c.ClusterID,
		len(c.Zones), c.Quorum)
	if len(c.Zones) == c.Quorum {
		e.warn("configuration", "add a zone, or take the loss of one for an outage of writes",
			"the quorum of %d needs all %d zones: no zone may be lost", c.Quorum, len(c.Zones))
	}
	e.host()
	e.access()
	e.daemon(ctx)
	e.agentVersion()
	e.zones(ctx)
	return true
}

func printFindings(w io.Writer, findings []finding, output string) error {
	if output == "json" {
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		return enc.Encode(findings)
	}
	for _, f := range findings {
		indented := strings.ReplaceAll(f.Detail, "\n", "\n    ")
		if _, err := fmt.Fprintf(w, "%-8s %s: %s\n", f.Verdict, f.Check, indented); err != nil {
			return err
		}
		if f.Do != "" {
			if _, err := fmt.Fprintf(w, "         -> %s\n", f.Do); err != nil {
				return err
			}
		}
	}
	return nil
}
