package custom

import (
	"bytes"
	"math"
	"unicode/utf8"

	"github.com/wasmgate/wasmgate/crd/object"
)

// unchanged is [crd.Version.Unchanged]: one pass over the bytes, in which they
// are compared with what they would be if they were decoded and encoded again.
// What is rare is not looked into, so it may say no too often.
func (s *shape) unchanged(data []byte) bool {
	if s.whole || s.root == nil {
		return false
	}
	w := scan{data: data}
	return w.object(s.root, true) && w.i == len(data)
}

// scan is a pass over canonical JSON: no spaces, fields in order, strings and
// numbers as [object.Encode] writes them. Each method passes one value, and
// returns false at the first thing that is not certain.
type scan struct {
	data  []byte
	i     int
	depth int
}

// maxScanDepth is how deep objects are nested that are scanned.
const maxScanDepth = 64

func (w *scan) peek() byte {
	if w.i < len(w.data) {
		return w.data[w.i]
	}
	return 0
}

// pass passes one byte.
func (w *scan) pass(c byte) bool {
	if w.peek() != c {
		return false
	}
	w.i++
	return true
}

// value passes a value for which n stands, nil: a schema that says nothing.
func (w *scan) value(n *node) bool {
	switch w.peek() {
	case '{':
		if n == nil {
			return w.pass('{') && w.pass('}')
		}
		return w.object(n, false)
	case '[':
		if n != nil && n.preserve && n.items == nil {
			return w.list((*scan).any)
		}
		var items *node
		if n != nil {
			items = n.items
		}
		return w.list(func(w *scan) bool { return w.value(items) })
	case 'n':
		return (n == nil || n.nullable) && w.word("null")
	}
	return w.scalar()
}

// any passes a value that no schema is about.
func (w *scan) any() bool {
	switch w.peek() {
	case '{':
		return w.fields(func(w *scan, _ []byte) bool { return w.any() })
	case '[':
		return w.list((*scan).any)
	case 'n':
		return w.word("null")
	}
	return w.scalar()
}

func (w *scan) object(n *node, root bool) bool {
	if n.embedded {
		return false
	}
	return w.fields(func(w *scan, key []byte) bool {
		if root && string(key) == "metadata" {
			return w.metadata()
		}
		if root && (string(key) == "apiVersion" || string(key) == "kind") && w.peek() != '"' {
			return false
		}
		child, known := n.props[string(key)]
		switch {
		case known:
			return w.value(child)
		case n.open:
			return w.value(n.extra)
		case n.preserve || root && metaFields[string(key)]:
			return w.any()
		}
		return false
	})
}

// fields passes an object, whose values value has to pass.
func (w *scan) fields(value func(w *scan, key []byte) bool) bool {
	if w.depth++; w.depth > maxScanDepth || !w.pass('{') {
		return false
	}
	var last []byte
	for first := true; !w.pass('}'); first = false {
		if !first && !w.pass(',') {
			return false
		}
		start := w.i + 1
		plain, ok := w.text()
		if !ok || !plain {
			return false
		}
		key := w.data[start : w.i-1]
		if !first && bytes.Compare(last, key) >= 0 || !w.pass(':') || !value(w, key) {
			return false
		}
		last = key
	}
	w.depth--
	return true
}

func (w *scan) list(element func(w *scan) bool) bool {
	if w.depth++; w.depth > maxScanDepth || !w.pass('[') {
		return false
	}
	for first := true; !w.pass(']'); first = false {
		if !first && !w.pass(',') || !element(w) {
			return false
		}
	}
	w.depth--
	return true
}

func (w *scan) scalar() bool {
	switch w.peek() {
	case '"':
		_, ok := w.text()
		return ok
	case 't':
		return w.word("true")
	case 'f':
		return w.word("false")
	}
	_, ok := w.integer()
	return ok
}

func (w *scan) word(word string) bool {
	if !bytes.HasPrefix(w.data[w.i:], []byte(word)) {
		return false
	}
	w.i += len(word)
	return true
}

// maxDigits is how many digits every int64 has room for.
const maxDigits = 18

// integer passes an integer. Other numbers are not passed: there are many ways
// to write them.
func (w *scan) integer() (n int64, ok bool) {
	negative := w.pass('-')
	start := w.i
	for c := w.peek(); '0' <= c && c <= '9'; c = w.peek() {
		if w.i-start == maxDigits {
			return 0, false
		}
		n = n*10 + int64(c-'0')
		w.i++
	}
	switch digits := w.i - start; {
	case digits == 0, w.data[start] == '0' && (digits > 1 || negative):
		return 0, false
	}
	switch w.peek() {
	case '.', 'e', 'E':
		return 0, false
	}
	if negative {
		n = -n
	}
	return n, true
}

// text passes a string. plain tells that it is what it stands for, without
// escapes.
func (w *scan) text() (plain, ok bool) {
	if !w.pass('"') {
		return false, false
	}
	start, ascii := w.i, true
	plain = true
	for w.i < len(w.data) {
		c := w.data[w.i]
		w.i++
		if ordinary[c] {
			continue
		}
		switch {
		case c == '"':
			return plain, ascii || sound(w.data[start:w.i-1])
		case c == '\\' && escapable[w.peek()]:
			plain = false
			w.i++
		case c >= utf8.RuneSelf:
			ascii = false
		default:
			return false, false
		}
	}
	return false, false
}

// ordinary are the bytes that stand for themselves in a string, with nothing
// more to be known.
var ordinary = func() (table [math.MaxUint8 + 1]bool) {
	for c := byte(' '); c < utf8.RuneSelf; c++ {
		table[c] = c != '"' && c != '\\' && c != '<' && c != '>' && c != '&'
	}
	return table
}()

// escapable are the bytes that the encoder writes after a backslash, but for
// those of numbered characters.
var escapable = [math.MaxUint8 + 1]bool{'"': true, '\\': true, 'b': true, 'f': true, 'n': true, 'r': true, 't': true}

// sound tells that text is UTF-8 without characters that the encoder escapes.
func sound(text []byte) bool {
	return utf8.Valid(text) && !bytes.Contains(text, []byte("\u2028")) && !bytes.Contains(text, []byte("\u2029"))
}

// metadata passes metadata in the form of the API's own type, without empty
// fields.
func (w *scan) metadata() bool {
	return w.fields((*scan).metadataField)
}

func (w *scan) metadataField(name []byte) bool {
	start := w.i
	switch string(name) {
	case "name", "generateName", "namespace", "selfLink", "uid", "resourceVersion":
		return w.string() && w.i > start+len(`""`)
	case "generation":
		n, ok := w.integer()
		return ok && n != 0
	case "deletionGracePeriodSeconds":
		_, ok := w.integer()
		return ok
	case "creationTimestamp", "deletionTimestamp":
		return w.string() && object.IsTime(string(w.data[start+1:w.i-1]))
	case "labels", "annotations":
		return w.fields(func(w *scan, _ []byte) bool { return w.string() }) && w.i > start+len(`{}`)
	case "finalizers":
		return w.list((*scan).string) && w.i > start+len(`[]`)
	case "ownerReferences":
		return w.list((*scan).owner) && w.i > start+len(`[]`)
	case "managedFields":
		end, ok := object.ManagedEnd(w.data, w.i)
		ok = ok && w.peek() == '[' // and no space before it
		w.i = end
		return ok
	}
	return false
}

func (w *scan) string() bool {
	_, ok := w.text()
	return ok
}

// owner passes an owner reference with its four required fields.
func (w *scan) owner() bool {
	required := 0
	ok := w.fields(func(w *scan, key []byte) bool {
		switch string(key) {
		case "apiVersion", "kind", "name", "uid":
			required++
			return w.string()
		case "controller", "blockOwnerDeletion":
			return w.word("true") || w.word("false")
		}
		return false
	})
	return ok && required == 4
}
