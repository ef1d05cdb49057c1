package form

import (
	"encoding/binary"
	"errors"
	"io"
)

// errSocket ends the stream of a client that breaks the protocol.
var errSocket = errors.New("what the client sends is no frame of a WebSocket")

// socketReader takes what a client of a WebSocket sends, in pieces of any size: its
// messages are dropped, its pings answered, and its end ends the stream. It keeps a few
// bytes, however much is sent.
type socketReader struct {
	pong func(ping []byte) error
	// head is that of a frame, as far as it has come.
	head []byte
	// left are the bytes of the frame that are to come, ping those of a ping that came.
	left uint64
	ping []byte
}

// Write implements [io.Writer]. An error is the end of the stream.
func (r *socketReader) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		if !r.headed() {
			r.head, rest = append(r.head, rest[0]), rest[1:]
			if r.headed() {
				if err := r.begin(); err != nil {
					return len(p) - len(rest), err
				}
			}
			continue
		}
		n := min(uint64(len(rest)), r.left)
		if r.opcode() == opPing {
			r.ping = append(r.ping, rest[:n]...)
		}
		rest = rest[n:]
		if r.left -= n; r.left == 0 {
			if err := r.finish(); err != nil {
				return len(p) - len(rest), err
			}
		}
	}
	return len(p), nil
}

func (r *socketReader) opcode() byte { return r.head[0] & 0x0f }

// lengths are how many bytes of the head are about the size, by what its second says.
func (r *socketReader) lengths() int {
	switch r.head[1] &^ masked {
	case 126:
		return 2
	case 127:
		return 8
	}
	return 0
}

// headed tells whether the head of a frame is whole: four bytes that mask the rest end it.
func (r *socketReader) headed() bool {
	return len(r.head) >= 2 && len(r.head) == 2+r.lengths()+4
}

// begin looks at a head.
func (r *socketReader) begin() error {
	size := r.head[2 : len(r.head)-4]
	switch len(size) {
	case 0:
		r.left = uint64(r.head[1] &^ masked)
	case 2:
		r.left = uint64(binary.BigEndian.Uint16(size))
	default:
		r.left = binary.BigEndian.Uint64(size)
	}
	control := r.opcode() >= opClose
	switch {
	case r.head[1]&masked == 0, control && (r.left > mostControl || r.head[0]&final == 0):
		return errSocket
	case r.opcode() == opClose:
		return io.EOF
	}
	if r.left == 0 {
		return r.finish()
	}
	return nil
}

// finish ends a frame.
func (r *socketReader) finish() (err error) {
	if r.opcode() == opPing {
		for i := range r.ping {
			r.ping[i] ^= r.head[len(r.head)-4+i%4]
		}
		err = r.pong(r.ping)
		r.ping = nil
	}
	r.head = r.head[:0]
	return err
}
