package config

import (
	"fmt"
	"strings"
)

// Key is one key of the file.
type Key struct {
	// Path is the key with those it stands in: combine.linger. The items of a list are [].
	Path string
	// Default is the value, as YAML, of a key that is left out; empty for none.
	Default string
	// Valid is what the value must be.
	Valid string
	// Doc says what the key does.
	Doc string
	// Reload tells whether SIGHUP applies a change.
	Reload bool
	// Env is the environment variable that the value may come from instead: secrets do not belong into a file.
	Env string
}

// Keys are all keys in the order of the reference.
var Keys = []Key{
	{Path: "cluster_id", Valid: "1 to 64 letters, digits, _ and -",
		Doc: "The Kafka cluster's id, `cluster.id` in the broker's meta.properties. Copies from another are refused."},
	{Path: "broker_id", Valid: "the broker's node.id, 0 or more",
		Doc: "The `node.id` of the broker on this host. Copies from another are refused."},
	{Path: "listen", Default: "unix:///run/walbridge/walbridge.sock", Valid: "unix:///absolute/path or tcp://host:port",
		Doc: "Where the broker's agent reaches the daemon. TCP off loopback needs `tls`. Under socket activation systemd's " +
			"socket is used instead."},
	{Path: "metrics_listen", Valid: "a loopback address such as 127.0.0.1:9477, or nothing for no metrics listener",
		Doc: "Where Prometheus metrics are served, at /metrics."},
	{Path: "admin_listen", Valid: "unix:///absolute/path, or nothing for no admin socket",
		Doc: "A socket for the daemon's own user alone (mode 0600) that serves /debug/pprof/ and /metrics."},
	{Path: "zones", Valid: "a list of at least one zone, each with a name and a url",
		Doc: "The buckets. A frame is acknowledged when `quorum` of them hold it durably."},
	{Path: "zones[].name", Valid: "1 to 63 letters, digits, dots and hyphens, such as use1-az4", Doc: "What the zone is called."},
	{Path: "zones[].url", Valid: "file:///path, s3://bucket/prefix?region=… or gs://bucket/prefix",
		Env: "WALBRIDGE_ZONE_<NAME>_URL",
		Doc: "The zone's bucket. No two zones share one, also not under different prefixes. In the variable's name letters " +
			"are capitals, other characters _."},
	{Path: "local_zone", Valid: "the name of one of the zones",
		Doc: "The zone that reads go to first: this host's own. Default: the first."},
	{Path: "quorum", Valid: "more than half of the zones and at most all, or nothing for a majority",
		Doc: "How many zones must hold a frame before it is acknowledged. Default: more than half."},

	{Path: "socket.mode", Default: "\"0660\"", Valid: "an octal file mode without access for others, such as \"0660\"",
		Doc: "The socket's file mode, in force before anyone can connect."},
	{Path: "socket.group", Valid: "a group's name or number, or nothing for the daemon's own",
		Doc: "The socket's group, which the broker's user belongs to."},
	{Path: "socket.allow_users", Default: "[]", Valid: "a list of users' names or numbers", Reload: true,
		Doc: "Who may connect, by the user of the peer's process. With neither list everyone whom the file mode lets."},
	{Path: "socket.allow_groups", Default: "[]", Valid: "a list of groups' names or numbers", Reload: true,
		Doc: "Who else may connect, by the group of the peer's process."},

	{Path: "tls.certificate", Valid: "a PEM file", Doc: "The daemon's certificate chain; read again on SIGHUP."},
	{Path: "tls.key", Valid: "a PEM file", Doc: "Its private key; read again on SIGHUP."},
	{Path: "tls.client_ca", Valid: "a PEM file",
		Doc: "Who signs the clients' certificates; a client without one is refused. Read again on SIGHUP."},

	{Path: "limits.inflight_bytes", Default: "128MiB", Valid: "at least limits.copy_bytes",
		Doc: "Copies accepted and not yet answered. When it is full a further copy is refused at once, or takes the place " +
			"of one still coming in over the connection that holds the most."},
	{Path: "limits.copy_bytes", Default: "32MiB", Valid: "64KiB to 1GiB",
		Doc: "The longest copy; at least the largest `max.message.bytes` of a topic."},
	{Path: "limits.cache_bytes", Default: "64MiB", Valid: "a size", Doc: "Frames kept after a read."},
	{Path: "limits.late_bytes", Default: "32MiB", Valid: "at least limits.copy_bytes",
		Doc: "For each zone: frames held for a zone that the quorum no longer waits for."},
	{Path: "limits.connections", Default: "32", Valid: "2 to 1024",
		Doc: "Connections at a time. One user of the socket, or one host over TCP, gets at most half of them."},

	{Path: "combine.linger", Default: "10ms", Valid: "0s to 1s",
		Doc: "How long the oldest bytes of a frame wait for more, at the broker and here; 0s sends what there is."},
	{Path: "combine.frame_bytes", Default: "4MiB", Valid: "4KiB to 1GiB", Doc: "A frame this long waits for nothing."},
	{Path: "combine.lanes", Default: "4", Valid: "1 to 256", Doc: "Frames written at a time."},
	{Path: "combine.appends", Default: "32", Valid: "1 to 10000", Doc: "Frames an object takes, where every zone can append."},
	{Path: "combine.object_bytes", Default: "64MiB", Valid: "at least combine.frame_bytes",
		Doc: "An object this long takes no further frame."},
	{Path: "combine.object_age", Default: "1m", Valid: "1s or more", Doc: "Nor does one this old."},

	{Path: "pool.min_depth", Default: "4", Valid: "1 or more", Doc: "Pre-warmed writers kept even when idle."},
	{Path: "pool.max_depth", Default: "256", Valid: "pool.min_depth to 4096", Doc: "The most pre-warmed writers."},
	{Path: "pool.load_concurrency", Default: "16", Valid: "1 to 1024", Doc: "Writers opened at a time."},
	{Path: "pool.max_item_age", Default: "2m", Valid: "1s or more; with combine.object_age at most half of lifecycle.grace_window",
		Doc: "An older pre-warmed writer is discarded unused."},

	{Path: "lifecycle.grace_window", Default: "1h",
		Valid: "at least twice pool.max_item_age and combine.object_age together",
		Doc: "An object younger than this is never taken for an orphan: its writer may still be open. The daemon deletes " +
			"nothing yet; give a bucket's own lifecycle rule at least this time."},
	{Path: "lifecycle.retention", Default: "24h", Valid: "at least lifecycle.grace_window",
		Doc: "How long an object must live; `walbridge doctor` reports a bucket's rule that deletes sooner."},

	{Path: "timeouts.zone", Default: "2s", Valid: "1ms or more", Doc: "One create or append in one zone."},
	{Path: "timeouts.read", Default: "1s", Valid: "1ms or more", Doc: "One read from one zone."},
	{Path: "timeouts.copy", Default: "10s", Valid: "more than timeouts.zone",
		Doc: "A whole copy, whatever the caller allows."},
	{Path: "timeouts.drain", Default: "20s", Valid: "a duration", Doc: "How long a stop waits for what was accepted."},

	{Path: "tracing.endpoint", Valid: "http://host:port or https://host:port, or nothing for no traces",
		Doc: "Where OpenTelemetry traces go, by OTLP over gRPC; http is without TLS."},
	{Path: "tracing.sample", Default: "0.01", Valid: "0 to 1",
		Doc: "The share of requests traced whose caller did not decide it."},
	{Path: "tracing.headers", Env: "WALBRIDGE_TRACING_HEADERS", Valid: "name=value pairs separated by commas",
		Doc: "Headers sent with the traces, a token for one. Never shown."},

	{Path: "log.level", Default: "info", Valid: "debug, info, warn or error", Reload: true, Doc: "The least that is logged."},
	{Path: "log.format", Default: "text", Valid: "text or json", Doc: "Logs go to standard error."},
}

// key returns the key of a YAML path such as $.zones[2].url.
func key(at string) (Key, bool) {
	path := listIndex.ReplaceAllString(strings.TrimPrefix(at, "$."), "[]")
	for _, k := range Keys {
		if k.Path == path {
			return k, true
		}
	}
	return Key{}, false
}

// defaults is a file with nothing but the defaults.
func defaults() string {
	var b strings.Builder
	section := ""
	for _, k := range Keys {
		if k.Default == "" {
			continue
		}
		name := k.Path
		if s, rest, ok := strings.Cut(k.Path, "."); ok {
			if s != section {
				fmt.Fprintf(&b, "%s:\n", s)
			}
			section, name = s, "  "+rest
		}
		fmt.Fprintf(&b, "%s: %s\n", name, k.Default)
	}
	return b.String()
}
