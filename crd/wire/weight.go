package wire

import (
	"bytes"

	"google.golang.org/protobuf/encoding/protowire"
)

// Counts is about what decoders of Kubernetes' types make of a message, from
// above: what may be a message counts as one.
type Counts struct {
	// Messages and Fields are how many messages there are, and other fields.
	Messages, Fields int
	// Beyond is how many bytes are decoded once more: decoders let a key or value
	// of a map reach beyond its entry, into what follows.
	Beyond int
	// Deep: messages are nested so deeply that they were not all counted.
	Deep bool
	// Endless: so much reaches beyond its entry, and again within that, that
	// decoding may take for ever. No encoder writes such a message.
	Endless bool
}

// Count counts what data holds, up to the mistake that ends decoding. It looks at
// no more than a multiple of data. An envelope counts as what it holds.
func Count(data []byte) Counts {
	if bytes.HasPrefix(data, []byte(Magic)) {
		data = data[len(Magic):]
	}
	c := counter{left: mostLooks * len(data), again: fewBeyond + mostBeyond*len(data)}
	c.message(data, len(data))
	c.Deep, c.Endless = c.left < 0, c.again < 0
	return c.Counts
}

const (
	// mostLooks is how often each byte may be looked at: nested messages are
	// seen once on each level. A definition that embeds a pod's template has
	// about thirty levels.
	mostLooks = 64
	// mostBeyond is how often each byte may be looked at beyond what holds it. A
	// few such bytes are in texts that look like entries.
	mostBeyond, fewBeyond = 16, 4 << 10
)

// counter counts with bounds on what it looks at, which are left, and left of
// what is looked at again.
type counter struct {
	Counts
	left, again int
}

// message counts the fields that begin in the first end bytes of data if these
// are a message. As an entry of a map it may have one that ends later in data.
// It reads as the generated decoders do: protowire refuses some of what they take.
func (c *counter) message(data []byte, end int) {
	c.left -= end
	for i := 0; i < end && c.left >= 0 && c.again >= 0; {
		tag, n := uvarint(data[i:])
		if n == 0 || int32(tag>>3) <= 0 { // decoders truncate it
			return
		}
		i += n
		c.Fields++
		kind := protowire.Type(tag & 7)
		if kind != protowire.BytesType {
			if n = skip(kind, data[i:]); n < 0 {
				return
			}
			i += n
			continue
		}
		size, n := uvarint(data[i:])
		if i += n; n == 0 || size > uint64(len(data)-i) {
			return
		}
		c.Messages++
		past := i + int(size)
		if past <= end {
			c.message(data[i:end], int(size))
		} else {
			c.Beyond += int(size)
			c.again -= int(size) + 1
			c.message(data[i:past], int(size))
		}
		i = past
	}
}

// skip is how long a value is that is no bytes, or negative for what ends decoding.
// A group is skipped with all that is in it.
func skip(kind protowire.Type, data []byte) int {
	for i, depth := 0, 0; ; {
		switch kind {
		case protowire.VarintType:
			_, n := uvarint(data[i:])
			if n == 0 {
				return -1
			}
			i += n
		case protowire.Fixed64Type:
			i += 8
		case protowire.Fixed32Type:
			i += 4
		case protowire.BytesType:
			size, n := uvarint(data[i:])
			if i += n; n == 0 || size > uint64(len(data)-i) {
				return -1
			}
			i += int(size)
		case protowire.StartGroupType:
			depth++
		case protowire.EndGroupType:
			depth--
		default:
			return -1
		}
		if depth < 0 || i > len(data) {
			return -1
		}
		if depth == 0 {
			return i
		}
		tag, n := uvarint(data[i:])
		if n == 0 {
			return -1
		}
		i, kind = i+n, protowire.Type(tag&7)
	}
}

// uvarint reads an integer of at most ten bytes, whose bits above the 64th are
// dropped, and returns how long it is: 0 when there is none.
func uvarint(data []byte) (v uint64, n int) {
	for n < min(len(data), 10) {
		b := data[n]
		v |= uint64(b&0x7f) << (7 * n)
		if n++; b < 0x80 {
			return v, n
		}
	}
	return 0, 0
}
