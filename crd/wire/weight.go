package wire

import (
	"bytes"

	"google.golang.org/protobuf/encoding/protowire"
)

// Count is about how many messages and how many other fields data holds, from
// above: what may be a message counts as one, and so does what a decoder reads
// before it meets a mistake. It looks at no more than a multiple of data, and
// reports false for what is nested so deeply that it cannot tell. An envelope
// counts as what it holds.
func Count(data []byte) (messages, fields int, ok bool) {
	if bytes.HasPrefix(data, []byte(Magic)) {
		data = data[len(Magic):]
	}
	c := counter{left: mostLooks * len(data)}
	c.message(data)
	return c.messages, c.fields, c.left >= 0
}

const (
	// mostLooks is how often each byte may be looked at: nested messages are
	// seen once on each level, and a deeply nested one is mostly lengths.
	mostLooks = 16
	// textPerMessage is how few bytes of text can be a message: its tags and
	// lengths would be printable, too.
	textPerMessage = 32
)

// counter counts with a bound on what it looks at, which is left.
type counter struct{ messages, fields, left int }

// message counts what data holds if it is a message.
func (c *counter) message(data []byte) {
	c.left -= len(data)
	for len(data) > 0 && c.left >= 0 {
		number, kind, n := protowire.ConsumeTag(data)
		if n < 0 || kind == protowire.StartGroupType {
			return
		}
		data = data[n:]
		if n = protowire.ConsumeFieldValue(number, kind, data); n < 0 {
			return
		}
		c.fields++
		if kind == protowire.BytesType {
			value, _ := protowire.ConsumeBytes(data)
			c.value(value)
		}
		data = data[n:]
	}
}

// value counts what may be a message or not.
func (c *counter) value(data []byte) {
	c.messages++
	if text(data) {
		c.messages += len(data) / textPerMessage
		return
	}
	c.message(data)
}

// text reports whether data holds printable characters and line breaks alone.
func text(data []byte) bool {
	for _, b := range data {
		if b < ' ' && b != '\n' && b != '\t' && b != '\r' {
			return false
		}
	}
	return true
}
