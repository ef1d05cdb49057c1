package sdk

import (
	"encoding/json"
)

// ConvertTyped registers a conversion between two structs. The whole object is
// decoded into From and To is encoded in its place, so fields that To does not
// have are dropped, and each object costs about ten times what [Convert] does.
//
// apiVersion, kind and metadata are kept. A struct that has metadata with
// labels or annotations changes these; to remove them all, encode an empty map
// (without omitempty).
func ConvertTyped[From, To any](from, to string, fn func(from *From, to *To) error) {
	Convert(from, to, Typed(fn))
}

// Typed makes a [Func] of a function between two structs; see [ConvertTyped].
func Typed[From, To any](fn func(from *From, to *To) error) Func {
	return func(o *Object) error {
		var in From
		var out To
		if err := json.Unmarshal(o.JSON(), &in); err != nil {
			return err
		}
		if err := fn(&in, &out); err != nil {
			return err
		}
		encoded, err := json.Marshal(&out)
		if err != nil {
			return err
		}
		return o.become(encoded, false)
	}
}

// Decode reads a field into v, with encoding/json. Without the field v stays
// as it is.
func (f Field) Decode(v any) error {
	raw := f.Raw()
	if raw == nil {
		return nil
	}
	return json.Unmarshal(raw, v)
}

// Encode makes the field what encoding/json makes of v; see [Field.SetRaw].
func (f Field) Encode(v any) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return f.SetRaw(raw)
}

// become replaces all fields but those that say what the object is. Labels and annotations
// that are not encoded stay, or go where only those that are encoded count.
func (o *Object) become(encoded []byte, onlyEncoded bool) error {
	next, err := Parse(encoded)
	if err != nil {
		return err
	}
	if metadata := o.At("metadata").Raw(); metadata != nil {
		kept := &Object{root: node{raw: metadata}}
		if kept.root.open(kept) {
			for _, name := range []string{"labels", "annotations"} {
				if raw := next.At("metadata", name).Raw(); raw != nil {
					if err := kept.At(name).SetRaw(raw); err != nil {
						return err
					}
				} else if onlyEncoded {
					kept.At(name).Delete()
				}
			}
		}
		next.root.grow(next, "metadata").put(kept.JSON())
	}
	for _, name := range []string{"apiVersion", "kind"} {
		if raw := o.At(name).Raw(); raw != nil {
			next.root.grow(next, name).put(raw)
		} else {
			next.At(name).Delete()
		}
	}
	o.root = next.root
	return nil
}
