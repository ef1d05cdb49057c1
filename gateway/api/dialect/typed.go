package dialect

import (
	"cmp"
	"context"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/gateway/resource/scale"
)

// Messages reports whether objects of t have a protobuf form: those of Go types have.
func Messages(t resource.Target) bool { return t.Version.Native() }

// Routed reports whether a router looks at the Accept header of a request about t
// before its handler does.
func Routed(t resource.Target) bool { return t.Version.Native() }

// Untabled reports what no table shows: questions, and what is below an object that
// is not its status or its scale.
func Untabled(t resource.Target) bool {
	switch t.Subresource {
	case "":
		return t.Resource.Def.Question()
	case "status", "scale":
		return false
	}
	return t.Version.Native()
}

// Printer prints objects as rows of a table.
type Printer interface {
	ConvertToTable(ctx context.Context, list, options runtime.Object) (*metav1.Table, error)
}

// PrinterOf is what prints objects of t.
func PrinterOf(t resource.Target) Printer {
	if scale.Paths(t.Version, t.Subresource) != nil {
		return scale.Table{Native: t.Version.Native()}
	}
	return t.Version.Table
}

// GoType is the type that objects of t are in, as kube-apiserver names it to clients.
func GoType(t resource.Target) string {
	switch {
	case scale.Paths(t.Version, t.Subresource) != nil:
		return "v1.Scale"
	case !t.Version.Native():
		return "unstructured.Unstructured"
	}
	internal, _, _ := strings.Cut(cmp.Or(t.Resource.Def.Group, "core"), ".")
	return internal + "." + t.Resource.Def.Kind
}

// Whole is the object of t that has the metadata of bare and nothing else. What a Go
// type cannot leave out is there where the object is sent.
func Whole(t resource.Target, bare *metav1.PartialObjectMetadata) any {
	if !t.Version.Native() {
		return bare
	}
	whole := t.Version.Typed()
	whole.GetObjectKind().SetGroupVersionKind(bare.GroupVersionKind())
	if o, ok := whole.(metav1.Object); ok { // as all have that are stored
		o.SetResourceVersion(bare.ResourceVersion)
		o.SetAnnotations(bare.Annotations)
	}
	return whole
}
