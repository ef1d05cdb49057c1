//go:build linux || darwin

package compiler

import (
	"os"
	"slices"
	"strconv"
	"syscall"
)

// confine limits this process, before it knows anything of a module: bytes
// that it may write to, and seconds of processor time.
func confine(memory, seconds int64) error {
	limits := map[int]int64{syscall.RLIMIT_CORE: 0}
	if memory > 0 {
		// Not the address space: Go reserves much more than it uses.
		limits[syscall.RLIMIT_DATA] = memory
		limits[syscall.RLIMIT_FSIZE] = memory
	}
	if seconds > 0 {
		limits[syscall.RLIMIT_CPU] = seconds
	}
	for what, n := range limits {
		// Equal limits: the system ends the process at once, and does not ask it.
		if err := syscall.Setrlimit(what, &syscall.Rlimit{Cur: uint64(n), Max: uint64(n)}); err != nil {
			return err
		}
	}
	// Requests go first, and of the two processes this is the one to give up.
	_ = syscall.Setpriority(syscall.PRIO_PGRP, 0, 10)
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0)
	return nil
}

// keepFiles closes the files that this process has now in processes that it
// starts. What Go opens later is not handed on anyway.
func keepFiles() {
	files, _ := os.ReadDir("/dev/fd")
	for _, f := range files {
		if fd, err := strconv.Atoi(f.Name()); err == nil && fd > 2 {
			syscall.CloseOnExec(fd)
		}
	}
}

// apart keeps signals of a terminal away: the gateway decides when it ends. It
// also makes the priority that of all its threads.
func apart() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// killed tells that a signal ended a process which somebody else sent, or the
// system for want of memory or time: a service manager sends SIGTERM to all
// processes of a service that it stops.
func killed(s *os.ProcessState) bool {
	status, ok := s.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && slices.Contains([]syscall.Signal{syscall.SIGKILL, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP}, status.Signal())
}
