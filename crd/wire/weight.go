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
	// Numbers is how many numbers there may be in lists that are one field each.
	Numbers int
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
	c.message(data, len(data), path{})
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
// The message is at a path.
func (c *counter) message(data []byte, end int, at path) {
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
		past, inner := i+int(size), path{at[1], at[2], int32(tag >> 3)}
		if mayPack(inner) {
			c.packed(data[i:past])
		}
		if past <= end {
			c.message(data[i:end], int(size), inner)
		} else {
			c.Beyond += int(size)
			c.again -= int(size) + 1
			c.message(data[i:past], int(size), inner)
		}
		i = past
	}
}

// path is the number of a field, after those of the two fields that it is within.
type path [3]int32

// mayPack reports whether a field may be a list of numbers: encoders may write a
// list as one field, a byte for each number. The fields of some other types, which
// are texts, have such paths, too.
func mayPack(p path) bool {
	switch p[2] {
	case 2: // exit codes of containers that are started again
		return p == path{25, 2, 2}
	case 3: // exit codes of failed pods, groups of a process
		return p == path{1, 2, 3} || p == path{13, 1, 3}
	case 4: // groups of a pod
		return p[1] == 14
	case 6, 7: // what devices have
		return p[1] == 2 && (p[0] == 1 || p[0] == 2)
	}
	return false
}

// packed counts numbers as decoders do, which make room for all of them at once:
// by their last bytes.
func (c *counter) packed(data []byte) {
	c.left -= len(data)
	for _, b := range data {
		if b < 0x80 {
			c.Numbers++
		}
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
