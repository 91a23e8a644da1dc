package main

import "context"

// scenario is one end-to-end test. It gets its place, its cases and its figures from r and returns an error where it
// could not go on; a case that fails is r.try's to record.
type scenario struct {
	name, about string
	run         func(ctx context.Context, r *run) error
}

// scenarios are all there are, each in a file of its name.
var scenarios = []scenario{
	{"daemon", "what an operator relies on: configuration, systemd, access, doctor", daemonScenario},
	{"hook-proof", "followers of stock brokers are fed through the WAL", hookProofScenario},
	{"hostile", "what honest copies notice of a hostile local peer", hostileScenario},
	{"upload-events", "elections, restarts, truncation, retention, …: the WAL holds exactly the leader's log",
		uploadEventsScenario},
	{"no-harm", "a broker whose daemon is down, mute, full, wrong or old serves; switches, topics, reporters",
		noHarmScenario},
	{"package", "the packages: reproducible, complete, and their daemon works from another root", packageScenario},
	{"stock-versions", "every supported Kafka, other javaagents, JDK 25, and Kafkas that the agent does not know",
		versionsScenario},
}

func find(name string) (scenario, bool) {
	for _, s := range scenarios {
		if s.name == name {
			return s, true
		}
	}
	return scenario{}, false
}
