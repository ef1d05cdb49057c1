package sdk

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/wasmgate/wasmgate/sdk/rawjson"
)

// Object is one object that is being converted. It is valid only during the
// call that it was handed to.
type Object struct {
	root node
	// scratch holds small new values; what it held before stays valid when it
	// grows, and nothing of it outlives the call.
	scratch []byte
	// top is the memory of the object's own fields, members that of all others.
	top, members memory
}

// Memory above these sizes is not kept for the next object.
const (
	maxScratch = 64 << 10
	maxMembers = 4 << 10
)

// reset forgets the object, but not its memory.
func (o *Object) reset() {
	if cap(o.scratch) > maxScratch {
		o.scratch = nil
	}
	o.scratch = o.scratch[:0]
	o.top.reset()
	o.members.reset()
	o.root.put(nil)
}

// keep makes a slice of what was appended to scratch since mark.
func (o *Object) keep(scratch []byte, mark int) []byte {
	o.scratch = scratch
	return scratch[mark:len(scratch):len(scratch)]
}

func (o *Object) quoted(s string) []byte {
	return o.keep(rawjson.AppendString(o.scratch, s), len(o.scratch))
}

// Parse reads a JSON object, for tests. The text must stay unchanged while the
// object is in use.
func Parse(text []byte) (*Object, error) {
	if end, err := rawjson.Skip(text, 0); err != nil || rawjson.Space(text, end) != len(text) {
		return nil, errors.New("not a JSON object")
	}
	o := &Object{root: node{raw: text}}
	if !o.root.open(o) || o.root.array {
		return nil, errors.New("not a JSON object")
	}
	return o, nil
}

// JSON returns the object as it stands.
func (o *Object) JSON() []byte { return o.root.append(nil) }

// APIVersion returns the apiVersion field.
func (o *Object) APIVersion() string { return o.text("apiVersion") }

// Kind returns the kind field.
func (o *Object) Kind() string { return o.text("kind") }

// Name returns metadata.name.
func (o *Object) Name() string { return o.text("metadata", "name") }

// Namespace returns metadata.namespace, empty for cluster-scoped objects.
func (o *Object) Namespace() string { return o.text("metadata", "namespace") }

func (o *Object) text(path ...string) string {
	s, _ := o.At(path...).String()
	return s
}

// At names a field by the keys that lead to it, or an array's element by its
// index: o.At("spec", "ports", "0", "name"). The field need not exist.
func (o *Object) At(path ...string) Field { return Field{o, path} }

// Field is a place in an object.
type Field struct {
	o    *Object
	path []string
}

// Exists says whether the field is there, be it null.
func (f Field) Exists() bool { return f.o.root.find(f.o, f.path) != nil }

// Raw returns the field's JSON text; nil when there is no such field. It must
// not be changed.
func (f Field) Raw() []byte {
	n := f.o.root.find(f.o, f.path)
	if n == nil {
		return nil
	}
	return n.text()
}

// String returns the field; ok is false when it is not there or not a string.
func (f Field) String() (s string, ok bool) { return rawjson.String(f.Raw()) }

// Bool returns the field; ok is false when it is not there or not a bool.
func (f Field) Bool() (b, ok bool) {
	raw := string(f.Raw())
	return raw == "true", raw == "true" || raw == "false"
}

// Int returns the field; ok is false when it is not there or not an integer
// that fits.
func (f Field) Int() (i int64, ok bool) {
	i, err := strconv.ParseInt(string(f.Raw()), 10, 64)
	return i, err == nil
}

// Float returns the field; ok is false when it is not there or not a number.
func (f Field) Float() (x float64, ok bool) {
	x, err := strconv.ParseFloat(string(f.Raw()), 64)
	return x, err == nil
}

// Len returns the number of elements of an array or fields of an object, else 0.
func (f Field) Len() int {
	n := f.o.root.find(f.o, f.path)
	if n == nil || !n.open(f.o) {
		return 0
	}
	return len(n.members)
}

// SetString makes the field a string; see [Field.SetRaw].
func (f Field) SetString(s string) error { return f.SetRaw(f.o.quoted(s)) }

// SetInt makes the field an integer; see [Field.SetRaw].
func (f Field) SetInt(i int64) error { return f.SetRaw(strconv.AppendInt(nil, i, 10)) }

// SetBool makes the field a bool; see [Field.SetRaw].
func (f Field) SetBool(b bool) error { return f.SetRaw(strconv.AppendBool(nil, b)) }

// SetRaw makes the field any JSON value. Objects on the way to it are made
// where they are missing. The error says that something on the way is there and
// is not an object.
func (f Field) SetRaw(json []byte) error {
	if len(f.path) == 0 {
		return errors.New("the object itself cannot be replaced")
	}
	n := &f.o.root
	for i, name := range f.path {
		if n.raw == nil && !n.opened || rawjson.IsNull(n.raw) {
			n.put(nil)
			n.opened = true // and edited, as soon as it has the field
		}
		if n = n.grow(f.o, name); n == nil {
			return errors.New(strings.Join(f.path[:i], ".") + " is not an object")
		}
	}
	n.put(json)
	return nil
}

// Delete removes the field, if it is there.
func (f Field) Delete() {
	if n, i := f.holder(); n != nil {
		n.members = slices.Delete(n.members, i, i+1)
	}
}

// holder is the object or array that the field is in, and where it is there;
// nil when there is no such field. It marks everything on the way as changed.
func (f Field) holder() (n *node, i int) {
	last := len(f.path) - 1
	if last < 0 || !f.Exists() {
		return nil, 0
	}
	n = &f.o.root
	for _, name := range f.path[:last] {
		n.edited = true
		n = n.child(f.o, name)
	}
	n.edited = true
	return n, n.index(f.o, f.path[last])
}

// MoveTo puts the field somewhere else in the object, unchanged, replacing
// what is there. Without the field nothing happens. The error is that of
// [Field.SetRaw], and then nothing has moved.
func (f Field) MoveTo(path ...string) error {
	n, i := f.holder()
	if n == nil {
		return nil
	}
	taken := n.members[i]
	n.members = slices.Delete(n.members, i, i+1)
	if err := f.o.At(path...).SetRaw(taken.value.text()); err != nil {
		n.members = slices.Insert(n.members, i, taken)
		return err
	}
	return nil
}

// Each calls fn for every element of an array that is an object; the elements
// may be changed. It stops at the first error and returns it. fn may change the
// rest of the object too: where it takes an element away, or puts another one in its
// place, what it changed in the element is lost, and where it does so with the array
// Each ends.
func (f Field) Each(fn func(i int, element *Object) error) error {
	n := f.o.root.find(f.o, f.path)
	if n == nil || !n.open(f.o) || !n.array {
		return nil
	}
	array := n.raw
	for i := 0; i < len(n.members); {
		count, was := len(n.members), n.members[i].value.raw
		element := &Object{root: n.members[i].value}
		if !element.root.open(element) || element.root.array {
			i++
			continue
		}
		if err := fn(i, element); err != nil {
			return err
		}
		// What fn made or removed beside the array may have moved it.
		if n = f.o.root.find(f.o, f.path); n == nil || !isText(n.raw, array) || !n.open(f.o) {
			return nil
		}
		switch at := n.holds(was, i); {
		case at >= 0:
			n.members[at].value = element.root
			if element.root.edited {
				f.touch()
			}
			i = at + 1
		case len(n.members) >= count: // another one is in its place
			i++
		}
	}
	return nil
}

// touch marks everything on the way to the field as changed.
func (f Field) touch() {
	n := &f.o.root
	for _, name := range f.path {
		n.edited = true
		n = n.child(f.o, name)
	}
	n.edited = true
}
