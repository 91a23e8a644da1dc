// Package frame is the on-store format: what an object is called, what an extent holds, and how a frame is encoded,
// decoded and found again by scanning an object. docs/format.md is its specification.
//
// An object is a run of frames. A frame is a fixed header, an index, and record batches byte for byte as a broker
// wrote them. Everything about it is relative to its first byte, so a frame that is written twice is the same bytes
// twice; only an [Extent] says where a frame lies.
//
// The package is pure: no I/O, no clock, no goroutines. Its functions are safe for concurrent use, and nothing they
// return is ever changed by them again.
package frame
