//go:build !linux

package harness

import "syscall"

// dieWithParent has no equivalent here: servers of a test process that is
// killed stay behind.
func dieWithParent() *syscall.SysProcAttr { return nil }
