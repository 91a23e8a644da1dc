// Package versions runs a real stock broker of every supported Kafka with the agent, on the JDKs that are there, with
// other javaagents in the same command line, Kafkas that the agent does not know, and an agent that is broken.
package versions
