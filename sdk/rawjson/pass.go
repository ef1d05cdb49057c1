package rawjson

import "math/bits"

// Inside a module every taken branch is expensive, since the Go compiler makes
// a jump through a table of it. So the functions here look at 8 bytes in one
// machine word, and at 64 bytes between two branches, instead of going byte by
// byte; see RATIONALE.md, "Why does the SDK scan JSON in 64-byte blocks?".

// Pass returns the position just after the value that starts at i, in text
// that is known to be JSON. In text that is not, the position is anywhere
// after i, but never beyond the end.
func Pass(data []byte, i int) int {
	i = Space(data, i)
	if i >= len(data) {
		return i
	}
	switch data[i] {
	case '"':
		return passString(data, i)
	case '{', '[':
		return passContainer(data, i)
	}
	for i < len(data) && !endsScalar[data[i]] {
		i++
	}
	return i
}

var endsScalar = [256]bool{
	' ': true, '\n': true, '\t': true, '\r': true, ',': true, ':': true,
	'{': true, '[': true, '}': true, ']': true, '"': true,
}

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// equal sets the high bit of every byte of word that equals the byte that is
// repeated in pattern.
func equal(word, pattern uint64) uint64 {
	x := word ^ pattern
	return ^((x&^highs + ^uint64(highs)) | x | ^uint64(highs))
}

// pack gathers the high bits of the bytes into the low byte.
func pack(flags uint64) uint64 { return (flags >> 7) * 0x0102040810204080 >> 56 }

// passString looks for quotes only: a quote ends the string unless an odd
// number of backslashes stands before it.
func passString(data []byte, i int) int {
	i++
	for {
		if i = nextQuote(data, i); i >= len(data) {
			return len(data)
		}
		b := i // it is no backslash that the string starts with
		for data[b-1] == '\\' {
			b--
		}
		if (i-b)%2 == 0 {
			return i + 1
		}
		i++
	}
}

func nextQuote(data []byte, i int) int {
	for i+8 <= len(data) {
		if q := equal(load(data, i), '"'*ones); q != 0 {
			return i + bits.TrailingZeros64(q)/8
		}
		i += 8
		for i+32 <= len(data) && equal(load(data, i), '"'*ones)|equal(load(data, i+8), '"'*ones)|
			equal(load(data, i+16), '"'*ones)|equal(load(data, i+24), '"'*ones) == 0 {
			i += 32
		}
	}
	for i < len(data) && data[i] != '"' {
		i++
	}
	return i
}

// block is where the interesting bytes of 64 are, one bit each.
type block struct{ quotes, backslashes, opens, closes uint64 }

func (b *block) add(word uint64, shift int) {
	b.quotes |= pack(equal(word, '"'*ones)) << shift
	b.backslashes |= pack(equal(word, '\\'*ones)) << shift
	// '[' and '{' differ in one bit, and so do ']' and '}'.
	folded := word | 0x20*ones
	b.opens |= pack(equal(folded, '{'*ones)) << shift
	b.closes |= pack(equal(folded, '}'*ones)) << shift
}

func readBlock(data []byte, i int) (b block) {
	b.add(load(data, i), 0)
	b.add(load(data, i+8), 8)
	b.add(load(data, i+16), 16)
	b.add(load(data, i+24), 24)
	b.add(load(data, i+32), 32)
	b.add(load(data, i+40), 40)
	b.add(load(data, i+48), 48)
	b.add(load(data, i+56), 56)
	return b
}

// inside spreads quotes over the bytes that they enclose: bit n is set when an
// odd number of quotes stands at or before n.
func inside(quotes uint64) uint64 {
	quotes ^= quotes << 1
	quotes ^= quotes << 2
	quotes ^= quotes << 4
	quotes ^= quotes << 8
	quotes ^= quotes << 16
	return quotes ^ quotes<<32
}

// passContainer counts brackets outside of strings; which kind they are does
// not matter in valid JSON.
func passContainer(data []byte, i int) int {
	depth := 0
	quoted := uint64(0) // all bits set while in a string
	for i+64 <= len(data) {
		b := readBlock(data, i)
		if b.backslashes != 0 {
			// Rare enough to go byte by byte, up to the end of a string.
			var done bool
			if i, depth, done = passBytes(data, i, i+64, depth, quoted != 0); done {
				return i
			}
			quoted = 0
			continue
		}
		in := inside(b.quotes) ^ quoted
		opens, closes := b.opens&^in, b.closes&^in
		if n := bits.OnesCount64(closes); n >= depth {
			for c := closes; c != 0; c &= c - 1 {
				before := c&-c - 1
				if depth+bits.OnesCount64(opens&before)-bits.OnesCount64(closes&before) == 1 {
					return i + bits.TrailingZeros64(c) + 1
				}
			}
		}
		depth += bits.OnesCount64(opens) - bits.OnesCount64(closes)
		quoted = uint64(int64(in) >> 63)
		i += 64
	}
	i, _, _ = passBytes(data, i, len(data), depth, quoted != 0)
	return i
}

// passBytes is passContainer byte by byte. It stops at or after stop, never in
// a string, or says that it is done.
func passBytes(data []byte, i, stop, depth int, quoted bool) (next, newDepth int, done bool) {
	if quoted {
		i = passString(data, i-1)
	}
	for i < stop {
		switch data[i] {
		case '"':
			i = passString(data, i)
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth <= 0 {
				return i + 1, depth, true
			}
		}
		i++
	}
	return i, depth, false
}
