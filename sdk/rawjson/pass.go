package rawjson

import "math/bits"

// Inside a module calls are expensive, and so is every value that does not fit
// into a handful of registers. So the functions here are small loops: the bytes
// of strings are passed 8 in one machine word, all others are looked up in a
// table; see RATIONALE.md, "Why does the SDK scan JSON by a table?".

// Pass returns the position just after the value that starts at i, in text
// that is known to be JSON. In text that is not, the position is anywhere
// after i, but never beyond the end.
func Pass(data []byte, i int) int {
	if end := passShort(data, i); end > 0 {
		return end
	}
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
	for i++; i < len(data) && !endsScalar[data[i]]; { // at least one byte, even of what is no value
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

// firstQuote has its lowest bit where equal(word, quotes) has it; higher ones
// mean nothing.
func firstQuote(word uint64) uint64 {
	x := word ^ '"'*ones
	return (x - ones) &^ x & highs
}

// passShort is Pass for a string that ends at the first quote; 0 for any other
// value. It calls nothing; see passSimple.
func passShort(data []byte, i int) int {
	if i >= len(data) || data[i] != '"' {
		return 0
	}
	for i++; i+8 <= len(data); i += 8 {
		if q := firstQuote(load(data, i)); q != 0 {
			i += bits.TrailingZeros64(q)/8 + 1
			if data[i-2] == '\\' {
				return 0
			}
			return i
		}
	}
	return 0
}

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
	for ; i+8 <= len(data); i += 8 {
		if q := firstQuote(load(data, i)); q != 0 {
			return i + bits.TrailingZeros64(q)/8
		}
	}
	for i < len(data) && data[i] != '"' {
		i++
	}
	return i
}

// What a byte outside of strings is to passContainer.
const (
	quote uint8 = iota + 1
	opener
	closer
)

var roles = [256]uint8{'"': quote, '{': opener, '[': opener, '}': closer, ']': closer}

// passContainer counts brackets outside of strings; which kind they are does
// not matter in valid JSON.
func passContainer(data []byte, i int) int {
	depth := 0
	for i < len(data) {
		if i, depth = passSimple(data, i, depth); depth <= 0 {
			return i
		}
		if i < len(data) {
			i = passString(data, i)
		}
	}
	return i
}

// passSimple goes on until the container ends, where depth is 0 then, or to a
// place in a string, for whose end passString has to look from there. It calls
// nothing, which makes it twice as fast in a module.
func passSimple(data []byte, i, depth int) (int, int) {
	for i < len(data) {
		role := roles[data[i]]
		i++
		if role == 0 {
			continue
		}
		if role == quote {
			for {
				if i+8 > len(data) {
					return i - 1, depth
				}
				if q := firstQuote(load(data, i)); q != 0 {
					i += bits.TrailingZeros64(q)/8 + 1
					break
				}
				i += 8
			}
			if data[i-2] == '\\' {
				return i - 2, depth
			}
			continue
		}
		if role == opener {
			depth++
			continue
		}
		if depth--; depth <= 0 {
			return i, depth
		}
	}
	return len(data), depth
}
