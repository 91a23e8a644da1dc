package config

import (
	"fmt"
	"net"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
)

// check finds the first thing that is wrong and says where in the file it stands.
type check struct {
	path string
	file *ast.File
	zone func(zoneURL string) error
	err  error
}

var (
	clusterIDs = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
	zoneNames  = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9.-]{0,62}$`)
	listIndex  = regexp.MustCompile(`\[\d+\]`)
	headers    = regexp.MustCompile(`^([A-Za-z0-9-]+=[^,]*(,|$))*$`)
)

func (ck *check) config(c *Config) {
	ck.that(clusterIDs.MatchString(c.ClusterID), "$.cluster_id", c.ClusterID)
	ck.that(c.BrokerID >= 0, "$.broker_id", c.BrokerID)
	ck.zones(c)
	ck.that(c.Quorum > len(c.Zones)/2 && c.Quorum <= len(c.Zones), "$.quorum", c.Quorum)
	ck.listeners(c)
	ck.limits(c)
	ck.combine(c)
	ck.lifetimes(c)
	ck.that(c.Timeouts.Zone >= Duration(time.Millisecond), "$.timeouts.zone", c.Timeouts.Zone)
	ck.that(c.Timeouts.Read >= Duration(time.Millisecond), "$.timeouts.read", c.Timeouts.Read)
	ck.that(c.Timeouts.Copy > c.Timeouts.Zone, "$.timeouts.copy", c.Timeouts.Copy,
		fmt.Sprintf("more than timeouts.zone, %v, so that a failed append can be tried again", c.Timeouts.Zone))
	ck.tracing(c.Tracing)
	ck.that(slices.Contains([]string{"debug", "info", "warn", "error"}, c.Log.Level), "$.log.level", c.Log.Level)
	ck.that(slices.Contains([]string{"text", "json"}, c.Log.Format), "$.log.format", c.Log.Format)
}

func (ck *check) zones(c *Config) {
	ck.that(len(c.Zones) > 0, "$.zones", "")
	names := map[string]bool{}
	var buckets []string
	for i, z := range c.Zones {
		at := fmt.Sprintf("$.zones[%d]", i)
		ck.that(zoneNames.MatchString(z.Name), at+".name", z.Name)
		ck.that(!names[capitals(z.Name)], at+".name", z.Name, "a name that no other zone has, also not in other letters")
		u, err := url.Parse(z.URL)
		shown := Redact(z.URL)
		ck.that(err == nil && u.Scheme != "", at+".url", shown)
		if err == nil {
			b := bucket(u)
			ck.that(!slices.ContainsFunc(buckets, func(other string) bool { return overlap(b, other) }), at+".url", shown,
				"a bucket that no other zone uses: two copies in one are one copy")
			buckets = append(buckets, b)
			if err := ck.zone(z.URL); err != nil {
				ck.that(false, at+".url", shown, fmt.Sprintf("a URL that its store takes: %v", Hide(err, z.URL)))
			}
		}
		names[capitals(z.Name)] = true
	}
	local := func(z Zone) bool { return z.Name == c.LocalZone }
	ck.that(len(c.Zones) == 0 || slices.ContainsFunc(c.Zones, local), "$.local_zone", c.LocalZone)
}

// bucket is what is lost at once, of a zone's URL: a folder with all that is in it, or a bucket whatever the prefix.
func bucket(u *url.URL) string {
	if u.Scheme == "file" {
		return path.Clean(u.Path)
	}
	return u.Scheme + "://" + u.Host + "?" + u.Query().Get("endpoint")
}

// overlap tells whether a and b are the same bucket, or one folder is in the other.
func overlap(a, b string) bool {
	return a == b || strings.HasPrefix(a, strings.TrimRight(b, "/")+"/") || strings.HasPrefix(b, strings.TrimRight(a, "/")+"/")
}

func (ck *check) listeners(c *Config) {
	u, err := url.Parse(c.Listen)
	switch {
	case unixSocket(c.Listen):
		ck.that(!c.TLS.Enabled(), "$.tls.certificate", c.TLS.Certificate, "left out: a unix socket knows its peers")
	case err == nil && u.Scheme == "tcp":
		ck.that(port(u.Host), "$.listen", c.Listen)
		ck.that(c.TLS.Enabled() || loopback(u.Host), "$.listen", c.Listen,
			"a loopback address such as tcp://127.0.0.1:9476, or have tls.certificate, tls.key and tls.client_ca beside it")
	default:
		ck.that(false, "$.listen", c.Listen)
	}
	if c.TLS.Enabled() {
		const all = "a PEM file: certificate, key and client_ca go together"
		ck.that(c.TLS.Certificate != "", "$.tls.certificate", "", all)
		ck.that(c.TLS.Key != "", "$.tls.key", "", all)
		ck.that(c.TLS.ClientCA != "", "$.tls.client_ca", "", all)
	}
	ck.that(c.Socket.Mode&^0o770 == 0 && c.Socket.Mode&0o600 == 0o600, "$.socket.mode", c.Socket.Mode)
	ck.that(c.MetricsListen == "" || loopback(c.MetricsListen), "$.metrics_listen", c.MetricsListen)
	ck.that(c.AdminListen == "" || unixSocket(c.AdminListen), "$.admin_listen", c.AdminListen)
	ck.that(c.AdminListen == "" || c.AdminListen != c.Listen, "$.admin_listen", c.AdminListen, "another socket than listen")
}

func (ck *check) limits(c *Config) {
	const most = 1 << 30
	ck.that(c.Limits.CopyBytes >= 64<<10 && c.Limits.CopyBytes <= most, "$.limits.copy_bytes", c.Limits.CopyBytes)
	least := fmt.Sprintf("at least limits.copy_bytes, %v", c.Limits.CopyBytes)
	ck.that(c.Limits.InflightBytes >= c.Limits.CopyBytes, "$.limits.inflight_bytes", c.Limits.InflightBytes, least)
	ck.that(c.Limits.LateBytes >= c.Limits.CopyBytes, "$.limits.late_bytes", c.Limits.LateBytes, least)
	ck.that(c.Limits.Connections >= 2 && c.Limits.Connections <= 1024, "$.limits.connections", c.Limits.Connections)
	ck.that(c.Combine.FrameBytes >= 4<<10 && c.Combine.FrameBytes <= most, "$.combine.frame_bytes", c.Combine.FrameBytes)
}

func (ck *check) combine(c *Config) {
	ck.that(c.Combine.Lanes >= 1 && c.Combine.Lanes <= 256, "$.combine.lanes", c.Combine.Lanes)
	ck.that(c.Combine.Linger <= Duration(time.Second), "$.combine.linger", c.Combine.Linger)
	ck.that(c.Combine.Appends >= 1 && c.Combine.Appends <= 10000, "$.combine.appends", c.Combine.Appends)
	ck.that(c.Combine.ObjectBytes >= c.Combine.FrameBytes, "$.combine.object_bytes", c.Combine.ObjectBytes,
		fmt.Sprintf("at least combine.frame_bytes, %v", c.Combine.FrameBytes))
	ck.that(c.Combine.ObjectAge >= Duration(time.Second), "$.combine.object_age", c.Combine.ObjectAge)
	ck.that(c.Pool.MinDepth >= 1, "$.pool.min_depth", c.Pool.MinDepth)
	ck.that(c.Pool.MaxDepth >= c.Pool.MinDepth && c.Pool.MaxDepth <= 4096, "$.pool.max_depth", c.Pool.MaxDepth,
		fmt.Sprintf("pool.min_depth, %d, to 4096", c.Pool.MinDepth))
	ck.that(c.Pool.LoadConcurrency >= 1 && c.Pool.LoadConcurrency <= 1024, "$.pool.load_concurrency",
		c.Pool.LoadConcurrency)
	ck.that(c.Pool.MaxItemAge >= Duration(time.Second), "$.pool.max_item_age", c.Pool.MaxItemAge)
}

// lifetimes: an object that looks like an orphan must not be one that its writer is about to use. The longest that a
// writer has an object is its time in the pool and then in a lane.
func (ck *check) lifetimes(c *Config) {
	longest := c.Pool.MaxItemAge + c.Combine.ObjectAge
	at, value := "$.lifecycle.grace_window", c.Lifecycle.GraceWindow
	valid := fmt.Sprintf("at least %v, twice pool.max_item_age and combine.object_age together", 2*longest)
	if !ck.has(at) {
		for _, cause := range []struct {
			at    string
			value Duration
		}{{"$.pool.max_item_age", c.Pool.MaxItemAge}, {"$.combine.object_age", c.Combine.ObjectAge}} {
			if ck.has(cause.at) {
				at, value = cause.at, cause.value
				valid = fmt.Sprintf("well below lifecycle.grace_window, %v: twice pool.max_item_age and combine.object_age "+
					"together is %v", c.Lifecycle.GraceWindow, 2*longest)
				break
			}
		}
	}
	ck.that(c.Lifecycle.GraceWindow >= 2*longest, at, value, valid)
	ck.that(c.Lifecycle.Retention >= c.Lifecycle.GraceWindow, "$.lifecycle.retention", c.Lifecycle.Retention,
		fmt.Sprintf("at least lifecycle.grace_window, %v", c.Lifecycle.GraceWindow))
}

func (ck *check) tracing(t Tracing) {
	u, err := url.Parse(t.Endpoint)
	ck.that(t.Endpoint == "" || err == nil && (u.Scheme == "http" || u.Scheme == "https") && port(u.Host) &&
		strings.Trim(u.Path, "/") == "", "$.tracing.endpoint", t.Endpoint)
	ck.that(t.Sample >= 0 && t.Sample <= 1, "$.tracing.sample", t.Sample)
	ck.that(headers.MatchString(t.Headers), "$.tracing.headers", "(secret)")
}

// unixSocket tells whether addr is a socket's path that the kernel takes: at most 107 bytes.
func unixSocket(addr string) bool {
	u, err := url.Parse(addr)
	return err == nil && u.Scheme == "unix" && u.Host == "" && strings.HasPrefix(u.Path, "/") && len(u.Path) < 108
}

func port(addr string) bool {
	_, p, err := net.SplitHostPort(addr)
	return err == nil && p != ""
}

func loopback(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	ip := net.ParseIP(host)
	return err == nil && port(addr) && (host == "localhost" || ip != nil && ip.IsLoopback())
}

// that records, if it is the first, that the value at the YAML path is not what would be valid: valid, or what the key's
// table says.
func (ck *check) that(ok bool, at string, value any, valid ...string) {
	if ok || ck.err != nil {
		return
	}
	must := strings.Join(valid, "")
	if k, found := key(at); must == "" && found {
		must = k.Valid
	}
	name := strings.TrimPrefix(at, "$.")
	if line, col, found := ck.position(at); found {
		ck.err = fmt.Errorf("%s:%d:%d: %s: %q: must be %s", ck.path, line, col, name, fmt.Sprint(value), must)
		return
	}
	line, col := ck.parent(at)
	if v := fmt.Sprint(value); v != "" && v != "-1" {
		ck.err = fmt.Errorf("%s:%d:%d: %s: %q (not in the file): must be %s", ck.path, line, col, name, v, must)
		return
	}
	ck.err = fmt.Errorf("%s:%d:%d: %s is missing: must be %s", ck.path, line, col, name, must)
}

func (ck *check) has(at string) bool {
	_, _, found := ck.position(at)
	return found
}

// parent is where what a missing key belongs to stands.
func (ck *check) parent(at string) (line, col int) {
	for i := strings.LastIndexAny(at, ".["); i > 0; i = strings.LastIndexAny(at, ".[") {
		at = at[:i]
		if line, col, found := ck.position(at); found && at != "$" {
			return line, col
		}
	}
	return 1, 1
}

func (ck *check) position(at string) (line, col int, found bool) {
	p, err := yaml.PathString(at)
	if err != nil {
		return 0, 0, false
	}
	node, err := p.FilterFile(ck.file)
	if err != nil || node == nil || node.GetToken() == nil {
		return 0, 0, false
	}
	pos := node.GetToken().Position
	return pos.Line, pos.Column, true
}
