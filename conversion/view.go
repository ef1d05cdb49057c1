package conversion

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/wasmgate/wasmgate/excerpt"
	"github.com/wasmgate/wasmgate/sdk/rawjson"
)

// MaxObjectBytes is the largest object that is accepted from a converter. It
// is far above what the store takes.
const MaxObjectBytes = 8 << 20

// view is where the parts of one object are that the contract is about. All
// slices are raw JSON values within data, nil when absent.
type view struct {
	data                 []byte
	apiVersion, kind     []byte
	apiVersionAt         int
	metadata             []byte
	metadataAt           int
	name, namespace, uid []byte
	labels, annotations  []byte
	managed              int // how many bytes of metadata are managedFields, about
}

// look finds the parts of an object, which is JSON unless the server is wrong.
func look(data []byte) (view, error) {
	return lookWith(data, nil, true)
}

// lookAtReply is look for what a converter made: no member is there twice, and,
// unless somebody has read it, all of it is JSON.
func lookAtReply(data []byte, read bool) (view, error) {
	var keys keys
	return lookWith(data, &keys, read)
}

// lookWith is look, and checks the keys of the members that have no meaning
// here, unless others is nil.
func lookWith(data []byte, others *keys, trusted bool) (view, error) {
	v := view{data: data}
	w, err := rawjson.Open(data, 0, trusted)
	if err != nil {
		return v, notAnObject(data, err)
	}
	if !w.IsObject() {
		return v, notAnObject(data, rawjson.ErrSyntax)
	}
	for w.Next() {
		switch key := w.Key(); {
		case rawjson.Equal(key, "apiVersion"):
			v.apiVersionAt = w.At()
			err = set(&v.apiVersion, w.Value(), "apiVersion")
		case rawjson.Equal(key, "kind"):
			err = set(&v.kind, w.Value(), "kind")
		case rawjson.Equal(key, "metadata"):
			err = v.lookAtMetadata(&w, trusted)
		default:
			if others != nil {
				err = others.add(key)
			}
			w.Value()
		}
		if err != nil {
			return v, err
		}
	}
	if w.Err() != nil {
		return v, w.Err()
	}
	if end := rawjson.Space(data, w.End()); end != len(data) {
		return v, fmt.Errorf("invalid character %q after top-level value", data[end])
	}
	return v, nil
}

// lookAtMetadata reads metadata in the same pass.
func (v *view) lookAtMetadata(w *rawjson.Walk, trusted bool) error {
	if v.metadata != nil {
		return duplicate("metadata")
	}
	v.metadataAt = w.At()
	m, err := rawjson.Open(v.data, v.metadataAt, trusted)
	if err != nil || !m.IsObject() {
		v.metadata = w.Value()
		return w.Err()
	}
	for m.Next() {
		switch key := m.Key(); {
		case rawjson.Equal(key, "name"):
			err = set(&v.name, m.Value(), "metadata.name")
		case rawjson.Equal(key, "namespace"):
			err = set(&v.namespace, m.Value(), "metadata.namespace")
		case rawjson.Equal(key, "uid"):
			err = set(&v.uid, m.Value(), "metadata.uid")
		case rawjson.Equal(key, "labels"):
			err = set(&v.labels, m.Value(), "metadata.labels")
		case rawjson.Equal(key, "annotations"):
			err = set(&v.annotations, m.Value(), "metadata.annotations")
		default:
			value := m.Value()
			if rawjson.Equal(key, managedFields) {
				v.managed += len(value)
			}
		}
		if err != nil {
			return err
		}
	}
	if m.Err() != nil {
		return m.Err()
	}
	v.metadata = v.data[v.metadataAt:m.End()]
	w.Resume(m.End())
	return nil
}

// set refuses a field that is there twice: which of the two counts would
// depend on who reads it.
func set(field *[]byte, value []byte, name string) error {
	if *field != nil {
		return duplicate(name)
	}
	*field = value
	return nil
}

func duplicate(name string) error {
	return fmt.Errorf("duplicate field %q", excerpt.Of(name, maxExcerpt))
}

// notAnObject words the error as encoding/json does.
func notAnObject(data []byte, err error) error {
	end, scanErr := rawjson.Skip(data, 0)
	if scanErr != nil || rawjson.Space(data, end) != len(data) {
		return err
	}
	value := bytes.TrimSpace(data)
	if rawjson.IsNull(value) {
		return errors.New("unexpected end of JSON input")
	}
	name := map[byte]string{'"': "string", '[': "array", 't': "bool", 'f': "bool"}[value[0]]
	if name == "" {
		name = "number"
	}
	return fmt.Errorf("json: cannot unmarshal %s into Go value of type map[string]interface {}", name)
}

// text is the string a raw value stands for; anything but a string counts as
// absent, as in unstructured objects.
func text(raw []byte) string {
	s, _ := rawjson.String(raw)
	return s
}

func sameText(a, b []byte) bool { return bytes.Equal(a, b) || text(a) == text(b) }

func (v *view) apiVersionString() string { return text(v.apiVersion) }
func (v *view) kindString() string       { return text(v.kind) }

// namespaceOf is the namespace of an object as it is written there, nil for none. It
// reads no further.
func namespaceOf(data []byte) []byte { return memberOf(memberOf(data, "metadata"), "namespace") }

// memberOf is the value of a member of an object, nil where there is none.
func memberOf(data []byte, name string) []byte {
	w, err := rawjson.Open(data, 0, false)
	if err != nil || !w.IsObject() {
		return nil
	}
	for w.Next() {
		if rawjson.Equal(w.Key(), name) {
			return w.Value()
		}
		w.Value()
	}
	return nil
}

// nameString is namespace/name, or name without a namespace.
func (v *view) nameString() string {
	if ns := text(v.namespace); ns != "" {
		return ns + "/" + text(v.name)
	}
	return text(v.name)
}

// is says whether a raw value is the string s.
func is(raw []byte, s string) bool {
	return len(raw) >= 2 && raw[0] == '"' && rawjson.Equal(raw[1:len(raw)-1], s)
}
