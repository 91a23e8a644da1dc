// Package config reads the daemon's configuration: one strict YAML file, where every mistake is reported with file, line,
// column, key, value and what would be valid. What the keys mean and what their defaults are stands in one table, Keys,
// which the reference is printed from.
package config

// Config is the file, with every default filled in.
type Config struct {
	ClusterID     string    `yaml:"cluster_id"`
	BrokerID      int32     `yaml:"broker_id"`
	Listen        string    `yaml:"listen"`
	MetricsListen string    `yaml:"metrics_listen"`
	AdminListen   string    `yaml:"admin_listen"`
	Zones         []Zone    `yaml:"zones"`
	LocalZone     string    `yaml:"local_zone"`
	Quorum        int       `yaml:"quorum"`
	Socket        Socket    `yaml:"socket"`
	TLS           TLS       `yaml:"tls"`
	Limits        Limits    `yaml:"limits"`
	Combine       Combine   `yaml:"combine"`
	Pool          Pool      `yaml:"pool"`
	Lifecycle     Lifecycle `yaml:"lifecycle"`
	Timeouts      Timeout   `yaml:"timeouts"`
	Tracing       Tracing   `yaml:"tracing"`
	Log           Log       `yaml:"log"`
}

// Zone is one bucket that takes part in the quorum.
type Zone struct {
	Name string `yaml:"name"`
	URL  string `yaml:"url"`
}

// Socket says who may use a unix socket.
type Socket struct {
	Mode        Mode     `yaml:"mode"`
	Group       string   `yaml:"group"`
	AllowUsers  []string `yaml:"allow_users"`
	AllowGroups []string `yaml:"allow_groups"`
}

// TLS are the files that a TCP listener and its clients are known by.
type TLS struct {
	Certificate string `yaml:"certificate"`
	Key         string `yaml:"key"`
	ClientCA    string `yaml:"client_ca"`
}

// Enabled tells whether the listener speaks TLS.
func (t TLS) Enabled() bool { return t != TLS{} }

// Limits bound what the daemon holds in memory.
type Limits struct {
	InflightBytes Bytes `yaml:"inflight_bytes"`
	CopyBytes     Bytes `yaml:"copy_bytes"`
	CacheBytes    Bytes `yaml:"cache_bytes"`
	LateBytes     Bytes `yaml:"late_bytes"`
	Connections   int   `yaml:"connections"`
}

// Combine says how copies become frames, and frames objects.
type Combine struct {
	Lanes       int      `yaml:"lanes"`
	Linger      Duration `yaml:"linger"`
	FrameBytes  Bytes    `yaml:"frame_bytes"`
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

// Lifecycle says how long objects live.
type Lifecycle struct {
	GraceWindow Duration `yaml:"grace_window"`
	Retention   Duration `yaml:"retention"`
}

// Timeout bounds what the daemon waits for.
type Timeout struct {
	Zone  Duration `yaml:"zone"`
	Read  Duration `yaml:"read"`
	Copy  Duration `yaml:"copy"`
	Drain Duration `yaml:"drain"`
}

// Tracing says where traces go.
type Tracing struct {
	Endpoint string  `yaml:"endpoint"`
	Sample   float64 `yaml:"sample"`
	Headers  string  `yaml:"headers"`
}

// Log says what is logged, and how.
type Log struct {
	Level  string `yaml:"level"`
	Format string `yaml:"format"`
}
