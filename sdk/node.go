package sdk

import (
	"strconv"

	"github.com/wasmgate/wasmgate/sdk/rawjson"
)

// node is one JSON value. It stays text until somebody looks inside, and
// becomes text again where nobody changed anything.
type node struct {
	raw     []byte
	opened  bool // members hold what raw says, or newer
	array   bool
	edited  bool // raw is out of date
	members []member
}

// member is a field of an object, or an element of an array (without key).
type member struct {
	key   []byte
	value node
}

// open reads the members of an object or array; it says whether it is one.
func (n *node) open() bool {
	if n.opened {
		return true
	}
	w, err := rawjson.Open(n.raw, 0, true)
	if err != nil {
		return false
	}
	return n.fill(&w)
}

// fill reads the members of an object or array that a walk has been opened on.
func (n *node) fill(w *rawjson.Walk) bool {
	n.array = !w.IsObject()
	n.members = n.members[:0]
	for w.Next() {
		key := w.Key()
		n.members = append(n.members, member{key, node{raw: w.Value()}})
	}
	n.opened = w.Err() == nil
	return n.opened
}

// child returns a field or element, nil when there is none.
func (n *node) child(name string) *node {
	if i := n.index(name); i >= 0 {
		return &n.members[i].value
	}
	return nil
}

func (n *node) index(name string) int {
	if !n.open() {
		return -1
	}
	if n.array {
		if i, err := strconv.Atoi(name); err == nil && i >= 0 && i < len(n.members) {
			return i
		}
		return -1
	}
	for i := range n.members {
		if rawjson.Equal(n.members[i].key, name) {
			return i
		}
	}
	return -1
}

// find follows a path; nil when it leads nowhere.
func (n *node) find(path []string) *node {
	for _, name := range path {
		if n = n.child(name); n == nil {
			return nil
		}
	}
	return n
}

// grow returns the field with a name, made if need be; nil when n is not an
// object and has no such element. What is returned is going to be changed.
func (n *node) grow(o *Object, name string) *node {
	c := n.child(name)
	if c == nil && (!n.opened || n.array) {
		return nil
	}
	n.edited = true
	if c != nil {
		return c
	}
	key := o.quoted(name)
	n.members = append(n.members, member{key: key[1 : len(key)-1]})
	return &n.members[len(n.members)-1].value
}

// put replaces the value.
func (n *node) put(raw []byte) { *n = node{raw: raw} }

// append writes the value.
func (n *node) append(dst []byte) []byte {
	if !n.edited {
		return append(dst, n.raw...)
	}
	opener, closer := byte('{'), byte('}')
	if n.array {
		opener, closer = '[', ']'
	}
	dst = append(dst, opener)
	for i := range n.members {
		if i > 0 {
			dst = append(dst, ',')
		}
		if !n.array {
			dst = append(append(append(dst, '"'), n.members[i].key...), '"', ':')
		}
		dst = n.members[i].value.append(dst)
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
