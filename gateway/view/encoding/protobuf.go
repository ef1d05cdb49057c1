package encoding

import (
	"strings"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/crd/wire"
)

// message is protobuf. Its objects are [*wire.Message]; what is kept is the bare
// message, whose resourceVersion is not to be trusted.
type message struct{}

// Document implements [Codec], by way of the Go type. What is stored as protobuf
// takes a shorter way.
func (message) Document(text []byte, version *crd.Version) ([]byte, error) {
	kind, _ := object.String(object.Field(text, "kind"))
	apiVersion, _ := object.String(object.Field(text, "apiVersion"))
	raw, err := wire.FromJSON(text, typeOf(version, apiVersion, kind))
	if err != nil {
		return nil, err
	}
	return wire.AppendEnvelope(nil, apiVersion, kind, raw), nil
}

// metaGroup begins the apiVersion of what is made of objects.
const metaGroup = "meta.k8s.io/"

// typeOf is the Go type of what replies hold besides objects of the request's
// kind, or that of the version.
func typeOf(version *crd.Version, apiVersion, kind string) runtime.Object {
	switch {
	case kind == "Status" && apiVersion == "v1":
		return &metav1.Status{}
	case kind == "Scale" && apiVersion == "autoscaling/v1":
		return &autoscalingv1.Scale{}
	case kind == "PartialObjectMetadata" && strings.HasPrefix(apiVersion, metaGroup):
		return &metav1.PartialObjectMetadata{}
	}
	return version.Typed()
}

// Single implements [Codec].
func (message) Single(scratch *[]byte, o Object, kind schema.GroupVersionKind) ([]byte, error) {
	m, apiVersion := o.(*wire.Message), kind.GroupVersion().String()
	if scratch == nil {
		return m.AppendEnvelope(nil, apiVersion, kind.Kind), nil
	}
	*scratch = m.AppendEnvelope((*scratch)[:0], apiVersion, kind.Kind)
	return *scratch, nil
}

// Around implements [Codec].
func (message) Around(l *List, _, size int) (head, tail []byte, err error) {
	around, err := wire.NewList(l.APIVersion, l.Kind, l.ListMeta, size)
	return around.Head, around.Tail, err
}

// AppendItem implements [Codec].
func (message) AppendItem(dst []byte, o Object) ([]byte, error) {
	return o.(*wire.Message).AppendItem(dst), nil
}

// AppendEvent implements [Codec].
func (message) AppendEvent(dst []byte, event string, single []byte) []byte {
	return wire.AppendFrame(dst, event, single)
}

// Keep implements [Keeper].
func (message) Keep(text []byte, in Encoding, version *crd.Version) ([]byte, error) {
	if in.Form == Metadata {
		return wire.FromJSON(text, &metav1.PartialObjectMetadata{})
	}
	return wire.FromJSON(text, version.Typed())
}

// Object implements [Keeper].
func (message) Object(kept []byte, revision int64) (Object, error) {
	m, err := wire.New(kept, revision)
	return &m, err
}

// ItemSize implements [Keeper].
func (message) ItemSize(o Object) int { return o.(*wire.Message).ItemSize() }
