package audit

import (
	"github.com/wasmgate/wasmgate/sdk/rawjson"
)

// place is where in a body the walk is that leaves managedFields out.
type place uint8

const (
	inBody place = iota
	inItem
	inMetadata
	inRow
)

// withoutManaged is JSON that is valid without metadata.managedFields: of an object, of
// the items of a list, and of the objects in the rows of a table.
func withoutManaged(data []byte) []byte {
	return appendUnmanaged(make([]byte, 0, len(data)), data, inBody)
}

// appendUnmanaged appends a value that stands at a place.
func appendUnmanaged(dst, data []byte, at place) []byte {
	w, err := rawjson.Open(data, 0, true)
	if err != nil || !w.IsObject() {
		return append(dst, data...)
	}
	first := true
	dst = append(dst, '{')
	for w.Next() {
		key, value := w.Key(), w.Value()
		name := rawjson.Unescape(key)
		if at == inMetadata && name == "managedFields" {
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = append(append(append(dst, '"'), key...), '"', ':')
		switch {
		case name == "metadata" && (at == inBody || at == inItem):
			dst = appendUnmanaged(dst, value, inMetadata)
		case name == "items" && at == inBody:
			dst = appendEach(dst, value, inItem)
		case name == "rows" && at == inBody:
			dst = appendEach(dst, value, inRow)
		case name == "object" && at == inRow:
			dst = appendUnmanaged(dst, value, inItem)
		default:
			dst = append(dst, value...)
		}
	}
	return append(dst, '}')
}

// appendEach appends a list whose items stand at a place.
func appendEach(dst, data []byte, at place) []byte {
	w, err := rawjson.Open(data, 0, true)
	if err != nil || w.IsObject() {
		return append(dst, data...)
	}
	first := true
	dst = append(dst, '[')
	for w.Next() {
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = appendUnmanaged(dst, w.Value(), at)
	}
	return append(dst, ']')
}
