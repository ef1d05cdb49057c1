package managedfields

import (
	"slices"
	"strconv"
	"sync"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"

	"github.com/wasmgate/wasmgate/sdk/rawjson"
)

// setWriter writes sets as fieldsV1.
type setWriter struct {
	out []byte
	// inexact: the set has numbers that are others when they are read again,
	// since readers take all numbers for floats.
	inexact bool

	elements []fieldpath.PathElement // a stack
	key      []byte
}

var setWriters = sync.Pool{New: func() any { return &setWriter{} }}

// encodeSet is the canonical JSON of a set, escaped as encoding/json does; exact
// says that reading it gives the same set.
func encodeSet(set *fieldpath.Set) (raw []byte, exact bool, err error) {
	w := setWriters.Get().(*setWriter)
	defer func() {
		clear(w.elements[:cap(w.elements)])
		*w = setWriter{out: w.out[:0], elements: w.elements[:0], key: w.key[:0]}
		setWriters.Put(w)
	}()
	if err := w.node(set, false, 0); err != nil {
		return nil, false, err
	}
	return slices.Clone(w.out), !w.inexact, nil
}

// node writes the object of a set; self says that the place of the set is owned
// itself.
func (w *setWriter) node(set *fieldpath.Set, self bool, depth int) error {
	if depth >= maxSetDepth { // what is in it is a step deeper
		return errSetDepth
	}
	start := len(w.elements)
	push := func(e fieldpath.PathElement) { w.elements = append(w.elements, e) }
	set.Members.Iterate(push)
	middle := len(w.elements)
	set.Children.Iterate(push)
	end := len(w.elements)

	w.out = append(w.out, '{')
	first := true
	if self && end > start {
		w.out = append(w.out, `".":{}`...)
		first = false
	}
	for m, c := start, middle; m < middle || c < end; {
		order := 0
		switch {
		case m == middle:
			order = 1
		case c == end:
			order = -1
		default:
			order = w.elements[m].Compare(w.elements[c])
		}
		if !first {
			w.out = append(w.out, ',')
		}
		first = false
		at := c
		if order < 0 {
			at = m
		}
		e := w.elements[at]
		if err := w.element(e); err != nil {
			return err
		}
		if order <= 0 {
			m++
		}
		if order < 0 {
			w.out = append(w.out, `{}`...)
			continue
		}
		c++
		below, _ := set.Children.Get(e)
		if err := w.node(below, order == 0, depth+1); err != nil {
			return err
		}
	}
	w.out = append(w.out, '}')
	w.elements = w.elements[:start]
	return nil
}

// element writes a path element as the name of a member.
func (w *setWriter) element(e fieldpath.PathElement) error {
	if e.FieldName != nil {
		w.out = append(w.out, `"f:`...)
		if !plain(*e.FieldName) {
			w.out = w.out[:len(w.out)-3]
			w.out = appendHTMLSafe(w.out, rawjson.AppendString(nil, "f:"+*e.FieldName))
			w.out = append(w.out, ':')
			return nil
		}
		w.out = append(append(w.out, *e.FieldName...), `":`...)
		return nil
	}
	w.key = w.key[:0]
	if !w.plainKey(e) {
		text, err := fieldpath.SerializePathElement(e)
		if err != nil {
			return err
		}
		w.key = append(w.key[:0], text...)
	}
	w.inexact = w.inexact || inexact(e)
	w.out = appendHTMLSafe(w.out, rawjson.AppendString(nil, string(w.key)))
	w.out = append(w.out, ':')
	return nil
}

// plainKey writes the usual elements of lists into w.key, those that need no
// escapes; it says whether it did.
func (w *setWriter) plainKey(e fieldpath.PathElement) bool {
	switch {
	case e.Key != nil:
		w.key = append(w.key, "k:{"...)
		for i, f := range *e.Key {
			if i > 0 {
				w.key = append(w.key, ',')
			}
			if !plain(f.Name) {
				return false
			}
			w.key = append(append(append(w.key, '"'), f.Name...), `":`...)
			if !w.plainValue(f.Value) {
				return false
			}
		}
		w.key = append(w.key, '}')
		return true
	case e.Value != nil:
		w.key = append(w.key, "v:"...)
		return w.plainValue(*e.Value)
	}
	return false
}

func (w *setWriter) plainValue(v value.Value) bool {
	switch x := v.Unstructured().(type) {
	case string:
		if !plain(x) {
			return false
		}
		w.key = append(append(append(w.key, '"'), x...), '"')
	case bool:
		w.key = strconv.AppendBool(w.key, x)
	case int64:
		w.key = strconv.AppendInt(w.key, x, 10)
	default:
		return false
	}
	return true
}

// plain tells that s is written in JSON as it is.
func plain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= 0x7f || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			return false
		}
	}
	return true
}

// lossySet tells that a set would be another one if it were written and read.
func lossySet(set *fieldpath.Set) (found bool) {
	set.Members.Iterate(func(e fieldpath.PathElement) { found = found || inexact(e) })
	set.Children.Iterate(func(e fieldpath.PathElement) {
		below, _ := set.Children.Get(e)
		found = found || inexact(e) || lossySet(below)
	})
	return found
}

// inexact tells that e has an integer that no float is.
func inexact(e fieldpath.PathElement) bool {
	lossy := func(v value.Value) bool {
		x, ok := v.Unstructured().(int64)
		return ok && (x > maxExactInt || x < -maxExactInt)
	}
	switch {
	case e.Key != nil:
		return slices.ContainsFunc(*e.Key, func(f value.Field) bool { return lossy(f.Value) })
	case e.Value != nil:
		return lossy(*e.Value)
	}
	return false
}

const maxExactInt = 1 << 53
