// Package integration holds the tests that run the built product: the daemon on a socket, and the demo with its stock
// Kafka broker.
package integration
