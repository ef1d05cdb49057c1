package sdk

import (
	"bytes"
	"slices"
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
func (n *node) open(o *Object) bool {
	if n.opened {
		return true
	}
	w, err := rawjson.Open(n.raw, 0, true)
	if err != nil {
		return false
	}
	return n.fill(&w, o)
}

// spare is how many fields an object gets without moving to other memory.
const spare = 2

// fill reads the members of an object or array that a walk has been opened on.
func (n *node) fill(w *rawjson.Walk, o *Object) bool {
	n.array = !w.IsObject()
	start := len(o.members)
	for w.Next() {
		key := w.Key()
		o.members = append(o.members, member{key, node{raw: w.Value()}})
	}
	end := len(o.members)
	o.members = append(o.members, make([]member, spare)...)
	n.members = o.members[start:end:len(o.members)]
	n.opened = w.Err() == nil
	return n.opened
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
	for i := range n.members {
		if rawjson.Equal(n.members[i].key, name) {
			return i
		}
	}
	return -1
}

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
