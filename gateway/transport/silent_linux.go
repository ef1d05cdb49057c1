package transport

import (
	"net"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// silentTime and silentProbes are how long a peer acknowledges nothing, and how
	// many times in a row it was asked to, until it is gone. One that does not read,
	// but is there, is asked each two minutes at last, and answers.
	silentTime   = 30 * time.Second
	silentProbes = 3
)

// silent tells whether the other end of a connection is gone, without a word. The
// system itself would wait for a quarter of an hour, and its own limit
// (TCP_USER_TIMEOUT) would end those that are there and do not read.
func silent(conn net.Conn) bool { return known(conn, unanswered) }

// departed tells whether the other end of a connection sends nothing any more, though
// not all that it sent was read: it closed the connection, reset it, or is silent.
func departed(conn net.Conn) bool {
	return known(conn, func(i *unix.TCPInfo) bool { return i.State != unix.BPF_TCP_ESTABLISHED || unanswered(i) })
}

// known tells whether something is so by what the system knows of a connection.
func known(conn net.Conn, is func(*unix.TCPInfo) bool) bool {
	c, ok := conn.(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return false
	}
	so := false
	err = raw.Control(func(fd uintptr) {
		info, err := unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO)
		so = err == nil && is(info)
	})
	return err == nil && so
}

// unanswered tells of a peer that was asked in vain.
func unanswered(i *unix.TCPInfo) bool {
	return time.Duration(i.Last_ack_recv)*time.Millisecond >= silentTime && i.Probes+i.Retransmits >= silentProbes
}
