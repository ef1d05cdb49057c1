package builtin

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"

	"github.com/wasmgate/wasmgate/crd/builtin/extend"
	"github.com/wasmgate/wasmgate/crd/gotype"
	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/crd/quantity"
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
	fresh func() object.GoObject
	of    *gotype.Type // of what is fresh
	// others are the versions that have a Go type of their own: what is stored
	// at one of them stays there until it is converted.
	others extend.Layouts
	// older are the versions that are read as what they are at the storage version.
	older extend.Older
}

func newCodec(gvk schema.GroupVersionKind, storedAs string, alike []string, fresh func() object.GoObject) *codec {
	c := &codec{gvk: gvk, stored: gvk, alike: alike, fresh: fresh, of: goType(fresh)}
	if storedAs != "" {
		c.stored.Version = storedAs
	}
	return c
}

// Encode implements [crd.Codec].
func (c *codec) Encode(obj map[string]any) ([]byte, error) {
	typed, as := c.fresh(), c.stored
	if apiVersion, _ := obj["apiVersion"].(string); c.others[apiVersion] != nil {
		typed, as = c.others[apiVersion].Fresh(), schema.FromAPIVersionAndKind(apiVersion, c.gvk.Kind)
	}
	if err := object.ToTyped(obj, typed); err != nil {
		return nil, fmt.Errorf("encode %s: %w", c.gvk.Kind, err)
	}
	typed.GetObjectKind().SetGroupVersionKind(as)
	typed.SetResourceVersion("")
	typed.SetSelfLink("")
	var buf bytes.Buffer
	if err := serializer.Encode(typed, &buf); err != nil {
		return nil, fmt.Errorf("encode %s: %w", c.gvk.Kind, err)
	}
	return buf.Bytes(), nil
}

// Keeps implements [crd.KeepingCodec].
func (c *codec) Keeps(obj map[string]any) bool {
	if c.stored != c.gvk || obj["apiVersion"] != c.gvk.GroupVersion().String() || obj["kind"] != c.gvk.Kind {
		return false
	}
	meta, _ := obj["metadata"].(map[string]any)
	if meta["resourceVersion"] != nil || meta["selfLink"] != nil {
		return false
	}
	managed := object.Detach(obj)
	if managed == nil {
		return c.of.Keeps(obj)
	}
	defer object.SetManaged(obj, managed)
	return managed.AsWritten() && c.of.Keeps(obj)
}

// Decode implements [crd.Codec].
func (c *codec) Decode(stored []byte) (map[string]any, error) {
	typed, err := c.read(stored)
	if err != nil {
		return nil, fmt.Errorf("decode %s: %w", c.gvk.Kind, err)
	}
	quantity.RoundUp(typed) // as what is written is, so that what was written before that stays as it is
	return object.FromTyped(typed)
}

// read reads what is stored into the Go type of the version that it is to be seen
// at: the storage version, but for those that have one of their own.
func (c *codec) read(stored []byte) (object.GoObject, error) {
	raw, ok := bytes.CutPrefix(stored, protobufPrefix)
	if !ok {
		tree, _, err := object.ParseObject(stored)
		if err != nil {
			return nil, err
		}
		apiVersion, _ := tree["apiVersion"].(string)
		typed := c.empty(apiVersion)
		gvk := typed.GetObjectKind().GroupVersionKind()
		if err := fromJSON(tree, typed); err != nil {
			return nil, err
		}
		typed.GetObjectKind().SetGroupVersionKind(gvk)
		return c.renewed(typed, apiVersion)
	}
	var envelope runtime.Unknown
	if err := envelope.Unmarshal(raw); err != nil {
		return nil, err
	}
	if err := c.accepts(&envelope); err != nil {
		return nil, err
	}
	typed := c.empty(envelope.APIVersion)
	if err := quantity.CheckMessage(envelope.Raw, reflect.TypeOf(typed)); err != nil {
		return nil, err
	}
	if err := typed.Unmarshal(envelope.Raw); err != nil {
		return nil, err
	}
	return c.renewed(typed, envelope.APIVersion)
}

// renewed is what was read of an older version at the storage version.
func (c *codec) renewed(typed object.GoObject, apiVersion string) (object.GoObject, error) {
	old := c.older[apiVersion]
	if old == nil {
		return typed, nil
	}
	out, err := old.Renew(typed)
	if err != nil {
		return nil, err
	}
	out.GetObjectKind().SetGroupVersionKind(c.gvk)
	return out, nil
}

// empty is an object to read into what is stored at an apiVersion.
func (c *codec) empty(apiVersion string) object.GoObject {
	typed, gvk := c.fresh(), c.gvk
	if own := c.others[apiVersion]; own != nil {
		typed, gvk = own.Fresh(), schema.FromAPIVersionAndKind(apiVersion, c.gvk.Kind)
	} else if old := c.older[apiVersion]; old != nil {
		typed = old.Fresh()
	}
	typed.GetObjectKind().SetGroupVersionKind(gvk)
	return typed
}

// accepts tells why what an envelope has is not read.
func (c *codec) accepts(envelope *runtime.Unknown) error {
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
	own := c.others[envelope.APIVersion] != nil || c.older[envelope.APIVersion] != nil || gv.Group != "" && slices.Contains(c.alike, envelope.APIVersion)
	if gv.Group != c.gvk.Group && !own || envelope.Kind != c.gvk.Kind {
		return fmt.Errorf("it is a %s of %s", envelope.Kind, envelope.APIVersion)
	}
	if gv.Version != c.gvk.Version && !slices.Contains(c.alike, gv.Version) && !own {
		return errors.New("it has the unknown version " + envelope.APIVersion)
	}
	return nil
}
