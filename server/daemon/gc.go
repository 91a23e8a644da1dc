package daemon

import (
	"os"
	"runtime/debug"
)

// TuneGC has the garbage collector wait until the heap is five times what is alive, rather than twice: the daemon keeps
// little and passes much on, and every collection shows in the copies' p99. An operator's GOGC or GOMEMLIMIT goes first.
func TuneGC() {
	if os.Getenv("GOGC") == "" && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetGCPercent(400)
	}
}
