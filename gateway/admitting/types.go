package admitting

import (
	"reflect"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	crdschema "github.com/wasmgate/wasmgate/crd/schema"
	"github.com/wasmgate/wasmgate/gateway/catalog"
)

// Types implements [policy.Types] by what is served.
type Types struct{ Catalog *catalog.Catalog }

// Kind implements [policy.Types].
func (t Types) Kind(r schema.GroupVersionResource) (schema.GroupVersionKind, bool) {
	if found, v := t.Catalog.Snapshot().Find(r.Group, r.Version, r.Resource); found != nil {
		return found.Def.GVK(v.Name), true
	}
	return schema.GroupVersionKind{}, false
}

// Schema implements [policy.Types].
func (t Types) Schema(kind schema.GroupVersionKind) *apiextensionsv1.JSONSchemaProps {
	r := params{t.Catalog}.resource(kind)
	if r == nil {
		return nil
	}
	s := r.Def.At(kind.GroupVersion().String()).OpenAPISchema()
	if s == nil {
		return nil
	}
	whole := *s
	whole.Properties = map[string]apiextensionsv1.JSONSchemaProps{
		"apiVersion": {Type: "string"}, "kind": {Type: "string"}, "metadata": *crdschema.For(reflect.TypeFor[metav1.ObjectMeta]()),
	}
	for name, p := range s.Properties {
		if _, known := whole.Properties[name]; !known {
			whole.Properties[name] = p
		}
	}
	return &whole
}
