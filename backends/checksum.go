package backends

import "hash/crc32"

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Checksum returns the CRC-32C (Castagnoli) of p: the checksum of Writer.Append, of stored frames, and of every chunk
// on the wire. It uses the processor's instruction where there is one.
func Checksum(p []byte) uint32 { return crc32.Checksum(p, castagnoli) }

// UpdateChecksum returns the checksum of some bytes followed by p, where crc is the checksum of those bytes.
func UpdateChecksum(crc uint32, p []byte) uint32 { return crc32.Update(crc, castagnoli, p) }
