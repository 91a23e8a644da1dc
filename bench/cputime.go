package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
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

// compilerTime is the part of it that a JVM's compilers have used.
func compilerTime(pid int) (time.Duration, error) {
	tasks := fmt.Sprintf("/proc/%d/task", pid)
	threads, err := os.ReadDir(tasks)
	if err != nil {
		return 0, err
	}
	var total time.Duration
	for _, thread := range threads {
		name, err := os.ReadFile(filepath.Join(tasks, thread.Name(), "comm"))
		if err != nil || !strings.Contains(string(name), " Compiler") {
			continue // Threads come and go.
		}
		stat, err := os.ReadFile(filepath.Join(tasks, thread.Name(), "schedstat"))
		if err != nil {
			return 0, err
		}
		var onCPU time.Duration
		if _, err := fmt.Sscan(string(stat), &onCPU); err != nil {
			return 0, fmt.Errorf("%s/%s/schedstat: %w", tasks, thread.Name(), err)
		}
		total += onCPU
	}
	return total, nil
}
