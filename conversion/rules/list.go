package rules

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/wasmgate/wasmgate/sdk/rawjson"
)

// wrapped makes a list with one item of a value.
type wrapped Field

func (w *wrapped) compile(c *compiler) *op {
	s, p := c.paths(true, "field", w.Field)
	return &op{scope: s,
		there: func(r *run, item []string) error {
			f := r.at(item, p[0])
			raw := f.Raw()
			if raw == nil {
				return nil
			}
			return f.SetRaw(append(append([]byte{'['}, raw...), ']'))
		},
		back: func(r *run, item []string) error {
			f := r.at(item, p[0])
			raw := f.Raw()
			if !bytes.HasPrefix(raw, []byte("[")) {
				return nil
			}
			if f.Len() != 1 {
				return fmt.Errorf("%s has %d items, and the other version holds one", show(p[0]), f.Len())
			}
			return f.SetRaw(r.at(item, join(p[0], []string{"0"})).Raw())
		},
	}
}

// keyed is a list and a map with the same things.
type keyed struct {
	list, by   []string
	key, value string
	order      []string // where an annotation keeps it; nil for none
}

func (l *ListToMap) compile(c *compiler) *op {
	s, p := c.paths(false, "list", l.List, "map", l.Map)
	c.text("key", l.Key)
	if l.Key == l.Value && l.Key != "" {
		c.invalid("value", l.Value, "it is the key")
	}
	k := &keyed{list: p[0], by: p[1], key: l.Key, value: l.Value}
	if l.Order != "" {
		k.order = c.annotation("order", l.Order, s)
	}
	return &op{scope: s, there: k.toMap, back: k.toList}
}

func (m *MapToList) compile(c *compiler) *op { return turned((*ListToMap)(m).compile(c)) }

// annotation is the place of an annotation, of which an object has one: it cannot
// keep something of each item.
func (c *compiler) annotation(name, annotation string, s scope) []string {
	for _, msg := range validation.IsQualifiedName(annotation) {
		c.invalid(name, annotation, "it does not name an annotation: "+msg)
	}
	if len(s.groups) > 0 {
		c.invalid(name, annotation, "an annotation keeps something of the object, not of each of many items: keep the list as a whole")
	}
	c.keptBy, c.keptIn = name, annotation
	return []string{"metadata", "annotations", annotation}
}

// toMap refuses two items with the same key: one of them would be lost.
func (k *keyed) toMap(r *run, item []string) error {
	raw := r.at(item, k.list).Raw()
	if !bytes.HasPrefix(raw, []byte("[")) {
		return nil
	}
	w := open(raw)
	type entry struct {
		key   string
		value []byte
	}
	var all []entry
	known := map[string]bool{}
	for w.Next() {
		key, value, err := k.take(w.Value())
		if err != nil {
			return err
		}
		if known[key] {
			return fmt.Errorf("two items of %s have the same %s", show(k.list), k.key)
		}
		known[key] = true
		all = append(all, entry{key, value})
	}
	var order []byte
	for i, e := range all {
		order = rawjson.AppendString(append(order, "[,"[min(i, 1)]), e.key)
	}
	order = append(order, ']')
	less := func(a, b entry) int { return strings.Compare(a.key, b.key) }
	if k.order != nil && !slices.IsSortedFunc(all, less) {
		if err := r.at(nil, k.order).SetString(string(order)); err != nil {
			return err
		}
	}
	slices.SortFunc(all, less)
	out := []byte{'{'}
	for i, e := range all {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(rawjson.AppendString(out, e.key), ':'), e.value...)
	}
	return r.replace(item, k.list, k.by, append(out, '}'))
}

// take divides an item of the list into its key and the rest.
func (k *keyed) take(raw []byte) (key string, value []byte, err error) {
	w := open(raw)
	if !w.IsObject() {
		return "", nil, fmt.Errorf("an item of %s is not an object", show(k.list))
	}
	found := false
	rest := []byte{'{'}
	others := 0
	for w.Next() {
		name := w.Key()
		v := w.Value()
		switch {
		case rawjson.Equal(name, k.key):
			key, found = rawjson.String(v)
		case k.value != "" && rawjson.Equal(name, k.value):
			value = v
		default:
			if len(rest) > 1 {
				rest = append(rest, ',')
			}
			rest = append(append(append(append(rest, '"'), name...), `":`...), v...)
			others++
		}
	}
	switch {
	case !found:
		return "", nil, fmt.Errorf("an item of %s has no %s that is a string", show(k.list), k.key)
	case k.value == "":
		return key, append(rest, '}'), nil
	case value == nil || others > 0:
		return "", nil, fmt.Errorf("an item of %s does not have %s and %s, and nothing else", show(k.list), k.key, k.value)
	}
	return key, value, nil
}

func (k *keyed) toList(r *run, item []string) error {
	w := open(r.at(item, k.by).Raw())
	if !w.IsObject() {
		return nil
	}
	values := map[string][]byte{}
	var keys []string
	for w.Next() {
		key := rawjson.Unescape(w.Key())
		keys = append(keys, key)
		value, err := k.put(key, w.Value())
		if err != nil {
			return err
		}
		values[key] = value
	}
	slices.Sort(keys)
	if k.order != nil {
		keys = r.ordered(k.order, keys)
	}
	out := []byte{'['}
	for i, key := range keys {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, values[key]...)
	}
	return r.replace(item, k.by, k.list, append(out, ']'))
}

// put makes an item of a key and what it has.
func (k *keyed) put(key string, value []byte) ([]byte, error) {
	out := rawjson.AppendString([]byte{'{'}, k.key)
	out = rawjson.AppendString(append(out, ':'), key)
	if k.value != "" {
		out = append(append(rawjson.AppendString(append(out, ','), k.value), ':'), value...)
		return append(out, '}'), nil
	}
	w := open(value)
	if !w.IsObject() {
		return nil, fmt.Errorf("a value of %s is not an object", show(k.by))
	}
	for w.Next() {
		name := w.Key()
		v := w.Value()
		if rawjson.Equal(name, k.key) {
			return nil, fmt.Errorf("a value of %s has a %s of its own", show(k.by), k.key)
		}
		out = append(append(append(append(out, `,"`...), name...), `":`...), v...)
	}
	return append(out, '}'), nil
}

// ordered puts keys into the order that an annotation kept, those that it does not
// name last, and takes the annotation away.
func (r *run) ordered(annotation, keys []string) []string {
	text, _ := rawjson.String(r.take(nil, annotation))
	w, _ := rawjson.Open([]byte(text), 0, false) // of what is no JSON, nothing
	left := make(map[string]bool, len(keys))
	for _, key := range keys {
		left[key] = true
	}
	all := make([]string, 0, len(keys))
	for w.Next() {
		if key, _ := rawjson.String(w.Value()); left[key] {
			all = append(all, key)
			delete(left, key)
		}
	}
	for _, key := range keys {
		if left[key] {
			all = append(all, key)
		}
	}
	return all
}
