package definitions

import (
	"bytes"
	"encoding/json"
	"fmt"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/wasmgate/wasmgate/sdk/rawjson"
)

// FromStored reads a definition as the store holds it, in any of its forms.
func FromStored(data []byte) (*apiextensionsv1.CustomResourceDefinition, error) {
	obj, err := runtime.Decode(codecs.UniversalDecoder(), data)
	if err != nil {
		return nil, fmt.Errorf("stored object: %w", err)
	}
	in, ok := obj.(*apiextensions.CustomResourceDefinition)
	if !ok {
		return nil, fmt.Errorf("stored object: it is a %T", obj)
	}
	out := &apiextensionsv1.CustomResourceDefinition{}
	return out, scheme.Convert(in, out, nil)
}

// Outline reads a stored definition without the schemas, which are nearly all
// of it, and without managedFields; schemas are those of its versions, in
// order, as JSON, empty for none. They share memory with data.
func Outline(data []byte) (c *apiextensionsv1.CustomResourceDefinition, schemas [][]byte, err error) {
	if len(data) == 0 || data[0] != '{' {
		return outlineOf(data)
	}
	var f finder
	if err := f.definition(data); err != nil {
		return nil, nil, fmt.Errorf("stored object: %w", err)
	}
	if c, err = FromStored(f.rest); err != nil {
		return nil, nil, err
	}
	schemas = make([][]byte, len(c.Spec.Versions))
	for i := range schemas {
		c.Spec.Versions[i].Schema = nil
		switch {
		case f.all != nil:
			schemas[i] = openAPI(f.all)
		case i < len(f.each):
			schemas[i] = openAPI(f.each[i])
		}
	}
	return c, schemas, nil
}

// outlineOf is Outline of a form that is not JSON.
func outlineOf(data []byte) (*apiextensionsv1.CustomResourceDefinition, [][]byte, error) {
	c, err := FromStored(data)
	if err != nil {
		return nil, nil, err
	}
	c.APIVersion, c.Kind = apiextensionsv1.SchemeGroupVersion.String(), Kind
	text, err := json.Marshal(c)
	if err != nil {
		return nil, nil, err
	}
	return Outline(text)
}

// finder finds the schemas in the text of a definition, at v1 or at v1beta1,
// where one schema may stand for all versions.
type finder struct {
	all  []byte
	each [][]byte
	// rest is the text without what was found.
	rest []byte
	data []byte
	done int // how much of data is in rest
}

func (f *finder) definition(data []byte) error {
	f.data, f.rest = data, make([]byte, 0, 4096)
	err := f.members(0, func(key string, at int) error {
		switch key {
		case "metadata":
			return f.members(at, func(key string, at int) error {
				if key == "managedFields" {
					f.cut(at)
				}
				return nil
			})
		case "spec":
			return f.members(at, f.spec)
		}
		return nil
	})
	f.rest = append(f.rest, data[f.done:]...)
	return err
}

func (f *finder) spec(key string, at int) error {
	switch key {
	case "validation":
		f.all = f.cut(at)
	case "versions":
		return f.members(at, func(_ string, at int) error {
			f.each = append(f.each, nil)
			return f.members(at, func(key string, at int) error {
				if key == "schema" {
					f.each[len(f.each)-1] = f.cut(at)
				}
				return nil
			})
		})
	}
	return nil
}

// members calls fn with the key and the position of each member of an object,
// or of each element of a list. What is neither has none.
func (f *finder) members(at int, fn func(key string, at int) error) error {
	if c := f.data[rawjson.Space(f.data, at):]; len(c) == 0 || c[0] != '{' && c[0] != '[' {
		return nil
	}
	w, err := rawjson.Open(f.data, at, false)
	if err != nil {
		return err
	}
	for w.Next() {
		at := w.At()
		if w.Value() == nil {
			break
		}
		if err := fn(string(w.Key()), at); err != nil {
			return err
		}
	}
	return w.Err()
}

// cut takes the value at a position out of the rest, and returns it; nil for
// null.
func (f *finder) cut(at int) []byte {
	end := rawjson.Pass(f.data, at)
	value := bytes.TrimSpace(f.data[at:end])
	f.rest = append(append(f.rest, f.data[f.done:at]...), "null"...)
	f.done = end
	if string(value) == "null" {
		return nil
	}
	return value
}

// openAPI is the schema in what validates a version.
func openAPI(validation []byte) []byte {
	w, err := rawjson.Open(validation, 0, true)
	if err != nil {
		return nil
	}
	for w.Next() {
		value := w.Value()
		if string(w.Key()) == "openAPIV3Schema" && string(value) != "null" {
			return value
		}
	}
	return nil
}
