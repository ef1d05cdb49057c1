package builtin

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"

	"github.com/wasmgate/wasmgate/crd/object"
)

// protobufPrefix marks stored protobuf; what lacks it is JSON.
var protobufPrefix = []byte("k8s\x00")

// serializer writes the envelope. It needs no scheme, because it is only given
// objects that carry their kind.
var serializer = protobuf.NewSerializer(nil, nil)

// codec stores objects as kube-apiserver stores its own: a protobuf envelope
// that names the kind, around the protobuf of the Go type. It also reads JSON.
type codec[T any, P goType[T]] struct {
	gvk    schema.GroupVersionKind
	stored schema.GroupVersionKind // that envelopes name
	alike  []string
}

func newCodec[T any, P goType[T]](gvk schema.GroupVersionKind, storedAs string, alike []string) *codec[T, P] {
	c := &codec[T, P]{gvk: gvk, stored: gvk, alike: alike}
	if storedAs != "" {
		c.stored.Version = storedAs
	}
	return c
}

// Encode implements [crd.Codec].
func (c *codec[T, P]) Encode(obj map[string]any) ([]byte, error) {
	typed := P(new(T))
	if err := toTyped(obj, typed); err != nil {
		return nil, fmt.Errorf("encode %s: %w", c.gvk.Kind, err)
	}
	typed.GetObjectKind().SetGroupVersionKind(c.stored)
	typed.SetResourceVersion("")
	typed.SetSelfLink("")
	var buf bytes.Buffer
	if err := serializer.Encode(typed, &buf); err != nil {
		return nil, fmt.Errorf("encode %s: %w", c.gvk.Kind, err)
	}
	return buf.Bytes(), nil
}

// Decode implements [crd.Codec].
func (c *codec[T, P]) Decode(stored []byte) (map[string]any, error) {
	typed := P(new(T))
	if err := c.read(stored, typed); err != nil {
		return nil, fmt.Errorf("decode %s: %w", c.gvk.Kind, err)
	}
	typed.GetObjectKind().SetGroupVersionKind(c.gvk)
	return toTree(typed)
}

func (c *codec[T, P]) read(stored []byte, typed P) error {
	raw, ok := bytes.CutPrefix(stored, protobufPrefix)
	if !ok {
		tree, _, err := object.ParseObject(stored)
		if err != nil {
			return err
		}
		return fromJSON(tree, typed)
	}
	var envelope runtime.Unknown
	if err := envelope.Unmarshal(raw); err != nil {
		return err
	}
	if envelope.ContentEncoding != "" {
		return fmt.Errorf("it has the content encoding %q", envelope.ContentEncoding)
	}
	switch envelope.ContentType {
	case "", runtime.ContentTypeProtobuf:
	default:
		return fmt.Errorf("it has the content type %q", envelope.ContentType)
	}
	gv, err := schema.ParseGroupVersion(envelope.APIVersion)
	if err != nil {
		return err
	}
	if gv.Group != c.gvk.Group || envelope.Kind != c.gvk.Kind {
		return fmt.Errorf("it is a %s of %s", envelope.Kind, envelope.APIVersion)
	}
	if gv.Version != c.gvk.Version && !slices.Contains(c.alike, gv.Version) {
		return errors.New("it has the unknown version " + envelope.APIVersion)
	}
	return typed.Unmarshal(envelope.Raw)
}
