// Package versions runs a real stock broker of every supported Kafka with the agent, on the JDKs that are there, with
// other javaagents in the same command line, and Kafkas that the agent does not know.
package versions
