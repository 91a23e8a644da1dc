package daemon

import (
	"os"
	"runtime/debug"
)

// ballast is never touched, so that it takes no memory, but the garbage collector counts it as alive.
//
//lint:ignore U1000 It is there to be alive.
var ballast []byte

// TuneGC makes the garbage collector run seldom: the daemon keeps little and passes much on, and every collection shows
// in the copies' p99. It waits until the heap is five times what is alive, rather than twice, and the ballast adds 40 MiB
// where next to nothing is alive. An operator's GOGC or GOMEMLIMIT goes first.
func TuneGC() {
	if os.Getenv("GOGC") == "" && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetGCPercent(400)
		ballast = make([]byte, 8<<20)
	}
}
