package sdk

import (
	"strings"

	"github.com/wasmgate/wasmgate/sdk/rawjson"
)

// appendChanges appends the operations of a JSON patch (RFC 6902) that make
// after of before, which is at path. Objects are compared field by field;
// anything else is replaced as a whole, and what is written the same is the
// same. dst begins with a bracket.
func appendChanges(dst []byte, path string, before, after []byte) []byte {
	if string(before) == string(after) {
		return dst
	}
	was, ok := fieldsOf(before)
	is, both := fieldsOf(after)
	if !ok || !both {
		return appendOperation(dst, "replace", path, after)
	}
	next := make(map[string][]byte, len(is))
	for _, f := range is {
		next[f.name] = f.value
	}
	known := make(map[string]bool, len(was))
	for _, f := range was {
		known[f.name] = true
		at := path + "/" + pointer(f.name)
		if value, there := next[f.name]; there {
			dst = appendChanges(dst, at, f.value, value)
		} else {
			dst = appendOperation(dst, "remove", at, nil)
		}
	}
	for _, f := range is {
		if !known[f.name] {
			dst = appendOperation(dst, "add", path+"/"+pointer(f.name), f.value)
		}
	}
	return dst
}

// named is a field of a JSON object.
type named struct {
	name  string
	value []byte
}

// fieldsOf returns the fields of a JSON object; ok is false for anything else.
func fieldsOf(raw []byte) (fields []named, ok bool) {
	w, err := rawjson.Open(raw, 0, true)
	if err != nil || !w.IsObject() {
		return nil, false
	}
	for w.Next() {
		name := rawjson.Unescape(w.Key())
		fields = append(fields, named{name, w.Value()})
	}
	return fields, w.Err() == nil
}

// pointer is a field's name as a part of a JSON pointer (RFC 6901).
func pointer(name string) string {
	return strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1")
}

func appendOperation(dst []byte, op, path string, value []byte) []byte {
	if len(dst) > 1 {
		dst = append(dst, ',')
	}
	dst = append(append(dst, `{"op":"`...), op...)
	dst = rawjson.AppendString(append(dst, `","path":`...), path)
	if value != nil {
		dst = append(append(dst, `,"value":`...), value...)
	}
	return append(dst, '}')
}
