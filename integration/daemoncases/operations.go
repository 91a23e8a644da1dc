package daemoncases

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/walbridge/walbridge/integration/hostile"
)

// debugLines: at debug every copy has one line that tells where it lies; at info none has any.
func debugLines(ctx context.Context, r *rig) error {
	const copies = 20
	for level, want := range map[string]int{"debug": copies, "info": 0} {
		if err := os.RemoveAll(r.log()); err != nil {
			return err
		}
		p, err := r.start(ctx, r.configuration("log: {level: "+level+"}\n"))
		if err != nil {
			return err
		}
		conn, err := grpc.NewClient(r.target(), grpc.WithTransportCredentials(insecure.NewCredentials()))
		if err != nil {
			return err
		}
		for range copies {
			if err := hostile.HonestCopy(ctx, conn, "cluster", 1, make([]byte, 1000)); err != nil {
				return errors.Join(err, conn.Close())
			}
		}
		if err := errors.Join(conn.Close(), p.Stop(ctx)); err != nil {
			return err
		}
		log, err := os.ReadFile(r.log())
		if err != nil {
			return err
		}
		n := 0
		for line := range strings.Lines(string(log)) {
			if strings.Contains(line, "CopyLogSegmentData") && strings.Contains(line, "object=cluster/1/") {
				n++
			}
		}
		if n != want || level == "info" && strings.Count(string(log), "\n") > 10 {
			return fmt.Errorf("%d lines for %d copies at %s, want %d: %s", n, copies, level, want, log)
		}
	}
	return nil
}

// status is for people and for scripts, and its exit code is for monitors.
func status(ctx context.Context, r *rig) error {
	if _, err := r.start(ctx, r.configuration("")); err != nil {
		return err
	}
	ask := []string{"status", "--target", r.target()}
	if err := r.expect(ctx, 0, ask, "zone a", "healthy", "pool", "lanes", "in flight", "quorum", "2 of 3 zones"); err != nil {
		return err
	}
	code, output := r.walbridge(ctx, append(ask, "--output", "json")...)
	var s struct {
		Healthy bool
		Zones   []struct{ Name, State string }
	}
	if err := json.Unmarshal([]byte(output), &s); err != nil || code != 0 || !s.Healthy || len(s.Zones) != 3 {
		return fmt.Errorf("status --output json: %d, %w: %s", code, err, output)
	}
	return nil
}

// doctor finds a healthy daemon well, and says of a broken zone and of a mistake what to do.
func doctor(ctx context.Context, r *rig) error {
	p, err := r.start(ctx, r.configuration(""))
	if err != nil {
		return err
	}
	look := []string{"doctor", "--config", r.path("w.yaml")}
	if err := r.expect(ctx, 0, look, "answers within", "zone a: works: create", "delete", "clock", "open files"); err != nil {
		return err
	}
	code, output := r.walbridge(ctx, append(look, "--output", "json")...)
	var findings []struct{ Verdict, Check, Detail, Do string }
	if err := json.Unmarshal([]byte(output), &findings); err != nil || code != 0 {
		return fmt.Errorf("doctor --output json: %d, %w: %s", code, err, output)
	}
	for _, f := range findings {
		if f.Verdict != "ok" && f.Do == "" {
			return fmt.Errorf("%s: %s: says not what to do", f.Check, f.Detail)
		}
	}
	if err := p.Stop(ctx); err != nil {
		return err
	}
	if err := os.RemoveAll(r.path("zone-b")); err != nil {
		return err
	}
	if err := r.expect(ctx, 1, look, "problem  zone b", "problem  daemon: no answer", "-> "); err != nil {
		return err
	}
	if err := r.configure("cluster_id: x\n"); err != nil {
		return err
	}
	return r.expect(ctx, 2, look, "problem  configuration", "w.yaml:1:1", "-> ")
}

// replacedZone: a zone whose folder goes is down, which status and its exit code say, and it is back when there is a
// folder again, without a restart.
func replacedZone(ctx context.Context, r *rig) error {
	p, err := r.start(ctx, r.configuration("combine: {appends: 1}\n"))
	if err != nil {
		return err
	}
	stop := copyOnAndOn(ctx, r.target())
	defer stop()
	if err := os.RemoveAll(r.path("zone-c")); err != nil {
		return err
	}
	ask := []string{"status", "--target", r.target()}
	told := func(code int, want ...string) func(context.Context) error {
		return func(ctx context.Context) error { return r.expect(ctx, code, ask, want...) }
	}
	waiting, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := p.Await(waiting, "the zone is down", told(1, "zone c", "down", "directory is not there")); err != nil {
		return err
	}
	if err := os.Mkdir(r.path("zone-c"), 0o755); err != nil {
		return err
	}
	return p.Await(waiting, "the zone is back", told(0, "zone c"))
}
