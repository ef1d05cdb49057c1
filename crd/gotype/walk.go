package gotype

import "unicode/utf8"

// Complete adds to a tree what an object of the type would say of itself, and takes out
// what it would not say. ok tells that the tree is what the type would make of it then;
// else some of that was done, which it would do, too. What is in the tree may be changed.
func (t *Type) Complete(tree map[string]any) (ok bool) { return t.object(tree, true) }

// Keeps tells that a tree is what the type makes of it, as JSON and as protobuf. It may
// say no of one that is, and leaves the tree as it is.
func (t *Type) Keeps(tree map[string]any) bool { return t.object(tree, false) }

// object does as Complete or as Keeps with what is a struct or a map.
func (t *Type) object(tree map[string]any, complete bool) bool {
	if t.kind != aStruct || tree == nil {
		return false
	}
	there := 0 // of those that are written anyway
	for name, v := range tree {
		f := t.fields[name]
		if f == nil || f.lost && !complete {
			return false
		}
		if f.saysNothing(v) {
			switch {
			case complete:
				delete(tree, name)
				continue
			case v != nil || f.omitted || !f.of.nothingIsNull(f.pointed):
				return false
			}
		} else if !f.of.value(v, complete) {
			return false
		}
		if !f.omitted {
			there++
		}
	}
	switch {
	case there == len(t.written):
		return true
	case !complete:
		return false
	}
	for _, f := range t.written {
		if _, ok := tree[f.name]; ok {
			continue
		}
		v, ok := f.of.nothing(f.pointed)
		if !ok {
			return false
		}
		tree[f.name] = v
	}
	return true
}

// saysNothing tells that a value is null, or not written where the field is omitted.
func (f *field) saysNothing(v any) bool {
	if v == nil {
		return true
	}
	if !f.omitted || f.pointed {
		return false
	}
	switch x := v.(type) {
	case string:
		return x == "" && f.of.kind == aString
	case bool:
		return !x && f.of.kind == aBool
	case int64:
		return x == 0 && f.of.kind == anInteger
	case map[string]any:
		return len(x) == 0 && f.of.kind == aMap
	case []any:
		return len(x) == 0 && f.of.kind == aList
	}
	return false
}

// nothing is what is written of a value of which nothing was said.
func (t *Type) nothing(pointed bool) (v any, ok bool) {
	if t.nothingIsNull(pointed) {
		return nil, t.kind != unknown
	}
	switch t.kind {
	case aString:
		return "", true
	case aBool:
		return false, true
	case anInteger, intOrString:
		return int64(0), true
	case aQuantity:
		return "0", true
	case aStruct:
		tree := map[string]any{}
		return tree, t.object(tree, true)
	}
	return nil, false
}

// nothingIsNull tells that what is nothing is written as null.
func (t *Type) nothingIsNull(pointed bool) bool {
	switch t.kind {
	case aMap, aList, bytes64, aTime, aMicroTime:
		return true
	}
	return pointed
}

// value does as [Type.object] with a value that is not null.
func (t *Type) value(v any, complete bool) bool {
	switch x := v.(type) {
	case map[string]any:
		if t.kind == aMap {
			return t.entries(x, complete)
		}
		return t.object(x, complete)
	case []any:
		return t.kind == aList && t.items(x, complete)
	case string:
		return t.text(x)
	case bool:
		return t.kind == aBool
	case int64:
		narrow := int64(int32(x)) == x
		return t.kind == anInteger && (narrow || t.bits == 64) || t.kind == intOrString && narrow
	}
	return false
}

// entries does as [Type.object] with a map. Protobuf does not know an empty one.
func (t *Type) entries(m map[string]any, complete bool) bool {
	if len(m) == 0 {
		return false
	}
	for k, v := range m {
		if !utf8.ValidString(k) || v == nil || !t.elem.value(v, complete) {
			return false
		}
	}
	return true
}

// items does as [Type.object] with a list. Protobuf does not know an empty one.
func (t *Type) items(list []any, complete bool) bool {
	if len(list) == 0 {
		return false
	}
	for _, v := range list {
		if v == nil || !t.elem.value(v, complete) {
			return false
		}
	}
	return true
}
