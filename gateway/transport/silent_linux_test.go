package transport

import (
	"net"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Who answers is there, however seldom it is asked; who does not is gone after a while.
func TestSilent(t *testing.T) {
	for _, c := range []struct {
		quiet               time.Duration
		probes, retransmits uint8
		gone                bool
	}{
		{0, 0, 0, false}, {2 * time.Minute, 0, 0, false}, {2 * time.Minute, 1, 0, false},
		{silentTime - time.Second, 0, 7, false}, {silentTime, 0, 7, true}, {5 * time.Minute, 3, 0, true},
	} {
		i := &unix.TCPInfo{Last_ack_recv: uint32(c.quiet.Milliseconds()), Probes: c.probes, Retransmits: c.retransmits}
		if got := unanswered(i); got != c.gone {
			t.Errorf("%+v: gone %t", c, got)
		}
	}
}

// A client that is there and does not read is not silent, and the system tells about it.
func TestSilent_IsNotWhoDoesNotRead(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	there, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer there.Close()
	piece := make([]byte, 1<<20)
	for err == nil { // until the socket is full
		_ = c.SetWriteDeadline(time.Now().Add(200 * time.Millisecond))
		_, err = c.Write(piece)
	}
	if silent(c) {
		t.Error("it is told to be gone")
	}
}
