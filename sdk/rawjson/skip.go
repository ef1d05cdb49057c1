package rawjson

import (
	"errors"
	"math/bits"
	"strconv"
	"unicode/utf8"
)

// MaxDepth is how deep objects and arrays may be nested; it is the depth that
// encoding/json accepts.
const MaxDepth = 10000

// The ways in which text fails to be JSON.
var (
	ErrEnd    = errors.New("unexpected end of JSON input")
	ErrSyntax = errors.New("invalid JSON")
	ErrDepth  = errors.New("JSON is nested too deep")
	ErrUTF8   = errors.New("invalid UTF-8 in JSON string")
	ErrNumber = errors.New("JSON number out of range")
)

// Space returns the position of the first byte at or after i that is not JSON
// white space.
func Space(data []byte, i int) int {
	for i < len(data) && data[i] <= ' ' && (data[i] == ' ' || data[i] == '\n' || data[i] == '\t' || data[i] == '\r') {
		i++
	}
	return i
}

// nesting remembers, for every open container, whether it is an object.
type nesting struct {
	bits  [(MaxDepth + 63) / 64]uint64
	depth int
}

func (n *nesting) push(object bool) bool {
	if n.depth == MaxDepth {
		return false
	}
	mask := uint64(1) << (n.depth % 64)
	if object {
		n.bits[n.depth/64] |= mask
	} else {
		n.bits[n.depth/64] &^= mask
	}
	n.depth++
	return true
}

func (n *nesting) inObject() bool {
	d := n.depth - 1
	return n.bits[d/64]&(1<<(d%64)) != 0
}

// Skip returns the position just after the JSON value that starts at i (white
// space before it is allowed). It accepts valid JSON only; the error is one of
// this package's and i is then where it was found.
func Skip(data []byte, i int) (int, error) {
	i = Space(data, i)
	if i < len(data) && data[i] != '{' && data[i] != '[' {
		return skipScalar(data, i)
	}
	return skipContainer(data, i)
}

// skipContainer walks one object or array with an explicit stack, so that
// hostile nesting costs no goroutine stack.
func skipContainer(data []byte, i int) (int, error) {
	var n nesting
	var err error
	for {
		i = Space(data, i)
		if i >= len(data) {
			return i, ErrEnd
		}
		// A value starts at i.
		if c := data[i]; c == '{' || c == '[' {
			if !n.push(c == '{') {
				return i, ErrDepth
			}
			i = Space(data, i+1)
			if i >= len(data) {
				return i, ErrEnd
			}
			if data[i] != c+2 { // '}' and ']' follow their openers by two
				if c == '{' {
					if i, err = skipKey(data, i); err != nil {
						return i, err
					}
				}
				continue
			}
			i++
			n.depth--
		} else if i, err = skipScalar(data, i); err != nil {
			return i, err
		}
		var more bool
		if i, more, err = closeContainers(data, i, &n); err != nil || !more {
			return i, err
		}
	}
}

// closeContainers is called after a value: it leaves every container that ends
// here. more says that another value follows at the returned position.
func closeContainers(data []byte, i int, n *nesting) (next int, more bool, err error) {
	for n.depth > 0 {
		i = Space(data, i)
		if i >= len(data) {
			return i, false, ErrEnd
		}
		object := n.inObject()
		switch c := data[i]; {
		case c == ',' && object:
			i, err = skipKey(data, i+1)
			return i, err == nil, err
		case c == ',':
			return i + 1, true, nil
		case c == '}' && object, c == ']' && !object:
			i++
			n.depth--
		default:
			return i, false, ErrSyntax
		}
	}
	return i, false, nil
}

// skipKey passes a key and its colon.
func skipKey(data []byte, i int) (int, error) {
	i = Space(data, i)
	if i >= len(data) {
		return i, ErrEnd
	}
	if data[i] != '"' {
		return i, ErrSyntax
	}
	i, err := skipString(data, i)
	if err != nil {
		return i, err
	}
	i = Space(data, i)
	if i >= len(data) {
		return i, ErrEnd
	}
	if data[i] != ':' {
		return i, ErrSyntax
	}
	return i + 1, nil
}

func skipScalar(data []byte, i int) (int, error) {
	switch c := data[i]; {
	case c == '"':
		return skipString(data, i)
	case c == '-' || c >= '0' && c <= '9':
		return skipNumber(data, i)
	case c == 't':
		return skipWord(data, i, "true")
	case c == 'f':
		return skipWord(data, i, "false")
	case c == 'n':
		return skipWord(data, i, "null")
	}
	return i, ErrSyntax
}

func skipWord(data []byte, i int, word string) (int, error) {
	if len(data)-i < len(word) {
		return i, ErrEnd
	}
	if string(data[i:i+len(word)]) != word {
		return i, ErrSyntax
	}
	return i + len(word), nil
}

// skipString passes a string whose opening quote is at i.
func skipString(data []byte, i int) (int, error) {
	start, ascii := i+1, true
	for i = Plain(data, i+1); i < len(data); i++ {
		c := data[i]
		switch {
		case c == '"':
			if !ascii && !utf8.Valid(data[start:i]) {
				return start, ErrUTF8
			}
			return i + 1, nil
		case c == '\\':
			n := EscapeLen(data, i)
			if n == 0 {
				return i, ErrSyntax
			}
			i += n - 1
		case c < ' ':
			return i, ErrSyntax
		case c >= utf8.RuneSelf:
			ascii = false
		}
	}
	return i, ErrEnd
}

// Plain passes bytes of a string that mean themselves, 8 at a time, and stops
// where there may be others.
func Plain(data []byte, i int) int {
	for i+8 <= len(data) {
		word := load(data, i)
		// A high bit is set for every byte that is no ASCII, for every one
		// below the space, and by the borrow of those for some after them.
		odd := (word|(word-' '*ones))&highs | equal(word, '"'*ones) | equal(word, '\\'*ones)
		if odd != 0 {
			return i + bits.TrailingZeros64(odd)/8
		}
		i += 8
	}
	return i
}

// EscapeLen is the length of the escape sequence that starts with the backslash
// at i, or 0 when there is none that JSON knows.
func EscapeLen(data []byte, i int) int {
	if i+1 >= len(data) {
		return 0
	}
	switch data[i+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if _, ok := hex4(data, i+2); ok {
			return 6
		}
	}
	return 0
}

func digits(data []byte, i int) int {
	for i < len(data) && data[i] >= '0' && data[i] <= '9' {
		i++
	}
	return i
}

// skipNumber passes a number and refuses those that no float64 can hold.
func skipNumber(data []byte, i int) (int, error) {
	start := i
	if data[i] == '-' {
		i++
	}
	switch n := digits(data, i); {
	case n == i && i >= len(data):
		return i, ErrEnd
	case n == i || data[i] == '0' && n > i+1:
		return i, ErrSyntax
	default:
		i = n
	}
	if i < len(data) && data[i] == '.' {
		n := digits(data, i+1)
		if n == i+1 {
			return n, ErrSyntax
		}
		i = n
	}
	exponent := i < len(data) && (data[i] == 'e' || data[i] == 'E')
	if exponent {
		i++
		if i < len(data) && (data[i] == '+' || data[i] == '-') {
			i++
		}
		n := digits(data, i)
		if n == i {
			return n, ErrSyntax
		}
		i = n
	}
	if exponent || i-start > 300 {
		if _, err := strconv.ParseFloat(string(data[start:i]), 64); err != nil {
			return start, ErrNumber
		}
	}
	return i, nil
}
