package sdk

import (
	"bytes"
	"slices"
	"strconv"
	"unsafe"

	"github.com/wasmgate/wasmgate/sdk/rawjson"
)

// In a module a struct is copied or cleared by a call of the runtime, which
// costs as much as reading forty bytes of JSON. So nodes are filled in where
// they are.

// node is one JSON value. It stays text until somebody looks inside, and
// becomes text again where nobody changed anything.
type node struct {
	raw     []byte
	members []member
	// at and end are where in the raw text of what holds it the value is, with
	// its key; end is 0 when it is not there.
	at, end int
	flags
}

type flags struct {
	opened bool // members hold what raw says, or newer
	array  bool
	edited bool // raw is out of date
	// last is where the field was that was found last, of an object of many.
	last uint32
}

// member is a field of an object, or an element of an array (without key).
type member struct {
	key   []byte
	value node
}

// open reads the members of an object or array; it says whether it is one.
func (n *node) open(o *Object) bool {
	return n.opened || n.fill(&o.members, nil, n.raw, 0) > 0
}

// spare is how many fields an object gets without moving to other memory.
const spare = 2

// fill reads the members of the object or array at a position in a text, and
// returns where it ends; 0 when there is none. With below, objects in it are
// read too, into that memory: they need not be passed first and read later.
func (n *node) fill(into, below *memory, text []byte, at int) (end int) {
	i, object := rawjson.Enter(text, at)
	if i == 0 {
		return 0
	}
	base, start := i-1, len(*into)
	for {
		key, keyEnd, value := rawjson.Member(text, i, object)
		if value == 0 {
			end = key
			break
		}
		m := into.add()
		m.value.put(nil)
		if below != nil && value < len(text) && text[value] == '{' && string(text[key:keyEnd]) != "metadata" {
			i = m.value.fill(below, nil, text, value)
		} else {
			i = rawjson.Pass(text, value)
			m.value.raw = text[value:i]
		}
		if i <= value {
			break
		}
		m.value.end = i - base
		if object {
			m.key, m.value.at = text[key:keyEnd], key-1-base
		} else {
			m.key, m.value.at = nil, value-base
		}
	}
	last := len(*into)
	for range spare {
		into.add()
	}
	n.members = (*into)[start:last:len(*into)]
	if end > 0 {
		n.raw, n.array, n.opened = text[base:end], !object, true
	}
	return end
}

// memory is what members are in; what it held before stays valid when it grows.
type memory []member

// add returns the next member, with whatever was in it before.
func (m *memory) add() *member {
	n := len(*m)
	if n == cap(*m) {
		*m = slices.Grow(*m, n+16)
	}
	*m = (*m)[:n+1]
	return &(*m)[n]
}

// reset forgets the members, and the memory if it is large.
func (m *memory) reset() {
	if cap(*m) > maxMembers {
		*m = nil
	}
	*m = (*m)[:0]
}

// child returns a field or element, nil when there is none.
func (n *node) child(o *Object, name string) *node {
	if i := n.index(o, name); i >= 0 {
		return &n.members[i].value
	}
	return nil
}

func (n *node) index(o *Object, name string) int {
	if !n.open(o) {
		return -1
	}
	if n.array {
		if i, err := strconv.Atoi(name); err == nil && i >= 0 && i < len(n.members) {
			return i
		}
		return -1
	}
	if len(n.members) > few {
		return n.near(name)
	}
	for i := range n.members {
		if isKey(n.members[i].key, name) {
			return i
		}
	}
	return -1
}

// few is how many fields are looked through anew each time.
const few = 32

// near looks for a field first where the last one was, and after it: whoever goes over all
// of an object's fields would otherwise take a time that is quadratic in them.
func (n *node) near(name string) int {
	start := int(n.last)
	for i := start; i < len(n.members); i++ {
		if isKey(n.members[i].key, name) {
			n.last = uint32(i)
			return i
		}
	}
	for i := range min(start, len(n.members)) {
		if isKey(n.members[i].key, name) {
			n.last = uint32(i)
			return i
		}
	}
	return -1
}

// isKey is rawjson.Equal, which it calls for keys with escapes alone.
func isKey(raw []byte, name string) bool {
	for i := range raw {
		if raw[i] == '\\' {
			return rawjson.Equal(raw, name)
		}
		if i >= len(name) || raw[i] != name[i] {
			return false
		}
	}
	return len(raw) == len(name)
}

// holds is where an element of an array is that has a text, most likely at i; -1 when
// it is not there.
func (n *node) holds(text []byte, i int) int {
	if i < len(n.members) && isText(n.members[i].value.raw, text) {
		return i
	}
	return slices.IndexFunc(n.members, func(m member) bool { return isText(m.value.raw, text) })
}

// isText tells whether two texts are one, and not merely equal.
func isText(a, b []byte) bool { return unsafe.SliceData(a) == unsafe.SliceData(b) }

// find follows a path; nil when it leads nowhere.
func (n *node) find(o *Object, path []string) *node {
	for _, name := range path {
		if n = n.child(o, name); n == nil {
			return nil
		}
	}
	return n
}

// grow returns the field with a name, made if need be; nil when n is not an
// object and has no such element. What is returned is going to be changed. A
// new field goes to its place in alphabetical order, if the others are in
// theirs: in that order objects are stored, and need not be sorted again.
func (n *node) grow(o *Object, name string) *node {
	c := n.child(o, name)
	if c == nil && (!n.opened || n.array) {
		return nil
	}
	n.edited = true
	if c != nil {
		return c
	}
	key := o.quoted(name)
	key = key[1 : len(key)-1]
	at := len(n.members)
	for at > 0 && bytes.Compare(n.members[at-1].key, key) > 0 {
		at--
	}
	n.members = slices.Insert(n.members, at, member{key: key})
	return &n.members[at].value
}

// put replaces the value.
func (n *node) put(raw []byte) {
	n.raw, n.members, n.end, n.flags = raw, nil, 0, flags{}
}

// append writes the value. What stands side by side in the text is copied at
// once.
func (n *node) append(dst []byte) []byte {
	if !n.edited {
		return append(dst, n.raw...)
	}
	opener, closer := byte('{'), byte('}')
	if n.array {
		opener, closer = '[', ']'
	}
	dst = append(dst, opener)
	for i := 0; i < len(n.members); {
		if i > 0 {
			dst = append(dst, ',')
		}
		m := &n.members[i]
		i++
		if m.value.end == 0 || m.value.edited {
			if !n.array {
				dst = append(append(append(dst, '"'), m.key...), '"', ':')
			}
			dst = m.value.append(dst)
			continue
		}
		end := m.value.end
		for i < len(n.members) && n.members[i].value.at == end+1 && n.members[i].value.end > end && !n.members[i].value.edited {
			end = n.members[i].value.end
			i++
		}
		dst = append(dst, n.raw[m.value.at:end]...)
	}
	return append(dst, closer)
}

// text is the value as it stands now.
func (n *node) text() []byte {
	if !n.edited {
		return n.raw
	}
	return n.append(nil)
}
