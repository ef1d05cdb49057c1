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
	// Write sends exactly Length bytes.
	Write  func(w io.Writer) error
	Length int
	// Reader is a reply of no known length, to its end. An error breaks it off.
	Reader io.Reader
	// Stream sends a chunked reply of no known length until ctx ends (the
	// client left, or the server stops) or it returns.
	Stream func(ctx context.Context, w FrameWriter)
}

// Header is one header field.
type Header struct{ Name, Value string }

// FrameWriter sends a stream in pieces. Write only collects; Flush sends what
// was collected as one chunk, and fails when the client does not take it in
// time or is gone.
type FrameWriter interface {
	io.Writer
	Flush() error
}
