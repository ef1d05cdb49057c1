package object

import (
	"bytes"
	"unicode/utf8"
)

// IsText tells whether raw is what [Append] writes for v, without writing it.
// It may say no of trees that are seldom: with keys that have to be escaped, or
// nested deeper than is usual.
func IsText(v any, raw []byte) bool {
	t := text{raw: raw}
	return t.value(v) && t.i == len(raw)
}

// text is a position in what a tree is compared with.
type text struct {
	raw   []byte
	i     int
	depth int
	room  []byte
}

// maxTextDepth is how deep trees are compared.
const maxTextDepth = 64

func (t *text) value(v any) bool {
	switch x := v.(type) {
	case string:
		return t.str(x)
	case map[string]any:
		return x != nil && t.fields(x)
	case []any:
		return x != nil && t.items(x)
	}
	// What is left is short, or bytes.
	var err error
	if t.room, err = Append(t.room[:0], v); err != nil {
		return false
	}
	return t.bytes(t.room)
}

func (t *text) bytes(b []byte) bool {
	if !bytes.HasPrefix(t.raw[t.i:], b) {
		return false
	}
	t.i += len(b)
	return true
}

func (t *text) byte(c byte) bool {
	if t.i >= len(t.raw) || t.raw[t.i] != c {
		return false
	}
	t.i++
	return true
}

// str compares a string, which is nearly always one of which every byte stands
// for itself.
func (t *text) str(s string) bool {
	if rest := t.raw[t.i:]; len(rest) >= len(s)+2 && rest[0] == '"' && rest[len(s)+1] == '"' && string(rest[1:len(s)+1]) == s && plain(s) {
		t.i += len(s) + 2
		return true
	}
	t.room = AppendString(t.room[:0], s)
	return t.bytes(t.room)
}

// plain tells that AppendString writes a string as it is.
func plain(s string) bool {
	for i := range len(s) {
		if !ordinary[s[i]] {
			return false
		}
	}
	return true
}

// ordinary are the bytes that stand for themselves in a string.
var ordinary = func() (table [256]bool) {
	for c := byte(' '); c < utf8.RuneSelf; c++ {
		table[c] = c != '"' && c != '\\' && c != '<' && c != '>' && c != '&'
	}
	return table
}()

// fields compares an object in the order of the text, which has to be that of
// the keys, as they are sorted.
func (t *text) fields(m map[string]any) bool {
	if t.depth++; t.depth > maxTextDepth || !t.byte('{') {
		return false
	}
	var last []byte
	for n := range len(m) {
		if n > 0 && !t.byte(',') {
			return false
		}
		key, ok := t.key()
		if !ok || n > 0 && bytes.Compare(last, key) >= 0 {
			return false
		}
		v, ok := m[string(key)]
		if !ok || !t.byte(':') || !t.value(v) {
			return false
		}
		last = key
	}
	t.depth--
	return t.byte('}')
}

// key passes a key that stands for itself.
func (t *text) key() (key []byte, ok bool) {
	if !t.byte('"') {
		return nil, false
	}
	start := t.i
	for t.i < len(t.raw) && ordinary[t.raw[t.i]] {
		t.i++
	}
	key = t.raw[start:t.i]
	return key, t.byte('"')
}

func (t *text) items(a []any) bool {
	if t.depth++; t.depth > maxTextDepth || !t.byte('[') {
		return false
	}
	for i, v := range a {
		if i > 0 && !t.byte(',') || !t.value(v) {
			return false
		}
	}
	t.depth--
	return t.byte(']')
}
