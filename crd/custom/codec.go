package custom

import (
	"bytes"
	"errors"
	"fmt"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/crd/object"
)

// JSON is the stored form of custom resources, byte for byte the one of
// kube-apiserver: canonical JSON and a newline. It also reads CBOR, which
// kube-apiserver stores when CBORServingAndStorage is on.
var JSON crd.TextCodec = jsonCodec{}

var cborPrefix = []byte{0xd9, 0xd9, 0xf7} // the tag "self-described CBOR"

type jsonCodec struct{}

func (jsonCodec) Decode(stored []byte) (map[string]any, error) {
	if bytes.HasPrefix(stored, cborPrefix) {
		var tree map[string]any
		if err := direct.Unmarshal(stored, &tree); err != nil {
			return nil, fmt.Errorf("stored object: %w", err)
		}
		if tree == nil {
			return nil, errors.New("stored object: it is null")
		}
		if !utf8Keys(tree) {
			return nil, errors.New("stored object: a key is not UTF-8")
		}
		return tree, nil
	}
	tree, _, err := object.ParseObject(stored)
	if err != nil {
		return nil, fmt.Errorf("stored object: %w", err)
	}
	return tree, nil
}

// utf8Keys tells that no key has what no JSON has: in CBOR a key may be a string of bytes.
func utf8Keys(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			if !utf8.ValidString(k) || !utf8Keys(e) {
				return false
			}
		}
	case []any:
		for _, e := range v {
			if !utf8Keys(e) {
				return false
			}
		}
	}
	return true
}

func (jsonCodec) Encode(obj map[string]any) ([]byte, error) {
	b, err := object.Encode(obj)
	if err != nil {
		return nil, err
	}
	return append(b, '\n'), nil
}

func (jsonCodec) EncodeText(text []byte) []byte { return append(text, '\n') }
