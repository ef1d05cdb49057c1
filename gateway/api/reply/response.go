package reply

import (
	"context"
	"io"
)

// Response is one reply. At most one of Body, Write, Reader and Stream is used.
type Response struct {
	Code        int
	ContentType string
	// Headers are further header fields; Warning may occur several times.
	Headers []Header
	// Body is shared and must not be changed.
	Body []byte
	// Kept tells that others keep Body anyway, so that it takes no memory of its own.
	Kept bool
	// Write sends exactly Length bytes.
	Write  func(w io.Writer) error
	Length int
	// Reader is a reply of no known length, to its end. An error breaks it off. One that
	// is an [io.Closer] is closed once, before Done.
	Reader io.Reader
	// Stream sends a chunked reply of no known length until ctx ends (the
	// client left, or the server stops) or it returns.
	Stream func(ctx context.Context, w FrameWriter)
	// Broke, if not nil, tells once Stream has returned that it broke off: the client is
	// shown no end.
	Broke func() bool
	// Takes, if not nil, receives what the client sends while Stream lasts, whose
	// connection has another protocol from then on: Code is 101, Headers are the whole
	// head, and what is flushed goes out as it is. Stream, when its ctx ends, has a
	// Write that waits end, too.
	Takes io.Writer
	// Done, if not nil, is called when a reply by Write or Reader was sent, or will
	// not be.
	Done func()
}

// Header is one header field.
type Header struct{ Name, Value string }

// FrameWriter sends a stream in pieces, which are collected until they are flushed.
type FrameWriter interface {
	// Write collects a copy of p.
	io.Writer
	// Frame collects one frame: a copy of head, then body itself, which is shared and
	// must not be changed, then tail.
	Frame(head, body []byte, tail string)
	// Hold has keep asked, now and then while a client takes nothing, whether the
	// stream could go on if the client did; without it such a client is given up after
	// some time. It is called before the first Flush.
	Hold(keep func() bool)
	// Flush sends what was collected as one chunk, and fails when the client is gone
	// or given up.
	Flush() error
}
