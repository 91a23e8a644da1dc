package main

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// cpuTime is the CPU time that the process and its threads have used, by the kernel's clock for that process, which
// is finer than the ticks of /proc.
func cpuTime(pid int) (time.Duration, error) {
	const processClock = 2 // clock_getcpuclockid(3)
	var t unix.Timespec
	if err := unix.ClockGettime(int32(^pid<<3|processClock), &t); err != nil {
		return 0, fmt.Errorf("CPU time of process %d: %w", pid, err)
	}
	return time.Duration(t.Nano()), nil
}
