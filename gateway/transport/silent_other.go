//go:build !linux

package transport

import "net"

// silent is known on Linux only; elsewhere the system gives up at some time.
func silent(net.Conn) bool { return false }

// departed is known on Linux only, too.
func departed(net.Conn) bool { return false }
