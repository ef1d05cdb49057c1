package harness

import "syscall"

// dieWithParent makes a test process that is killed take its servers with it.
func dieWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
