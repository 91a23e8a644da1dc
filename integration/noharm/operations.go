package noharm

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/walbridge/walbridge/integration/upload"
	"github.com/walbridge/walbridge/integration/walend"
)

// operations are what an operator does with the agent while the broker runs.
var operations = []Case{
	{"skips_ahead", skipsAhead},
	{"metrics_reporter", metricsReporter},
	{"refused_topics", refusedTopics},
	{"switch_by_jmx", switchByJMX},
	{"switch_by_config", switchByConfig},
	{"dynamic_topics", dynamicTopics},
	{"invalid_config", invalidConfig},
	{"no_leak", noLeak},
	{"shutdown_while_mute", shutdownWhileMute},
}

// skipsAhead wants replicated partitions, and only them, to leave out what is beyond the bound, and no gap claimed.
func skipsAhead(ctx context.Context, r *Rig) error {
	before, err := r.metrics()
	if err != nil {
		return err
	}
	r.target.Down()
	for range 20 {
		if err := r.produce(ctx, records, replicated); err != nil {
			return err
		}
		now, err := r.metrics()
		if err != nil {
			return err
		}
		if now["skipped-records-total"] > before["skipped-records-total"] {
			break
		}
	}
	if err := r.produce(ctx, records, single); err != nil {
		return err
	}
	if err := r.metric(ctx, "skipped-bytes-total", func(skipped float64) bool {
		return skipped >= before["skipped-bytes-total"]+maxBacklog/partitions
	}); err != nil {
		return err
	}
	if err := r.healthy(); err != nil {
		return err
	}
	if err := r.produce(ctx, records, replicated); err != nil {
		return err
	}
	return errors.Join(r.caughtUp(ctx, single), r.holdsWhatItClaims(ctx, replicated))
}

// holdsWhatItClaims compares the ranges that the agent claims with what is stored.
func (r *Rig) holdsWhatItClaims(ctx context.Context, topic string) error {
	var claims *beans
	if err := eventually(ctx, func() (err error) {
		if claims, err = r.jmx(ctx); err == nil && claims.LagRecords > 0 {
			err = fmt.Errorf("the WAL is %d records behind", claims.LagRecords)
		}
		return err
	}); err != nil {
		return err
	}
	stored, err := upload.Stored(ctx, r.daemon)
	if err != nil {
		return err
	}
	starts, err := r.admin.ListStartOffsets(ctx, topic)
	if err != nil {
		return err
	}
	skipped := 0
	for _, p := range of(topic) {
		name := fmt.Sprintf("%s-%d", p.Topic, p.ID)
		start, end := claims.WalStarts[name], claims.WalEnds[name]
		if held := walend.Of(start, stored[p]); held < end {
			return fmt.Errorf("%s: the WAL holds [%d, %d), the agent claims [%d, %d)", name, start, held, start, end)
		}
		if logStart, _ := starts.Lookup(p.Topic, p.ID); start > logStart.Offset {
			skipped++
		}
	}
	if skipped == 0 {
		return errors.New("no partition has skipped")
	}
	return nil
}

// metricsReporter wants a reporter of the broker to see what JMX says.
func metricsReporter(ctx context.Context, r *Rig) error {
	return eventually(ctx, func() error {
		seen, err := r.metrics()
		if err != nil {
			return err
		}
		asked, err := r.jmx(ctx)
		if err != nil {
			return err
		}
		if asked.Records == 0 || seen["records-total"] != float64(asked.Records) ||
			seen["skipped-records-total"] != float64(asked.SkippedRecords) || seen["enabled"] != 1 {
			return fmt.Errorf("the reporter sees %v, JMX says %+v", seen, *asked)
		}
		return nil
	})
}

func refusedTopics(ctx context.Context, r *Rig) error {
	const topic = "wal-compacted"
	if err := r.create(ctx, topic, map[string]string{"cleanup.policy": "compact"}, 1); err != nil {
		return err
	}
	if err := r.metric(ctx, "refused-topics", is(1)); err != nil {
		return err
	}
	asked, err := r.jmx(ctx)
	if err != nil {
		return err
	}
	if !strings.Contains(asked.RefusedTopics[topic], "compacted") {
		return fmt.Errorf("refused topics: %v", asked.RefusedTopics)
	}
	return r.loggedOnce("Topic " + topic + " does not go to the WAL")
}

func (r *Rig) loggedOnce(line string) error {
	n, err := r.logged(line)
	if err == nil && n != 1 {
		err = fmt.Errorf("%d lines %q in the broker's log", n, line)
	}
	return err
}

func (r *Rig) neverLogged(text string) error {
	n, err := r.logged(text)
	if err == nil && n > 0 {
		err = fmt.Errorf("%d lines with %q in the broker's log", n, text)
	}
	return err
}

// switchByJMX wants nothing of the upload to be left while it is off, and what was produced meanwhile stored once.
func switchByJMX(ctx context.Context, r *Rig) error {
	before, err := r.jmx(ctx)
	if err != nil {
		return err
	}
	off, err := r.jmx(ctx, "false")
	if err != nil {
		return err
	}
	if off.Enabled || off.Records != before.Records {
		return fmt.Errorf("switched off: %+v", *off)
	}
	if err := r.nothingLeft(ctx); err != nil {
		return err
	}
	ends, err := r.ends(ctx, single)
	if err != nil {
		return err
	}
	if err := r.produce(ctx, records, single); err != nil {
		return err
	}
	if _, err := r.jmx(ctx, "true"); err != nil {
		return err
	}
	return errors.Join(r.caughtUp(ctx, single), r.storedOnce(ctx, before.Records, ends))
}

// storedOnce wants as many records stored since then as the single topic has got since its log ends were these.
func (r *Rig) storedOnce(ctx context.Context, before int64, ends kadm.ListedOffsets) error {
	return eventually(ctx, func() error {
		now, err := r.ends(ctx, single)
		if err != nil {
			return err
		}
		asked, err := r.jmx(ctx)
		if err != nil {
			return err
		}
		var grown int64
		now.Each(func(o kadm.ListedOffset) {
			was, _ := ends.Lookup(o.Topic, o.Partition)
			grown += o.Offset - was.Offset
		})
		if stored := asked.Records - before; stored != grown {
			return fmt.Errorf("%d records were stored, the log has grown by %d", stored, grown)
		}
		return nil
	})
}

// nothingLeft wants no thread of the agent, and no object of the upload after a garbage collection.
func (r *Rig) nothingLeft(ctx context.Context) error {
	return eventually(ctx, func() error {
		names, err := threads(r.leader().PID(), ours)
		if err != nil {
			return err
		}
		if len(names) > 0 {
			return fmt.Errorf("threads %q", names)
		}
		out, err := exec.CommandContext(ctx, "jcmd", strconv.Itoa(r.leader().PID()), "GC.class_histogram").Output()
		if err != nil {
			return fmt.Errorf("jcmd: %w", err)
		}
		for _, class := range []string{
			"io.walbridge.agent.RemoteWalManager", "io.walbridge.agent.WalPartition", "io.walbridge.agent.WalSection",
			"io.walbridge.shim.GrpcRemoteWalStorageManager",
		} {
			if strings.Contains(string(out), " "+class+" ") || strings.Contains(string(out), " "+class+"\n") {
				return fmt.Errorf("objects of %s", class)
			}
		}
		return nil
	})
}

// switchByConfig switches with the broker's dynamic configuration.
func switchByConfig(ctx context.Context, r *Rig) error {
	const key = "remote.log.wal.storage.system.enable"
	if err := r.configure(ctx, key+"=false"); err != nil {
		return err
	}
	if err := r.metric(ctx, "enabled", is(0)); err != nil {
		return err
	}
	if err := r.produce(ctx, records, single); err != nil {
		return err
	}
	if err := r.configure(ctx, key); err != nil {
		return err
	}
	if err := r.metric(ctx, "enabled", is(1)); err != nil {
		return err
	}
	return r.caughtUp(ctx, single)
}

// dynamicTopics selects a topic that was not, and takes that back.
func dynamicTopics(ctx context.Context, r *Rig) error {
	const key, topic = "remote.log.wal.topics", "other"
	if err := r.create(ctx, topic, nil, 1); err != nil {
		return err
	}
	if err := r.produce(ctx, records, topic); err != nil {
		return err
	}
	if err := r.configure(ctx, key+"=wal-.*,other"); err != nil {
		return err
	}
	if err := r.caughtUp(ctx, topic, single); err != nil {
		return err
	}
	if err := r.configure(ctx, key); err != nil {
		return err
	}
	return eventually(ctx, func() error {
		asked, err := r.jmx(ctx)
		if err == nil && (asked.WalEnds[topic+"-0"] > 0 || !slices.Equal(asked.Topics, []string{"wal-.*"})) {
			err = fmt.Errorf("topics %q, WAL ends %v", asked.Topics, asked.WalEnds)
		}
		return err
	})
}

// invalidConfig wants a value that cannot be used ignored, with one line, and what came with it taken over by Kafka.
func invalidConfig(ctx context.Context, r *Rig) error {
	const line = "Walbridge keeps its configuration: Invalid value a(b for configuration remote.log.wal.topics"
	if err := r.configure(ctx, "remote.log.wal.topics=a(b", "log.cleaner.threads=2"); err != nil {
		return err
	}
	if err := eventually(ctx, func() error { return r.loggedOnce(line) }); err != nil {
		return err
	}
	if err := r.produce(ctx, records, single); err != nil {
		return err
	}
	if err := r.caughtUp(ctx, single); err != nil {
		return err
	}
	if err := r.neverLogged("could not be applied"); err != nil {
		return err
	}
	if cleaners, err := threads(r.leader().PID(), "kafka-log-clean"); err != nil || len(cleaners) != 2 {
		return fmt.Errorf("%d log cleaners: %w", len(cleaners), err)
	}
	return r.configure(ctx, "remote.log.wal.topics", "log.cleaner.threads")
}

// shutdownWhileMute stops the broker cleanly while the daemon takes everything and says nothing.
func shutdownWhileMute(ctx context.Context, r *Rig) error {
	if err := r.target.Serve(mute()); err != nil {
		return err
	}
	if err := r.produce(ctx, records, single); err != nil {
		return err
	}
	if err := r.leader().Stop(ctx); err != nil {
		return err
	}
	if err := r.neverLogged("Walbridge has not ended yet"); err != nil {
		return err
	}
	if err := r.healthy(); err != nil {
		return err
	}
	if err := r.leader().Start(ctx); err != nil {
		return err
	}
	return r.caughtUp(ctx, single)
}
