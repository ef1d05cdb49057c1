package definition

import (
	"errors"
	"fmt"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/wasmgate/wasmgate/crd/object"
)

// codec is the stored form, which is kube-apiserver's: JSON at v1beta1, the
// version that was current when the first definitions were stored. It reads v1
// and protobuf as well.
type codec struct{}

var stored = codecs.LegacyCodec(v1beta1.SchemeGroupVersion)

func (codec) Decode(data []byte) (map[string]any, error) {
	data, err := asJSON(data)
	if err != nil {
		return nil, err
	}
	var found texts
	head, err := replaced(data, func(part int, text []byte) []byte {
		if part == managedFields {
			return text
		}
		found.add(part, text)
		return []byte(`{}`)
	})
	if err != nil {
		return nil, fmt.Errorf("stored object: %w", err)
	}
	tree, err := decodeHead(head)
	if err != nil {
		return nil, err
	}
	return found.in(tree)
}

func decodeHead(text []byte) (map[string]any, error) {
	obj, err := runtime.Decode(codecs.UniversalDecoder(), text)
	if err != nil {
		return nil, fmt.Errorf("stored object: %w", err)
	}
	in, ok := obj.(*apiextensions.CustomResourceDefinition)
	if !ok {
		return nil, fmt.Errorf("stored object: it is a %T", obj)
	}
	return fromInternal(in)
}

// in puts the schemas into the tree at v1 of their definition.
func (t *texts) in(tree map[string]any) (_ map[string]any, err error) {
	out := withSchemas(tree, func(version int, schema any) any {
		text := t.of(version)
		if text == nil || err != nil {
			return schema
		}
		var read map[string]any
		if read, _, err = object.Parse(text); err != nil {
			err = fmt.Errorf("stored object: the schema of version %d: %w", version, err)
		}
		return read
	})
	return out, err
}

func (codec) Encode(tree map[string]any) ([]byte, error) {
	var h heads
	head, schemas := h.of(tree)
	in, err := internal(head)
	if err != nil {
		return nil, err
	}
	text, err := runtime.Encode(stored, in)
	if err != nil {
		return nil, err
	}
	var failed error
	text, err = replaced(text, func(part int, text []byte) []byte {
		switch part {
		case managedFields:
			return text
		case allVersions:
			part = 0 // they are all equal
		}
		schema, err := schemaOrder().append(nil, schemas[part])
		failed = errors.Join(failed, err)
		return schema
	})
	return text, errors.Join(failed, err)
}
