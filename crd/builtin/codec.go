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
type codec struct {
	gvk    schema.GroupVersionKind
	stored schema.GroupVersionKind // that envelopes name
	alike  []string
	// fresh makes an empty object of the Go type.
	fresh func() goObject
}

func newCodec(gvk schema.GroupVersionKind, storedAs string, alike []string, fresh func() goObject) *codec {
	c := &codec{gvk: gvk, stored: gvk, alike: alike, fresh: fresh}
	if storedAs != "" {
		c.stored.Version = storedAs
	}
	return c
}

// Encode implements [crd.Codec].
func (c *codec) Encode(obj map[string]any) ([]byte, error) {
	typed := c.fresh()
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
func (c *codec) Decode(stored []byte) (map[string]any, error) {
	typed := c.fresh()
	if err := c.read(stored, typed); err != nil {
		return nil, fmt.Errorf("decode %s: %w", c.gvk.Kind, err)
	}
	typed.GetObjectKind().SetGroupVersionKind(c.gvk)
	return toTree(typed)
}

func (c *codec) read(stored []byte, typed goObject) error {
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
