package definition

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
	if data, err = asJSON(data); err != nil {
		return nil, nil, err
	}
	var found texts
	rest, err := replaced(data, func(part int, text []byte) []byte {
		found.add(part, text)
		return null
	})
	if err != nil {
		return nil, nil, fmt.Errorf("stored object: %w", err)
	}
	if c, err = FromStored(rest); err != nil {
		return nil, nil, err
	}
	schemas = make([][]byte, len(c.Spec.Versions))
	for i := range schemas {
		c.Spec.Versions[i].Schema = nil
		schemas[i] = found.of(i)
	}
	return c, schemas, nil
}

// asJSON is a stored definition as JSON, whatever form it is stored in.
func asJSON(data []byte) ([]byte, error) {
	if len(data) > 0 && data[0] == '{' {
		return data, nil
	}
	c, err := FromStored(data)
	if err != nil {
		return nil, err
	}
	c.APIVersion, c.Kind = apiextensionsv1.SchemeGroupVersion.String(), Kind
	return json.Marshal(c)
}

// The parts of a definition's text that are found besides the schemas of its
// versions, which count from 0.
const (
	allVersions   = -1 - iota // the schema that stands for those of all versions, at v1beta1
	managedFields             // who owns what
)

// texts are the schemas in a definition's text, those of no content left out.
type texts struct {
	all  []byte
	each [][]byte
}

func (t *texts) add(part int, text []byte) {
	switch {
	case part == allVersions:
		t.all = text
	case part >= 0:
		t.each = append(t.each, make([][]byte, part+1-len(t.each))...)
		t.each[part] = text
	}
}

// of is the schema of a version.
func (t *texts) of(version int) []byte {
	switch {
	case t.all != nil:
		return t.all
	case version < len(t.each):
		return t.each[version]
	}
	return nil
}

var null = []byte("null")

// replaced is the text of a definition, at v1 or at v1beta1, with other parts,
// as fn says of each that is not null.
func replaced(data []byte, fn func(part int, text []byte) []byte) ([]byte, error) {
	f := finder{data: data, fn: fn, rest: make([]byte, 0, 4096)}
	err := f.definition()
	return append(f.rest, data[f.done:]...), err
}

// finder finds the parts of a definition's text and replaces them.
type finder struct {
	data []byte
	fn   func(part int, text []byte) []byte
	// rest is the text without what was found, up to done.
	rest []byte
	done int
}

func (f *finder) definition() error {
	return f.members(0, func(key string, at int) error {
		switch key {
		case "metadata":
			return f.members(at, func(key string, at int) error {
				if key == "managedFields" {
					f.replace(managedFields, at)
				}
				return nil
			})
		case "spec":
			return f.members(at, f.spec)
		}
		return nil
	})
}

func (f *finder) spec(key string, at int) error {
	switch key {
	case "validation":
		return f.schema(allVersions, at)
	case "versions":
		version := -1
		return f.members(at, func(_ string, at int) error {
			version++
			return f.members(at, func(key string, at int) error {
				if key == "schema" {
					return f.schema(version, at)
				}
				return nil
			})
		})
	}
	return nil
}

// schema replaces the schema in what validates a version.
func (f *finder) schema(part, at int) error {
	return f.members(at, func(key string, at int) error {
		if key == "openAPIV3Schema" {
			f.replace(part, at)
		}
		return nil
	})
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

// replace replaces the value at a position.
func (f *finder) replace(part, at int) {
	end := rawjson.Pass(f.data, at)
	value := bytes.TrimSpace(f.data[at:end])
	if bytes.Equal(value, null) {
		return
	}
	f.rest = append(append(f.rest, f.data[f.done:at]...), f.fn(part, value)...)
	f.done = end
}
