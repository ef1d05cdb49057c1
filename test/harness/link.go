package harness

import (
	"net"
	"strings"
	"sync"
	"testing"
)

// Link is a line of TCP between a client and a server, which a test may cut or
// hold. Its methods may be called at any time.
type Link struct {
	// URL is where clients find the server through the link.
	URL string

	target   string
	listener net.Listener

	mu   sync.Mutex
	cut  bool
	flow chan struct{} // closed while bytes may pass
	open map[net.Conn]bool
}

// NewLink makes a link to the server at a URL of the loopback interface. It ends
// with the test.
func NewLink(t testing.TB, url string) *Link {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, target, _ := strings.Cut(url, "://")
	l := &Link{URL: "http://" + listener.Addr().String(), target: target, listener: listener, flow: make(chan struct{}), open: map[net.Conn]bool{}}
	close(l.flow)
	var running sync.WaitGroup
	running.Go(func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			running.Go(func() { l.carry(c) })
		}
	})
	t.Cleanup(func() {
		listener.Close()
		l.Cut()
		running.Wait()
	})
	return l
}

// Cut ends every connection, and each new one at once, until Mend.
func (l *Link) Cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cut = true
	l.release()
	for c := range l.open {
		c.Close()
	}
}

// Hold keeps connections open and lets no byte pass until Mend or Cut: neither
// side is told that the other cannot be reached.
func (l *Link) Hold() {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case <-l.flow:
		l.flow = make(chan struct{})
	default:
	}
}

// Mend lets everything pass again, also what was held.
func (l *Link) Mend() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cut = false
	l.release()
}

// release is called with the lock held.
func (l *Link) release() {
	select {
	case <-l.flow:
	default:
		close(l.flow)
	}
}

// carry serves one connection of a client.
func (l *Link) carry(client net.Conn) {
	defer client.Close()
	server, err := net.Dial("tcp", l.target)
	if err != nil {
		return
	}
	defer server.Close()
	if !l.add(client, server) {
		return
	}
	defer l.drop(client, server)
	var both sync.WaitGroup
	both.Go(func() { l.pass(server, client) })
	both.Go(func() { l.pass(client, server) })
	both.Wait()
}

func (l *Link) add(ends ...net.Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cut {
		return false
	}
	for _, c := range ends {
		l.open[c] = true
	}
	return true
}

func (l *Link) drop(ends ...net.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range ends {
		delete(l.open, c)
	}
}

// pass copies what one end sends, and closes both when it ends.
func (l *Link) pass(to, from net.Conn) {
	defer to.Close()
	defer from.Close()
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		l.mu.Lock()
		flow := l.flow
		l.mu.Unlock()
		<-flow
		if n > 0 {
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}
