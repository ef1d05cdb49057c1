package merge

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// Why an item of a list that is a set or a map has no identity.
var (
	errNullItem   = errors.New("associative list with keys may not have a null element")
	errNoObject   = errors.New("associative list with keys may not have non-map elements")
	errSetOfMaps  = errors.New("associative list without keys has an element that's a map type")
	errSetOfLists = errors.New("not supported: associative list with lists as elements")
	errSetOfNull  = errors.New("associative list without keys has an element that's an explicit null")
)

// check tells why v cannot be an item of l.
func (l *listType) check(v any) error {
	if len(l.keys) == 0 {
		switch v.(type) {
		case map[string]any:
			return errSetOfMaps
		case []any:
			return errSetOfLists
		case nil:
			return errSetOfNull
		}
		return nil
	}
	if v == nil {
		return errNullItem
	}
	item, ok := v.(map[string]any)
	if !ok {
		return errNoObject
	}
	for i := range l.keys {
		if _, ok := l.keys[i].of(item); ok {
			return nil
		}
	}
	names := make([]string, len(l.keys))
	for i := range l.keys {
		names[i] = l.keys[i].name
	}
	return fmt.Errorf("associative list with keys has an element that omits all key fields %q (and doesn't have default values for any key fields)", names)
}

// of is the key's value in an item.
func (k *listKey) of(item map[string]any) (any, bool) {
	if v, ok := item[k.name]; ok {
		return v, true
	}
	return k.fallback, k.fallback != nil
}

// path is the path element of a valid item. What [Type.Remove] left of an item,
// null, is no item any more, whatever its keys would be without it.
func (l *listType) path(v any) fieldpath.PathElement {
	if len(l.keys) == 0 {
		val := value.NewValueInterface(v)
		return fieldpath.PathElement{Value: &val}
	}
	keys := make(value.FieldList, 0, len(l.keys))
	item, ok := v.(map[string]any)
	if !ok {
		return fieldpath.PathElement{Key: &keys}
	}
	for i := range l.keys {
		if key, ok := l.keys[i].of(item); ok {
			keys = append(keys, value.Field{Name: l.keys[i].name, Value: value.NewValueInterface(key)})
		}
	}
	return fieldpath.PathElement{Key: &keys}
}

// appendIdentity appends what tells a valid item from others of its list: two
// items are the same one if it is equal.
func (l *listType) appendIdentity(dst []byte, v any) []byte {
	if len(l.keys) == 0 {
		return appendScalar(dst, v)
	}
	item, _ := v.(map[string]any)
	for i := range l.keys {
		if key, ok := l.keys[i].of(item); ok {
			dst = appendScalar(dst, key)
		} else {
			dst = append(dst, '-')
		}
	}
	return dst
}

// maxExact is how far integers and floats are the same numbers.
const maxExact = 1 << 53

func appendScalar(dst []byte, v any) []byte {
	switch x := v.(type) {
	case string:
		dst = binary.AppendUvarint(append(dst, 's'), uint64(len(x)))
		return append(dst, x...)
	case bool:
		if x {
			return append(dst, 't')
		}
		return append(dst, 'f')
	case int64:
		if -maxExact <= x && x <= maxExact {
			return appendScalar(dst, float64(x))
		}
		return binary.BigEndian.AppendUint64(append(dst, 'i'), uint64(x))
	case float64:
		if x == 0 {
			x = 0 // not -0
		}
		return binary.BigEndian.AppendUint64(append(dst, 'n'), math.Float64bits(x))
	case nil:
		return append(dst, '0')
	}
	// A key that is no scalar: schemas do not allow it.
	text := fmt.Sprint(v)
	dst = binary.AppendUvarint(append(dst, 'x'), uint64(len(text)))
	return append(dst, text...)
}

// sameItem tells that two valid items are the same one; buf is scratch space.
func (l *listType) sameItem(a, b any, buf *[]byte) bool {
	both := l.appendIdentity((*buf)[:0], a)
	n := len(both)
	both = l.appendIdentity(both, b)
	*buf = both
	return bytes.Equal(both[:n], both[n:])
}

// index finds items by identity.
type index struct {
	list  *listType
	items []any
	// first is the index of the first item of an identity, times how many there
	// are, next the index of the next one.
	first map[string]int
	times []int
	next  []int
	buf   []byte
}

func (l *listType) index(items []any) index {
	n := len(items)
	x := index{list: l, items: items, first: make(map[string]int, n), times: make([]int, n), next: make([]int, n)}
	// From behind, so that what is found at the end is the first.
	for i := n - 1; i >= 0; i-- {
		x.buf = l.appendIdentity(x.buf[:0], items[i])
		if next, known := x.first[string(x.buf)]; known {
			x.times[i], x.next[i] = x.times[next], next
			x.times[next] = 0
		}
		x.times[i]++
		x.first[string(x.buf)] = i
	}
	return x
}

// find is the index of the first item with the identity of v, or -1.
func (x *index) find(v any) int {
	x.buf = x.list.appendIdentity(x.buf[:0], v)
	if i, ok := x.first[string(x.buf)]; ok {
		return i
	}
	return -1
}

// all are the items with the identity of item i, the first of them.
func (x *index) all(i int) []any {
	if x.times[i] == 1 {
		return x.items[i : i+1]
	}
	out := make([]any, 0, x.times[i])
	for range x.times[i] {
		out = append(out, x.items[i])
		i = x.next[i]
	}
	return out
}
