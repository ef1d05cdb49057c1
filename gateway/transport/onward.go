package transport

import (
	"io"
	"net"
	"sync/atomic"
	"time"
)

// onward passes on what the client of a stream sends to whoever takes it. While that one
// takes nothing nobody reads the connection, so that nobody would hear the client leave.
type onward struct {
	to   io.Writer
	from net.Conn
	// patience is how long a write lasts until it is looked at whether the client is
	// still there: what it sent before it left is not lost at once. end ends the stream,
	// and a write that waits with it.
	patience time.Duration
	end      func()
}

// Write implements [io.Writer].
func (o *onward) Write(p []byte) (int, error) {
	var over atomic.Bool
	defer over.Store(true)
	defer time.AfterFunc(o.patience, func() { o.look(&over) }).Stop()
	return o.to.Write(p)
}

// look looks after the client until the write is over.
func (o *onward) look(over *atomic.Bool) {
	switch {
	case over.Load():
	case departed(o.from):
		o.end()
	default:
		time.AfterFunc(min(o.patience, lookFirst), func() { o.look(over) })
	}
}
