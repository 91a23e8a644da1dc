// Package config reads the daemon's configuration file: strict YAML, where every mistake is reported with file, line,
// column, key, value and what would be valid.
package config

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// Config is the file. The zero value of an optional key means its default, which Load fills in.
type Config struct {
	ClusterID     string  `yaml:"cluster_id"`
	BrokerID      int32   `yaml:"broker_id"`
	Listen        string  `yaml:"listen"`
	MetricsListen string  `yaml:"metrics_listen"`
	Zones         []Zone  `yaml:"zones"`
	LocalZone     string  `yaml:"local_zone"`
	Quorum        int     `yaml:"quorum"`
	Limits        Limits  `yaml:"limits"`
	Combine       Combine `yaml:"combine"`
	Pool          Pool    `yaml:"pool"`
	Timeouts      Timeout `yaml:"timeouts"`
	Log           Log     `yaml:"log"`
}

// Zone is one bucket that takes part in the quorum.
type Zone struct {
	Name string `yaml:"name"`
	URL  string `yaml:"url"`
}

// Limits bound what the daemon holds in memory.
type Limits struct {
	// InflightBytes is the most bytes of copies accepted and not yet answered; beyond it a copy is refused at once.
	InflightBytes Bytes `yaml:"inflight_bytes"`
	// CopyBytes is the longest copy.
	CopyBytes Bytes `yaml:"copy_bytes"`
	// CacheBytes is the memory for frames that were read.
	CacheBytes Bytes `yaml:"cache_bytes"`
	// LateBytes is the most bytes held, for each zone, for copies that the quorum no longer waits for.
	LateBytes Bytes `yaml:"late_bytes"`
}

// Combine says how copies become frames, and frames objects.
type Combine struct {
	Lanes      int       `yaml:"lanes"`
	Linger     *Duration `yaml:"linger"`
	FrameBytes Bytes     `yaml:"frame_bytes"`
	// Appends is how many frames one object takes, where the zones can append.
	Appends     int      `yaml:"appends"`
	ObjectBytes Bytes    `yaml:"object_bytes"`
	ObjectAge   Duration `yaml:"object_age"`
}

// Pool says how many writers are kept ready.
type Pool struct {
	MinDepth        int      `yaml:"min_depth"`
	MaxDepth        int      `yaml:"max_depth"`
	LoadConcurrency int      `yaml:"load_concurrency"`
	MaxItemAge      Duration `yaml:"max_item_age"`
}

// Timeout bounds what the daemon waits for.
type Timeout struct {
	// Zone bounds one create or append in one zone.
	Zone Duration `yaml:"zone"`
	// Read bounds one read from one zone.
	Read Duration `yaml:"read"`
	// Copy bounds a whole copy, whatever deadline the caller set.
	Copy Duration `yaml:"copy"`
	// Drain bounds the time that a stop waits for accepted copies.
	Drain Duration `yaml:"drain"`
}

// Log says what is logged, and how.
type Log struct {
	Level  string `yaml:"level"`
	Format string `yaml:"format"`
}

// Load reads and checks the file. The error names file, line and column.
func Load(path string) (*Config, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("configuration: %w", err)
	}
	return Parse(path, b)
}

// Parse is Load of a file's content.
func Parse(path string, b []byte) (*Config, error) {
	file, err := parser.ParseBytes(b, 0)
	if err != nil {
		return nil, located(path, err)
	}
	var c Config
	if err := yaml.UnmarshalWithOptions(b, &c, yaml.Strict()); err != nil {
		return nil, located(path, err)
	}
	ck := check{path: path, file: file}
	c.defaults(ck.has("$.broker_id"))
	ck.config(&c)
	return &c, ck.err
}

// located puts file, line and column before what the YAML library found, and the lines around it below.
func located(path string, err error) error {
	var at yaml.Error
	if !errors.As(err, &at) || at.GetToken() == nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	pos := at.GetToken().Position
	_, source, _ := strings.Cut(at.FormatError(false, true), "\n")
	return fmt.Errorf("%s:%d:%d: %s\n%s", path, pos.Line, pos.Column, at.GetMessage(), source)
}

// defaults fills in what the file leaves out.
func (c *Config) defaults(hasBroker bool) {
	if !hasBroker {
		c.BrokerID = -1
	}
	def(&c.Listen, "unix:///run/walbridge/walbridge.sock")
	def(&c.Quorum, len(c.Zones)/2+1)
	if len(c.Zones) > 0 {
		def(&c.LocalZone, c.Zones[0].Name)
	}
	def(&c.Limits.InflightBytes, 128<<20)
	def(&c.Limits.CopyBytes, 32<<20)
	def(&c.Limits.CacheBytes, 64<<20)
	def(&c.Limits.LateBytes, 32<<20)
	def(&c.Combine.Lanes, 4)
	if c.Combine.Linger == nil {
		linger := Duration(10 * time.Millisecond)
		c.Combine.Linger = &linger
	}
	def(&c.Combine.FrameBytes, 4<<20)
	def(&c.Combine.Appends, 1)
	def(&c.Combine.ObjectBytes, 64<<20)
	def(&c.Combine.ObjectAge, Duration(time.Minute))
	def(&c.Pool.MinDepth, 4)
	def(&c.Pool.MaxDepth, 256)
	def(&c.Pool.LoadConcurrency, 16)
	def(&c.Pool.MaxItemAge, Duration(2*time.Minute))
	def(&c.Timeouts.Zone, Duration(2*time.Second))
	def(&c.Timeouts.Read, Duration(time.Second))
	def(&c.Timeouts.Copy, Duration(10*time.Second))
	def(&c.Timeouts.Drain, Duration(20*time.Second))
	def(&c.Log.Level, "info")
	def(&c.Log.Format, "text")
}

func def[T comparable](p *T, v T) {
	var zero T
	if *p == zero {
		*p = v
	}
}

// check finds the first thing that is wrong and says where in the file it stands.
type check struct {
	path string
	file *ast.File
	err  error
}

var (
	clusterIDs = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
	zoneNames  = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9.-]{0,62}$`)
)

func (ck *check) config(c *Config) {
	ck.that(clusterIDs.MatchString(c.ClusterID), "$.cluster_id", c.ClusterID,
		"the Kafka cluster's id, as `cluster.id` in the broker's meta.properties (letters, digits, _ and -)")
	ck.that(c.BrokerID >= 0, "$.broker_id", c.BrokerID, "the broker's node.id, 0 or more")
	ck.listen("$.listen", c.Listen)
	ck.that(c.MetricsListen == "" || loopback(c.MetricsListen), "$.metrics_listen", c.MetricsListen,
		"a loopback address such as 127.0.0.1:9477, or nothing for no metrics listener")
	ck.zones(c)
	ck.that(c.Quorum > len(c.Zones)/2 && c.Quorum <= len(c.Zones), "$.quorum", c.Quorum,
		fmt.Sprintf("more than half of the %d zones and at most all, or nothing for a majority", len(c.Zones)))
	ck.limits(c)
	ck.that(c.Combine.Lanes >= 1 && c.Combine.Lanes <= 256, "$.combine.lanes", c.Combine.Lanes, "1 to 256")
	ck.that(*c.Combine.Linger <= Duration(time.Second), "$.combine.linger", c.Combine.Linger, "0s to 1s")
	ck.that(c.Combine.Appends >= 1 && c.Combine.Appends <= 10000, "$.combine.appends", c.Combine.Appends, "1 to 10000")
	ck.that(c.Combine.ObjectBytes >= c.Combine.FrameBytes, "$.combine.object_bytes", c.Combine.ObjectBytes,
		fmt.Sprintf("at least frame_bytes, %v", c.Combine.FrameBytes))
	ck.that(c.Pool.MinDepth >= 1, "$.pool.min_depth", c.Pool.MinDepth, "1 or more")
	ck.that(c.Pool.MaxDepth >= c.Pool.MinDepth && c.Pool.MaxDepth <= 4096, "$.pool.max_depth", c.Pool.MaxDepth,
		fmt.Sprintf("min_depth, %d, to 4096", c.Pool.MinDepth))
	ck.that(c.Pool.LoadConcurrency >= 1 && c.Pool.LoadConcurrency <= 1024, "$.pool.load_concurrency",
		c.Pool.LoadConcurrency, "1 to 1024")
	ck.that(c.Pool.MaxItemAge >= Duration(time.Second), "$.pool.max_item_age", c.Pool.MaxItemAge, "1s or more")
	ck.that(c.Timeouts.Copy > c.Timeouts.Zone, "$.timeouts.copy", c.Timeouts.Copy,
		fmt.Sprintf("more than timeouts.zone, %v, so that a failed append can be tried again", c.Timeouts.Zone))
	ck.that(oneOf(c.Log.Level, "debug", "info", "warn", "error"), "$.log.level", c.Log.Level, "debug, info, warn or error")
	ck.that(oneOf(c.Log.Format, "text", "json"), "$.log.format", c.Log.Format, "text or json")
}

func (ck *check) zones(c *Config) {
	ck.that(len(c.Zones) > 0, "$.zones", "", "a list of at least one zone, each with a name and a url")
	names, urls := map[string]bool{}, map[string]bool{}
	for i, z := range c.Zones {
		at := fmt.Sprintf("$.zones[%d]", i)
		ck.that(zoneNames.MatchString(z.Name), at+".name", z.Name, "letters, digits, dots and hyphens, such as use1-az4")
		ck.that(!names[z.Name], at+".name", z.Name, "a name that no other zone has")
		u, err := url.Parse(z.URL)
		ck.that(err == nil && u.Scheme != "", at+".url", z.URL, "a zone's address, such as file:///srv/walbridge/zone-a")
		if err == nil {
			same := strings.TrimRight(u.Scheme+"://"+u.Host+u.Path, "/")
			ck.that(!urls[same], at+".url", z.URL, "a bucket that no other zone uses: two copies in one are one copy")
			urls[same] = true
		}
		names[z.Name] = true
	}
	ck.that(len(c.Zones) == 0 || names[c.LocalZone], "$.local_zone", c.LocalZone, "the name of one of the zones")
}

func (ck *check) limits(c *Config) {
	const most = 1 << 30
	ck.that(c.Limits.CopyBytes >= 64<<10 && c.Limits.CopyBytes <= most, "$.limits.copy_bytes", c.Limits.CopyBytes,
		"64KiB to 1GiB")
	ck.that(c.Limits.InflightBytes >= c.Limits.CopyBytes, "$.limits.inflight_bytes", c.Limits.InflightBytes,
		fmt.Sprintf("at least limits.copy_bytes, %v", c.Limits.CopyBytes))
	ck.that(c.Limits.LateBytes >= c.Limits.CopyBytes, "$.limits.late_bytes", c.Limits.LateBytes,
		fmt.Sprintf("at least limits.copy_bytes, %v", c.Limits.CopyBytes))
	ck.that(c.Combine.FrameBytes >= 4<<10 && c.Combine.FrameBytes <= most, "$.combine.frame_bytes",
		c.Combine.FrameBytes, "4KiB to 1GiB")
}

func (ck *check) listen(at, addr string) {
	u, err := url.Parse(addr)
	switch {
	case err == nil && u.Scheme == "unix" && strings.HasPrefix(u.Path, "/") && u.Host == "":
		// The kernel's limit for a socket's path, less the closing zero.
		ck.that(len(u.Path) < 108, at, addr, "a socket path of at most 107 bytes")
	case err == nil && u.Scheme == "tcp":
		ck.that(loopback(u.Host), at, addr, "a loopback address, such as tcp://127.0.0.1:9476: the service has no TLS")
	default:
		ck.that(false, at, addr, "unix:///absolute/path or tcp://127.0.0.1:port")
	}
}

func loopback(addr string) bool {
	host, port, err := net.SplitHostPort(addr)
	if err != nil || port == "" {
		return false
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

func oneOf(s string, of ...string) bool {
	for _, o := range of {
		if s == o {
			return true
		}
	}
	return false
}

// that records, if it is the first, that the value at the YAML path is not what would be valid.
func (ck *check) that(ok bool, at string, value any, valid string) {
	if ok || ck.err != nil {
		return
	}
	key := strings.TrimPrefix(at, "$.")
	if line, col, found := ck.position(at); found {
		ck.err = fmt.Errorf("%s:%d:%d: %s: %q: must be %s", ck.path, line, col, key, fmt.Sprint(value), valid)
		return
	}
	ck.err = fmt.Errorf("%s: %s is missing: must be %s", ck.path, key, valid)
	if v := fmt.Sprint(value); v != "" && v != "-1" {
		ck.err = fmt.Errorf("%s: %s: %q (the default): must be %s", ck.path, key, v, valid)
	}
}

func (ck *check) has(at string) bool {
	_, _, found := ck.position(at)
	return found
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
