package transport

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"syscall"
	"time"

	"github.com/rs/zerolog"

	"github.com/wasmgate/wasmgate/gateway/bounds"
)

// listener makes a TLS connection of each accepted one.
type listener struct {
	net.Listener
	tls         *tls.Config
	connections *connections
	server      *Server
	log         zerolog.Logger
}

// acceptPause is how long a listener that ran out of something waits.
const acceptPause = 100 * time.Millisecond

// Accept implements [net.Listener]. The handshake comes later, in the
// goroutine that serves the connection. The framework stops serving at the
// first error, so what passes is waited out here.
func (l *listener) Accept() (net.Conn, error) {
	for {
		raw, err := l.Listener.Accept()
		switch {
		case err == nil:
			counted, room := l.count(raw)
			if !room {
				_ = raw.Close() // before it costs more
				continue
			}
			c := &conn{raw: raw, below: below{Conn: raw}, among: l.connections, server: l.server, counted: counted}
			c.Conn = tls.Server(&c.below, l.tls)
			l.connections.add(c)
			return c, nil
		case !passing(err):
			return nil, err
		}
		l.log.Warn().Err(err).Msg("connections cannot be accepted; trying again")
		time.Sleep(acceptPause)
	}
}

// count counts a connection, and reports whether there is room for it.
func (l *listener) count(raw net.Conn) (*bounds.Connection, bool) {
	all := l.server.options.Connections
	if all == nil {
		return nil, true
	}
	c := all.Open(raw.RemoteAddr())
	return c, c != nil
}

// passing tells errors of accept that are over when a connection or a file is
// closed somewhere.
func passing(err error) bool {
	for _, e := range []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM, syscall.ECONNABORTED} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// conn is a client's connection. But for what a [turn] guards it is used by the
// one goroutine that serves it.
type conn struct {
	*tls.Conn
	raw   net.Conn
	below below // is raw, as TLS sees it
	// among are the connections that it is one of; nil in tests of its own.
	among *connections
	// counted is what it is counted as; nil where nobody does.
	counted *bounds.Connection
	// server is told of what is refused here.
	server *Server
	turn   turn
	// unread: the client may still be sending a body that nobody reads.
	unread bool
	// heard: the client has sent something.
	heard bool
	// ended: the client sent all that it will send, and somebody wanted more.
	ended bool
	// body bounds what a body in chunks takes on the connection.
	body allowance
	// said is what the client's headers said last.
	said said
	// unstarted, if not nil, ends a stream that was to begin here.
	unstarted func()
}

// Read implements [net.Conn]. The end of what the client sends comes in a read
// of its own, which only a reader makes that still misses something.
func (c *conn) Read(p []byte) (int, error) {
	n, err, early := c.turn.overheard(p)
	if !early {
		n, err = c.Conn.Read(p)
	}
	c.heard = c.heard || n > 0
	if n > 0 && err == io.EOF {
		return n, nil
	}
	c.ended = err == io.EOF
	if err == nil {
		err = c.body.take(n)
	}
	return n, err
}

// plainReply is what net/http answers to the same mistake.
const plainReply = "HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n"

// Handshake tells a client that speaks plain HTTP what is wrong, which no TLS
// alert could.
func (c *conn) Handshake() error {
	err := c.Conn.Handshake()
	var header tls.RecordHeaderError
	if errors.As(err, &header) && header.Conn != nil && plainHTTP(header.RecordHeader) {
		_ = c.raw.SetWriteDeadline(time.Now().Add(time.Second))
		_, _ = io.WriteString(c.raw, plainReply) // it is a courtesy
		c.server.tell(Refusal{Remote: c.RemoteAddr(), Code: http.StatusBadRequest, Message: "plain HTTP, where TLS has to be"})
	} else if err != nil {
		c.server.refusedTLS(c.RemoteAddr(), err)
	}
	return err
}

// plainHTTP tells whether a connection begins as a request line does.
func plainHTTP(begin [5]byte) bool {
	switch string(begin[:]) {
	case "GET /", "HEAD ", "POST ", "PUT /", "PATCH", "DELET", "OPTIO":
		return true
	}
	return false
}

// discardTime is how long a refused body is still taken in.
const discardTime = 2 * time.Second

// Close implements [net.Conn]. Closing a TCP connection with bytes unread
// resets it, and a client that is busy sending would lose the reply that says
// why; so the rest of a refused body is thrown away for a moment.
func (c *conn) Close() error {
	c.leave()
	defer c.counted.Close() // it is there until then, whatever it sends
	if c.unstarted != nil {
		c.unstarted()
	}
	if !c.unread {
		return c.Conn.Close()
	}
	c.unread = false
	err := c.CloseWrite()
	if half, ok := c.raw.(interface{ CloseWrite() error }); ok && err == nil {
		err = half.CloseWrite()
	}
	if err == nil {
		err = c.raw.SetReadDeadline(time.Now().Add(discardTime))
	}
	if err == nil {
		_, _ = io.Copy(io.Discard, c.raw) // any end of it will do
	}
	return errors.Join(err, c.raw.Close())
}
