// Package upload is what an integration needs of the agent: the settings that make a broker upload, how far the WAL has
// got, and whether what it holds is the broker's log.
package upload

import (
	"github.com/walbridge/walbridge/integration/artifact"
)

// Settings are the properties of a broker that uploads the topics, a list of regular expressions, to the daemon that
// listens at target.
func Settings(target, topics string) map[string]string {
	return map[string]string{
		"remote.log.wal.storage.system.enable":      "true",
		"remote.log.wal.storage.manager.class.name": "io.walbridge.shim.GrpcRemoteWalStorageManager",
		"rwsm.config.target":                        target,
		"remote.log.wal.topics":                     topics,
	}
}

// Option is the option of the JVM that gives a broker the agent.
func Option() (string, error) {
	jar, err := artifact.AgentJar()
	return "-javaagent:" + jar, err
}
