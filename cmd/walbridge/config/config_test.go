package config

import (
	"errors"
	"strings"
	"testing"
	"time"
)

const valid = `cluster_id: 5L6g3nShT-eMCtK--X86sw
broker_id: 1
listen: unix:///tmp/w.sock
zones:
  - name: a
    url: file:///srv/a
  - name: b
    url: file:///srv/b
  - name: c
    url: file:///srv/c
combine:
  linger: 0s
limits:
  copy_bytes: 8MiB
`

// anyZone takes every URL but those of the scheme "bad".
func anyZone(zoneURL string) error {
	if strings.HasPrefix(zoneURL, "bad:") {
		return errors.New("a bad scheme in " + zoneURL)
	}
	return nil
}

func TestParse(t *testing.T) {
	c, err := Parse("w.yaml", []byte(valid), nil, anyZone)
	if err != nil {
		t.Fatal(err)
	}
	if c.Quorum != 2 || c.LocalZone != "a" || c.Combine.Linger != 0 || c.Limits.CopyBytes != 8<<20 || c.BrokerID != 1 {
		t.Errorf("got %+v", c)
	}
	if c.Timeouts.Zone != Duration(2*time.Second) || c.Combine.Appends != 32 {
		t.Errorf("defaults: got %+v", c)
	}
}

// Every mistake is reported with the file, the line, the key, the value and what would be valid.
func TestParseRefuses(t *testing.T) {
	for _, tc := range []struct {
		name, old, new string
		want           []string
	}{
		{"unknown key", "broker_id: 1", "broker_id: 1\nbrokerid: 2", []string{"w.yaml:3:1", "brokerid"}},
		{"unknown key of a section", "linger: 0s", "linger: 0s\n  lnger: 1s",
			[]string{"w.yaml:13:3", "combine.lnger", `"1s"`, "linger, frame_bytes"}},
		{"unknown key of a zone", "name: b", "nam: b", []string{"w.yaml:7:5", "zones[1].nam", `"b"`, "name, url"}},
		{"not a number", "broker_id: 1", "broker_id: one", []string{"w.yaml:2:12", "broker_id", `"one"`, "0 or more"}},
		{"too large a number", "broker_id: 1", "broker_id: 99999999999", []string{"w.yaml:2:12", "broker_id", "0 or more"}},
		{"a list for a word", "broker_id: 1", "broker_id: 1\nlog: {level: [debug]}", []string{"w.yaml:3:14", "log.level", "debug, info"}},
		{"a word for a list", "broker_id: 1", "broker_id: 1\nsocket: {allow_users: kafka}",
			[]string{"w.yaml:3:23", "socket.allow_users", `"kafka"`, "a list of users"}},
		{"a word for a section", "broker_id: 1", "broker_id: 1\npool: 4", []string{"w.yaml:3:7", "pool", `"4"`, "min_depth, max_depth"}},
		{"a key without its section", "combine:\n", "", []string{"w.yaml:11:3", "such as combine:"}},
		{"duplicate key", "broker_id: 1", "broker_id: 1\nbroker_id: 2", []string{"w.yaml:3:1", "broker_id"}},
		{"no broker", "broker_id: 1\n", "", []string{"w.yaml", "broker_id is missing", "node.id"}},
		{"no cluster", "cluster_id: 5L6g3nShT-eMCtK--X86sw\n", "", []string{"cluster_id is missing"}},
		{"cluster path trick", "5L6g3nShT-eMCtK--X86sw", "../../etc", []string{"w.yaml:1:13", "cluster_id", "../../etc"}},
		{"bad unit", "copy_bytes: 8MiB", "copy_bytes: 8MB", []string{"w.yaml:14:15", "copy_bytes", "8MB", "KiB"}},
		{"bare number", "linger: 0s", "linger: 5", []string{"w.yaml:12:11", "combine.linger", `"5"`, "10ms", "0s to 1s"}},
		{"negative duration", "linger: 0s", "linger: -5ms", []string{"w.yaml:12:11", "-5ms"}},
		{"quorum too small", "broker_id: 1", "broker_id: 1\nquorum: 1", []string{"w.yaml:3:9", "quorum", "more than half"}},
		{"quorum too large", "broker_id: 1", "broker_id: 1\nquorum: 4", []string{"w.yaml:3:9", "quorum", "at most all"}},
		{"same bucket", "file:///srv/b", "file:///srv/a/", []string{"w.yaml:8:10", "zones[1].url", "no other zone"}},
		{"same bucket by another path", "file:///srv/b", "file:///srv/x/..//a", []string{"w.yaml:8:10", "zones[1].url", "no other zone"}},
		{"bucket inside another", "file:///srv/b", "file:///srv/a/b", []string{"w.yaml:8:10", "zones[1].url", "no other zone"}},
		{"bucket around another", "file:///srv/b", "file:///srv", []string{"w.yaml:8:10", "zones[1].url", "no other zone"}},
		{"same bucket, other prefix", "file:///srv/b\n  - name: c\n    url: file:///srv/c", "s3://x/a\n  - name: c\n    url: s3://x/b",
			[]string{"w.yaml:10:10", "zones[2].url", "no other zone"}},
		{"zone that its store does not take", "file:///srv/b", "bad://b?external_id=hush",
			[]string{"w.yaml:8:10", "zones[1].url", "a bad scheme in bad://b?external_id=xxxxx"}},
		{"same name", "name: b", "name: a", []string{"w.yaml:7:11", "zones[1].name"}},
		{"zone without url", "    url: file:///srv/c\n", "", []string{"zones[2].url is missing"}},
		{"local zone", "broker_id: 1", "broker_id: 1\nlocal_zone: z", []string{"w.yaml:3:13", "local_zone", "one of the zones"}},
		{"listen", "unix:///tmp/w.sock", "unix:w.sock", []string{"w.yaml:3:9", "listen", "unix:///absolute/path"}},
		{"listen off loopback", "unix:///tmp/w.sock", "tcp://0.0.0.0:1", []string{"w.yaml:3:9", "loopback"}},
		{"listen without a port", "unix:///tmp/w.sock", "tcp://127.0.0.1", []string{"w.yaml:3:9", "tcp://host:port"}},
		{"half of TLS", "unix:///tmp/w.sock", "tcp://0.0.0.0:1\ntls: {certificate: c.pem, key: k.pem}",
			[]string{"tls.client_ca is missing", "go together"}},
		{"TLS on a socket", "broker_id: 1", "broker_id: 1\ntls: {certificate: c.pem, key: k, client_ca: a}",
			[]string{"w.yaml:3:20", "unix socket"}},
		{"socket for everyone", "broker_id: 1", "broker_id: 1\nsocket: {mode: 0666}", []string{"w.yaml:3:16", "0666", "others"}},
		{"socket mode in letters", "broker_id: 1", "broker_id: 1\nsocket: {mode: rw}", []string{"w.yaml:3:16", "octal"}},
		{"admin over TCP", "broker_id: 1", "broker_id: 1\nadmin_listen: tcp://127.0.0.1:1", []string{"w.yaml:3:15", "unix:"}},
		{"old writers", "broker_id: 1", "broker_id: 1\npool: {max_item_age: 2h}",
			[]string{"w.yaml:3:22", "pool.max_item_age", "lifecycle.grace_window, 1h"}},
		{"short grace", "broker_id: 1", "broker_id: 1\nlifecycle: {grace_window: 5m}",
			[]string{"w.yaml:3:27", "lifecycle.grace_window", "at least 6m"}},
		{"retention below grace", "broker_id: 1", "broker_id: 1\nlifecycle: {retention: 5m}",
			[]string{"w.yaml:3:24", "lifecycle.retention", "at least lifecycle.grace_window"}},
		{"sample", "broker_id: 1", "broker_id: 1\ntracing: {sample: 2}", []string{"w.yaml:3:19", "tracing.sample", "0 to 1"}},
		{"trace endpoint", "broker_id: 1", "broker_id: 1\ntracing: {endpoint: collector}",
			[]string{"w.yaml:3:21", "tracing.endpoint", "http://host:port"}},
		{"log level", "broker_id: 1", "broker_id: 1\nlog: {level: loud}", []string{"w.yaml:3:14", "log.level", "debug, info"}},
		{"not yaml", "zones:", "zones: [", []string{"w.yaml"}},
		{"limits contradict", "copy_bytes: 8MiB", "copy_bytes: 512MiB", []string{"limits.inflight_bytes", "limits.copy_bytes"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			text := strings.Replace(valid, tc.old, tc.new, 1)
			if text == valid {
				t.Fatal("the case changes nothing")
			}
			_, err := Parse("w.yaml", []byte(text), nil, anyZone)
			if err == nil {
				t.Fatal("accepted")
			}
			for _, want := range tc.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%v\nlacks %q", err, want)
				}
			}
		})
	}
}

func TestBytesString(t *testing.T) {
	for b, want := range map[Bytes]string{0: "0B", 1: "1B", 1 << 10: "1KiB", 1536: "1536B", 3 << 20: "3MiB", 1 << 31: "2GiB"} {
		if got := b.String(); got != want {
			t.Errorf("%d: got %s, want %s", b, got, want)
		}
	}
}

// Of a file that cannot be read nothing is shown that may be secret.
func TestMistakesShowNoSecrets(t *testing.T) {
	for _, wrong := range []string{"tracing: {headers: [hush]}", "tracing:\n  headers: hush\n  sampel: 1", "tracing:\n  headers: hush\n\tsample: 1"} {
		if _, err := Parse("w.yaml", []byte(valid+wrong), nil, anyZone); err == nil || strings.Contains(err.Error(), "hush") {
			t.Errorf("%s: got %v", wrong, err)
		}
	}
}
