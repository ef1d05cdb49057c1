package transport

import (
	"net"
	"strconv"
	"sync"
)

// frames implements [reply.FrameWriter] on a connection: what is collected goes out as
// one chunk. It has memory of its own only between the first frame and the flush.
type frames struct {
	conn net.Conn
	// head is the response head, until it is sent.
	head []byte
	// raw: what is collected goes out as it is.
	raw     bool
	parking *parking
	*collected
	failed error
}

// collected is what a chunk is made of: bytes that were copied, and between them those
// that are shared.
type collected struct {
	text   []byte
	shared []shared
	size   int
}

// shared are bytes that belong before text[at:].
type shared struct {
	at    int
	bytes []byte
}

// keepText is the most memory for copied bytes that is kept for other streams.
const keepText = 16 << 10

var collections = sync.Pool{New: func() any { return new(collected) }}

// gather is where the next bytes are collected.
func (f *frames) gather() *collected {
	if f.collected == nil {
		f.collected = collections.Get().(*collected)
	}
	return f.collected
}

// release gives the memory back.
func (c *collected) release() {
	clear(c.shared)
	c.text, c.shared, c.size = c.text[:0], c.shared[:0], 0
	if cap(c.text) <= keepText {
		collections.Put(c)
	}
}

// Write implements [reply.FrameWriter].
func (f *frames) Write(p []byte) (int, error) {
	if len(p) > 0 {
		c := f.gather()
		c.text = append(c.text, p...)
		c.size += len(p)
	}
	return len(p), nil
}

// Frame implements [reply.FrameWriter].
func (f *frames) Frame(head, body []byte, tail string) {
	c := f.gather()
	c.text = append(c.text, head...)
	c.shared = append(c.shared, shared{len(c.text), body})
	c.text = append(c.text, tail...)
	c.size += len(head) + len(body) + len(tail)
}

// Hold implements [reply.FrameWriter].
func (f *frames) Hold(keep func() bool) { f.parking.hold(keep) }

// Flush implements [reply.FrameWriter].
func (f *frames) Flush() error {
	c := f.collected
	if f.failed != nil && c != nil { // nobody will send it
		f.collected = nil
		c.release()
	}
	if f.failed != nil || c == nil && f.head == nil {
		return f.failed
	}
	f.send(func(out *records) {
		out.add(f.head)
		if c != nil && c.size > 0 { // a chunk of no bytes would end the reply
			c.chunk(out, f.raw)
		}
	})
	f.head, f.collected = nil, nil
	if c != nil {
		c.release()
	}
	return f.failed
}

// send sends what add adds.
func (f *frames) send(add func(*records)) {
	f.parking.ask(true)
	defer f.parking.ask(false)
	out := records{conn: f.conn}
	add(&out)
	f.failed = out.flush()
}

// chunk adds a chunk, or what is in it.
func (c *collected) chunk(out *records, raw bool) {
	var line [18]byte
	if !raw {
		out.add(append(strconv.AppendInt(line[:0], int64(c.size), 16), "\r\n"...))
	}
	done := 0
	for _, s := range c.shared {
		out.add(c.text[done:s.at])
		out.add(s.bytes)
		done = s.at
	}
	out.add(c.text[done:])
	if !raw {
		out.add(crlf)
	}
}

var (
	crlf      = []byte("\r\n")
	lastChunk = []byte("0\r\n\r\n")
)

// end closes the stream in a way that the client can tell from a broken one.
func (f *frames) end() {
	if f.Flush() == nil && !f.raw {
		f.send(func(out *records) { out.add(lastChunk) }) // the connection is closed next
	}
}
