package conversion

import (
	"github.com/wasmgate/wasmgate/sdk/rawjson"
)

// managedFields is the field of metadata that a lean converter is not sent.
const managedFields = "managedFields"

// Lean is [Checked] for a converter that has no use for metadata.managedFields,
// which are often more than half of an object: it is sent objects without them,
// and what it returns gets those of the original, as all metadata does that no
// converter may change.
//
// A converter that is checked already is returned as it is.
func Lean(c Converter, told Told) Converter {
	if isChecked(c) {
		return c
	}
	lean := newChecked(c)
	lean.lean, lean.told = true, told
	return lean
}

// Told is how messages about a converter speak of it.
type Told struct {
	// Converter is what it is.
	Converter string
	// Hint ends the messages about its failures, but for those that are its own
	// words; "" for none.
	Hint string
}

// asWebhook is what kube-apiserver says.
var asWebhook = Told{Converter: "conversion webhook"}

// unmanaged is the object without its managedFields, of which there have to be
// some.
func (v *view) unmanaged() []byte {
	w, _ := rawjson.Open(v.metadata, 0, true) // an object: look went through it
	out := make([]byte, 0, len(v.data)-v.managed)
	out = append(append(out, v.data[:v.metadataAt]...), '{')
	for w.Next() {
		if key, value := w.Key(), w.Value(); !rawjson.Equal(key, managedFields) {
			out = appendMember(out, key, value)
		}
	}
	out = append(out, '}')
	return append(out, v.data[v.metadataAt+len(v.metadata):]...)
}
