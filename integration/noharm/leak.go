package noharm

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// forHours is the variable that has no_leak go on for a time, such as 3h.
const forHours = "WALBRIDGE_NO_LEAK_FOR"

// deletedFiles are open files of topics that were deleted: none is held for long.
const deletedFiles = "files of deleted topics"

// noLeak switches, restarts the daemon and creates and deletes topics over and over, and wants the broker to have
// no more threads and file handles in the end than it had after the first round.
func noLeak(ctx context.Context, r *Rig) error {
	var until time.Time
	if word := os.Getenv(forHours); word != "" {
		duration, err := time.ParseDuration(word)
		if err != nil {
			return fmt.Errorf("%s: %w", forHours, err)
		}
		until = time.Now().Add(duration)
	}
	if err := r.round(ctx, 0); err != nil {
		return err
	}
	before, err := held(r.leader().PID())
	if err != nil {
		return err
	}
	for n := 1; n < 3 || time.Now().Before(until); n++ {
		if err := r.round(ctx, n); err != nil {
			return fmt.Errorf("round %d: %w", n, err)
		}
	}
	if err := r.neverLogged("goes on after an unexpected error"); err != nil {
		return err
	}
	return eventually(ctx, func() error {
		after, err := held(r.leader().PID())
		if err != nil {
			return err
		}
		for what, n := range after {
			if n > before[what] || what == deletedFiles {
				return fmt.Errorf("the broker holds %d %s, and held %v after the first round", n, what, before)
			}
		}
		return nil
	})
}

func (r *Rig) round(ctx context.Context, n int) error {
	topic := fmt.Sprintf("wal-round-%d", n)
	if err := r.create(ctx, topic, nil, 1); err != nil {
		return err
	}
	if err := r.produce(ctx, records/4, topic); err != nil {
		return err
	}
	for _, word := range []string{"false", "true"} {
		if _, err := r.jmx(ctx, word); err != nil {
			return err
		}
	}
	r.daemon.Kill()
	if err := r.produce(ctx, records/4, topic); err != nil {
		return err
	}
	if err := r.daemon.Start(ctx); err != nil {
		return err
	}
	if err := r.caughtUp(ctx, topic); err != nil {
		return err
	}
	if _, err := r.admin.DeleteTopics(ctx, topic); err != nil {
		return err
	}
	// Only the topics are left that were there before.
	return r.metric(ctx, "partitions", is(2*partitions))
}

// held counts what a leak of the agent's would add to: its threads, what its connections consist of, open jars, and
// files of deleted topics.
func held(pid int) (map[string]int, error) {
	names, err := threads(pid, ours)
	if err != nil {
		return nil, err
	}
	counts := map[string]int{"threads": len(names)}
	unix, err := unixSockets()
	if err != nil {
		return nil, err
	}
	dir := filepath.Join("/proc", strconv.Itoa(pid), "fd")
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		link, err := os.Readlink(filepath.Join(dir, file.Name()))
		switch {
		case err != nil: // closed meanwhile
		case strings.HasPrefix(link, "anon_inode:"):
			counts[link]++
		case unix[link]:
			counts["unix sockets"]++
		case strings.HasSuffix(link, ".jar"):
			counts["jars"]++
		case strings.Contains(link, "wal-round-"):
			counts[deletedFiles]++
		}
	}
	return counts, nil
}

// unixSockets are all unix sockets, as links of /proc/PID/fd have them.
func unixSockets() (map[string]bool, error) {
	table, err := os.ReadFile("/proc/net/unix")
	if err != nil {
		return nil, err
	}
	sockets := map[string]bool{}
	for line := range strings.Lines(string(table)) {
		if fields := strings.Fields(line); len(fields) > 6 {
			sockets["socket:["+fields[6]+"]"] = true
		}
	}
	return sockets, nil
}

// ours is what the names of the agent's threads begin with.
const ours = "walbridge"

// threads are the names of the threads that begin so, as far as the kernel keeps them: 15 bytes.
func threads(pid int, prefix string) ([]string, error) {
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/comm", pid))
	if err != nil {
		return nil, err
	}
	var names []string
	for _, file := range files {
		name, err := os.ReadFile(file)
		if err == nil && strings.HasPrefix(string(name), prefix) {
			names = append(names, strings.TrimSpace(string(name)))
		}
	}
	return names, nil
}
