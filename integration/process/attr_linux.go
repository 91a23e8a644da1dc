package process

import "syscall"

// attr puts the child into its own group, so that a Ctrl-C on the terminal reaches only us and we stop things in order,
// and has the kernel kill it when we die.
func attr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
