package installed

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
)

// mistakes are what a newcomer does to the example configuration: edits are regular expressions that a line begins with
// and what becomes of it, the mistake in the last; want is what they must be told besides the file and the line.
var mistakes = []struct {
	name  string
	edits [][2]string
	want  []string
}{
	{"a key of another name", [][2]string{{`broker_id: 1`, `broker: 1`}}, []string{"broker:", "no such key", "broker_id"}},
	{"a word for a number", [][2]string{{`broker_id: 1`, `broker_id: kafka-1`}},
		[]string{"broker_id", `"kafka-1"`, "0 or more"}},
	{"a duration without a unit", [][2]string{{`# combine:`, `combine:`}, {`#   linger: 10ms`, `  linger: 10`}},
		[]string{"combine.linger", `"10"`, "10ms"}},
	{"a key whose section is still a comment", [][2]string{{`#   linger: 10ms`, `  linger: 5ms`}},
		[]string{"section", "such as combine:"}},
	{"one folder for two zones", [][2]string{{`url: file://(.*)/zone-b`, `url: file://$1/zone-a`}},
		[]string{"zones[1].url", "zone-a", "no other zone"}},
	{"a quorum of more zones than there are", [][2]string{{`# quorum: 2`, `quorum: 4`}},
		[]string{"quorum", `"4"`, "at most all"}},
	{"TCP for everyone", [][2]string{{`(# )?listen: .*`, `listen: tcp://0.0.0.0:9476`}},
		[]string{"listen", "0.0.0.0", "loopback", "tls.key"}},
	{"writers that outlive the grace window",
		[][2]string{{`# pool:`, `pool:`}, {`#   max_item_age: 2m`, `  max_item_age: 3h`}},
		[]string{"pool.max_item_age", `"3h0m0s"`, "lifecycle.grace_window"}},
}

// Newcomer makes each mistake in the installed example and fails unless check, serve and doctor all say where it is and
// what would be right, with the exit code of a wrong configuration.
func (r Root) Newcomer(ctx context.Context) error {
	path := r.Path("etc/walbridge/walbridge.yaml")
	example, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	for _, m := range mistakes {
		text, line := string(example), 0
		for _, e := range m.edits {
			if text, line = replaceLine(text, e[0], e[1]); line == 0 {
				return fmt.Errorf("%s: the example has no line %q", m.name, e[0])
			}
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return err
		}
		want := append([]string{fmt.Sprintf("%s:%d:", path, line)}, m.want...)
		for _, command := range []string{"config check", "serve --config", "doctor --config"} {
			if err := r.refused(ctx, append(strings.Fields(command), path), want); err != nil {
				return fmt.Errorf("%s: %w", m.name, err)
			}
		}
	}
	return os.WriteFile(path, example, 0o644)
}

// replaceLine replaces old, in the first line that begins with it, and tells the line's number; 0 where there is none.
func replaceLine(text, old, with string) (changed string, line int) {
	at := regexp.MustCompile(`(?m)^ *` + old).FindStringIndex(text)
	if at == nil {
		return text, 0
	}
	is := regexp.MustCompile(old).ReplaceAllString(text[at[0]:at[1]], with)
	return text[:at[0]] + is + text[at[1]:], strings.Count(text[:at[0]], "\n") + 1
}

func (r Root) refused(ctx context.Context, args, want []string) error {
	out, err := exec.CommandContext(ctx, r.Path("usr/bin/walbridge"), args...).CombinedOutput()
	exit, ok := errors.AsType[*exec.ExitError](err)
	if !ok || exit.ExitCode() != 2 {
		return fmt.Errorf("walbridge %s: %v, want exit code 2: %s", strings.Join(args, " "), err, out)
	}
	for _, w := range want {
		if !strings.Contains(string(out), w) {
			return fmt.Errorf("walbridge %s does not say %q: %s", strings.Join(args, " "), w, out)
		}
	}
	return nil
}
