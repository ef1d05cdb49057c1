package object

import (
	"bytes"
	"time"
	"unicode/utf8"

	"github.com/wasmgate/wasmgate/sdk/rawjson"
)

// Managed is metadata.managedFields as a tree holds it: the raw JSON of the
// list. Nothing but field management looks inside, so it is passed on and not
// taken apart. It is immutable, and only valid in that one place.
type Managed []byte

const managedField = "managedFields"

// ParseObject is [Parse] of an object whose metadata.managedFields, if they
// have the form of the API's own type, become a [Managed]; else they are parsed
// like the rest.
func ParseObject(data []byte) (tree map[string]any, duplicates []string, err error) {
	return parse(parser{data: data, whole: true})
}

// managed reads metadata.managedFields of a whole object. ok is false, and
// nothing is read, where they are anything but well-formed.
func (p *parser) managed(key string) (m Managed, ok bool) {
	if !p.whole || p.depth != 2 || key != managedField || p.path[0].field != "metadata" {
		return nil, false
	}
	end, ok := ManagedEnd(p.data, p.i)
	if !ok {
		return nil, false
	}
	m = Managed(bytes.Clone(p.data[p.i:end]))
	p.i = end
	return m, true
}

// ManagedEnd is the position after the value at i of data, which is JSON before
// that. ok tells that it is managedFields that a tree holds as a [Managed].
func ManagedEnd(data []byte, i int) (end int, ok bool) {
	i = rawjson.Space(data, i)
	w, err := rawjson.Open(data, i, false)
	if err != nil || w.IsObject() {
		return i, false
	}
	entries := 0
	for w.Next() {
		entries++
		end, ok := managerEnd(data, w.At())
		if !ok {
			return i, false
		}
		w.Resume(end)
	}
	end = w.End()
	return end, w.Err() == nil && entries > 0 && utf8.Valid(data[i:end])
}

// managerFields are the fields of an entry, in no order.
var managerFields = [...]string{"manager", "operation", "apiVersion", "time", "fieldsType", "fieldsV1", "subresource"}

// managerEnd is the position after the entry of managedFields at i. They may be
// half of an object, so this walk is the only one, and checks that it is JSON.
func managerEnd(data []byte, i int) (end int, ok bool) {
	w, err := rawjson.Open(data, i, false)
	if err != nil || !w.IsObject() {
		return i, false
	}
	var seen [len(managerFields)]bool
	for w.Next() {
		key, value := w.Key(), w.Value()
		n := 0
		for n < len(managerFields) && managerFields[n] != string(key) {
			n++
		}
		if n == len(managerFields) || seen[n] || value == nil {
			return i, false
		}
		seen[n] = true
		switch managerFields[n] {
		case "fieldsV1":
			if value[0] != '{' {
				return i, false
			}
		case "time":
			s, ok := rawjson.String(value)
			if !ok || !IsTime(s) {
				return i, false
			}
		default:
			if value[0] != '"' {
				return i, false
			}
		}
	}
	return w.End(), w.Err() == nil
}

// AsWritten tells that m is as [FromTyped] writes managedFields: without spaces, with the
// fields of each manager in order and none that is empty. It may say no of such ones.
func (m Managed) AsWritten() bool {
	if end, ok := ManagedEnd(m, 0); !ok || end != len(m) || !compact(m) {
		return false
	}
	w, _ := rawjson.Open(m, 0, false)
	for w.Next() {
		if !managerAsWritten(w.Value()) {
			return false
		}
	}
	return w.Err() == nil
}

// writtenFields are the fields of an entry in the order in which they are written.
var writtenFields = [...]string{"apiVersion", "fieldsType", "fieldsV1", "manager", "operation", "subresource", "time"}

func managerAsWritten(entry []byte) bool {
	w, err := rawjson.Open(entry, 0, false)
	if err != nil {
		return false
	}
	n := 0
	for w.Next() {
		key, value := w.Key(), w.Value()
		for n < len(writtenFields) && writtenFields[n] != string(key) {
			n++
		}
		if n == len(writtenFields) || string(value) == `""` || string(value) == epoch {
			return false
		}
		if writtenFields[n] != "fieldsV1" && bytes.IndexByte(value, '\\') >= 0 {
			return false
		}
		n++
	}
	return w.Err() == nil
}

// epoch is no time at all as protobuf.
const epoch = `"1970-01-01T00:00:00Z"`

// compact tells that a JSON text has no spaces but in its strings, and nothing there that
// is written in another way.
func compact(text []byte) bool {
	quoted := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case c == '<' || c == '>' || c == '&' || c >= utf8.RuneSelf || c <= ' ' && !(quoted && c == ' '):
			return false
		}
	}
	return true
}

// IsTime accepts times as the API prints them: in UTC, whole seconds.
func IsTime(s string) bool {
	if len(s) != len("2006-01-02T15:04:05Z") || s[len(s)-1] != 'Z' {
		return false
	}
	t, err := time.Parse(time.RFC3339, s)
	return err == nil && !t.IsZero()
}

// TakeManaged removes metadata.managedFields from a tree and returns them as
// JSON, nil when there are none. It fails only on values that a tree cannot
// hold.
func TakeManaged(tree map[string]any) (Managed, error) {
	meta, _ := tree["metadata"].(map[string]any)
	v, ok := meta[managedField]
	if !ok {
		return nil, nil
	}
	delete(meta, managedField)
	if m, ok := v.(Managed); ok || v == nil {
		return m, nil
	}
	return Encode(v)
}

// Detach removes metadata.managedFields from a tree if they are raw, and
// returns them; else it returns nil and leaves the tree as it is.
func Detach(tree map[string]any) Managed {
	meta, _ := tree["metadata"].(map[string]any)
	m, ok := meta[managedField].(Managed)
	if ok {
		delete(meta, managedField)
	}
	return m
}

// SetManaged sets metadata.managedFields of a tree that has metadata; empty
// means none.
func SetManaged(tree map[string]any, m Managed) {
	meta, ok := tree["metadata"].(map[string]any)
	switch {
	case ok && len(m) > 0:
		meta[managedField] = m
	case ok:
		delete(meta, managedField)
	}
}

// KeepManagers returns m without the entries whose apiVersion keep refuses, and
// whether there were any. Nil means that no entry is left.
func KeepManagers(m Managed, keep func(apiVersion string) bool) (kept Managed, changed bool) {
	w, err := rawjson.Open(m, 0, true)
	if err != nil || w.IsObject() {
		return m, false
	}
	for w.Next() {
		entry := w.Value()
		if apiVersion, _ := String(Field(entry, "apiVersion")); !keep(apiVersion) {
			changed = true
			continue
		}
		sep := byte(',')
		if kept == nil {
			kept, sep = make(Managed, 0, len(m)), '['
		}
		kept = append(append(kept, sep), entry...)
	}
	switch {
	case !changed:
		return m, false
	case kept == nil:
		return nil, true
	}
	return append(kept, ']'), true
}
