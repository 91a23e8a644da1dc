package kafka

import (
	_ "embed"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

//go:embed log4j2.xml
var log4jConfig string

func (b *Broker) log4j() string          { return filepath.Join(b.dir, "log4j2.xml") }
func (b *Broker) propertiesFile() string { return filepath.Join(b.dir, "server.properties") }

func (b *Broker) writeProperties() error {
	all := b.defaults()
	maps.Copy(all, b.cluster.cfg.Properties)
	maps.Copy(all, b.Properties)
	var s strings.Builder
	for _, key := range slices.Sorted(maps.Keys(all)) {
		// A backslash starts an escape in a properties file.
		fmt.Fprintf(&s, "%s=%s\n", key, strings.ReplaceAll(all[key], `\`, `\\`))
	}
	return writeFile(b.propertiesFile(), s.String())
}

// defaults are the least that a combined node needs, plus what makes small clusters quick to start.
func (b *Broker) defaults() map[string]string {
	brokers := b.cluster.Brokers
	controllers := brokers[:min(3, len(brokers))]
	var voters []string
	for _, c := range controllers {
		voters = append(voters, fmt.Sprintf("%d@%s", c.ID, loopback(c.controller)))
	}
	replicas := strconv.Itoa(len(controllers))
	p := map[string]string{
		"process.roles":                            "broker",
		"node.id":                                  strconv.Itoa(b.ID),
		"listeners":                                b.cluster.cfg.Protocol + "://" + b.Address(),
		"advertised.listeners":                     b.cluster.cfg.Protocol + "://" + b.Address(),
		"controller.listener.names":                "CONTROLLER",
		"inter.broker.listener.name":               b.cluster.cfg.Protocol,
		"listener.security.protocol.map":           fmt.Sprintf("%[1]s:%[1]s,CONTROLLER:PLAINTEXT", b.cluster.cfg.Protocol),
		"controller.quorum.voters":                 strings.Join(voters, ","),
		"log.dirs":                                 strings.Join(b.LogDirs, ","),
		"auto.create.topics.enable":                "false",
		"offsets.topic.num.partitions":             "2",
		"offsets.topic.replication.factor":         replicas,
		"transaction.state.log.num.partitions":     "4",
		"transaction.state.log.replication.factor": replicas,
		"transaction.state.log.min.isr":            "1",
		"group.initial.rebalance.delay.ms":         "0",
	}
	if slices.Contains(controllers, b) {
		p["process.roles"] = "broker,controller"
		p["listeners"] += ",CONTROLLER://" + loopback(b.controller)
		p["advertised.listeners"] += ",CONTROLLER://" + loopback(b.controller)
	}
	return p
}
