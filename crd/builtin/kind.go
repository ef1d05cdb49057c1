package builtin

import (
	"reflect"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/crd/reflectschema"
)

// goObject is a pointer to an object of a Go type of the Kubernetes API.
type goObject interface {
	runtime.Object
	metav1.Object
	Unmarshal([]byte) error
}

// goType is a pointer to a Go type of the Kubernetes API.
type goType[T any] interface {
	*T
	goObject
}

// kind describes a built-in kind that has a Go type.
type kind[T any] struct {
	group, version, name, plural string
	shortNames, categories       []string
	namespaced                   bool
	verbs                        []string
	// alike are other versions of the group whose protobuf messages have the
	// same layout, so that objects stored by another server can be read.
	alike []string
	// storedAs is one of alike that kube-apiserver still stores objects as, ""
	// for the version itself.
	storedAs string
	// defaults fills in a tree that has been read into the Go type once.
	defaults func(obj map[string]any)
	rules    rules[T]
	columns  []metav1.TableColumnDefinition
	cells    func(*T) []any

	fieldNames []string
	fieldSet   func(obj map[string]any) fields.Set
}

// define makes the definition of k, which has one version.
func define[T any, P goType[T]](k kind[T]) *crd.Definition {
	t := reflect.TypeFor[T]()
	d := &crd.Definition{
		Group:          k.group,
		Plural:         k.plural,
		Singular:       lower(k.name),
		Kind:           k.name,
		ListKind:       k.name + "List",
		ShortNames:     k.shortNames,
		Categories:     k.categories,
		Namespaced:     k.namespaced,
		StorageVersion: k.version,
		KeyPrefix:      k.plural,
		Verbs:          k.verbs,
	}
	fresh := func() goObject { return P(new(T)) }
	d.Codec = newCodec(d.GVK(k.version), k.storedAs, k.alike, fresh)
	d.Versions = []*crd.Version{{
		Name:             k.version,
		Served:           true,
		Shape:            &shape{fresh: fresh, defaults: sure(k.defaults)},
		Strategy:         newStrategy(k.namespaced, k.rules),
		Subresources:     map[string]*crd.Subresource{},
		Table:            &table[T]{columns: k.columns, cells: k.cells},
		SelectableFields: k.fieldNames,
		Fields:           k.fieldSet,
		Schema:           sync.OnceValue(func() *apiextensionsv1.JSONSchemaProps { return reflectschema.For(t) }),
		Typed:            func() runtime.Object { return P(new(T)) },
	}}
	return d
}

// sure makes of defaults written in Go, which cannot fail, ones that may.
func sure(defaults func(map[string]any)) func(map[string]any) error {
	if defaults == nil {
		return nil
	}
	return func(obj map[string]any) error {
		defaults(obj)
		return nil
	}
}
