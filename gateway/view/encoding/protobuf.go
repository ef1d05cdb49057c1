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
func (message) Single(o Object, kind schema.GroupVersionKind) ([]byte, error) {
	return o.(*wire.Message).AppendEnvelope(nil, kind.GroupVersion().String(), kind.Kind), nil
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

// Event implements [Codec].
func (message) Event(scratch *[]byte, event string, o Object, kind schema.GroupVersionKind) (f Frame, err error) {
	if e, ok := o.(Encoded); ok {
		return Frame{Body: wire.AppendFrame(nil, event, e.Text)}, nil
	}
	f.Head, f.Body, f.Tail = o.(*wire.Message).Frame((*scratch)[:0], event, kind.GroupVersion().String(), kind.Kind)
	*scratch = f.Head
	return f, nil
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
