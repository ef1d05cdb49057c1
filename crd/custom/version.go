package custom

import (
	"fmt"
	"sync"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apiextensions-apiserver/pkg/crdserverscheme"
	"k8s.io/apiextensions-apiserver/pkg/registry/customresource"
	"k8s.io/apiextensions-apiserver/pkg/registry/customresource/tableconvertor"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/crd/custom/accept"
)

// subresourceVerbs are served on every subresource of a custom resource.
var subresourceVerbs = []string{"get", "patch", "update"}

// newVersion is version v in terms of what it is compiled to.
func newVersion(c *apiextensionsv1.CustomResourceDefinition, v *apiextensionsv1.CustomResourceDefinitionVersion, made *compiled) (*crd.Version, error) {
	shape, whole := &deferredShape{made}, &strategy{made: made}
	out := &crd.Version{
		Name: v.Name, Served: v.Served, Deprecated: v.Deprecated,
		Warning: deprecationWarning(c, v), Table: table(v.AdditionalPrinterColumns),
		Shape: shape, Unchanged: shape.unchanged, Strategy: whole,
		Subresources: subresourcesOf(v.Subresources, whole, &strategy{made: made, status: true}),
	}
	var err error
	out.SelectableFields, out.Fields, err = selectableFields(v.SelectableFields)
	return out, err
}

// parts are what the schema of a version is compiled to.
type parts struct {
	shape *shape
	// quick accepts objects at once, nil for none.
	quick *accept.Object
	// namespaced: objects are in namespaces.
	namespaced bool
	// quantities: rules read some.
	quantities bool
	// hasStatus: the status is a subresource.
	hasStatus bool
	// library makes the library's strategies, of whole objects and of their status,
	// when they are first needed: that compiles CEL rules, about half a
	// millisecond for each. It is safe for concurrent use.
	library func() (whole library, status libraryUpdate)
}

func compileParts(c *apiextensionsv1.CustomResourceDefinition, v *apiextensionsv1.CustomResourceDefinitionVersion, d *crd.Definition) (*parts, error) {
	internal, err := internalSchema(v)
	if err != nil {
		return nil, err
	}
	s, err := structuralSchema(internal, c.Spec.PreserveUnknownFields)
	if err != nil {
		return nil, err
	}
	whole, err := newValidator(internal)
	if err != nil {
		return nil, err
	}
	kind := schema.GroupVersionKind{Group: d.Group, Version: v.Name, Kind: d.Kind}
	namespaced := d.Namespaced // not all of d, which what is compiled outlives
	status, scale := subresources(v.Subresources)
	var ofStatus validation.SchemaValidator // stays nil when there is nothing to validate
	if status != nil && internal != nil {
		if props, ok := internal.Properties["status"]; ok {
			if ofStatus, err = newValidator(&props); err != nil {
				return nil, fmt.Errorf("status: %w", err)
			}
		}
	}
	out := &parts{shape: newShape(s, c.Spec.PreserveUnknownFields), hasStatus: status != nil, namespaced: namespaced, quantities: anywhere(internal, readsQuantities)}
	out.library = sync.OnceValues(func() (library, libraryUpdate) {
		l := customresource.NewStrategy(crdserverscheme.NewUnstructuredObjectTyper(), namespaced, kind,
			whole, ofStatus, s, status, scale, v.SelectableFields)
		return l, customresource.NewStatusStrategy(l)
	})
	if plain(internal) && scale == nil { // whose values have bounds of their own
		out.quick = accept.NewObject(d.APIVersion(v.Name), d.Kind, namespaced, s, whole.rule)
	}
	return out, nil
}

// subresourcesOf are the subresources that a version asks for: scale is written
// through whole, the strategy of whole objects.
func subresourcesOf(in *apiextensionsv1.CustomResourceSubresources, whole, status crd.Strategy) map[string]*crd.Subresource {
	out := map[string]*crd.Subresource{}
	if in == nil {
		return out
	}
	if in.Status != nil {
		out["status"] = &crd.Subresource{Name: "status", Update: status, Verbs: subresourceVerbs}
	}
	if in.Scale != nil {
		out["scale"] = &crd.Subresource{
			Name: "scale", Update: whole, Verbs: subresourceVerbs,
			Kind: autoscalingv1.SchemeGroupVersion.WithKind("Scale"), Scale: scalePaths(in.Scale),
		}
	}
	return out
}

// subresources are the library's forms of what a version asks for.
func subresources(in *apiextensionsv1.CustomResourceSubresources) (status *apiextensions.CustomResourceSubresourceStatus, scale *apiextensions.CustomResourceSubresourceScale) {
	if in == nil {
		return nil, nil
	}
	if in.Status != nil {
		status = &apiextensions.CustomResourceSubresourceStatus{}
	}
	if in.Scale != nil {
		scale = &apiextensions.CustomResourceSubresourceScale{
			SpecReplicasPath:   in.Scale.SpecReplicasPath,
			StatusReplicasPath: in.Scale.StatusReplicasPath,
			LabelSelectorPath:  in.Scale.LabelSelectorPath,
		}
	}
	return status, scale
}

func scalePaths(s *apiextensionsv1.CustomResourceSubresourceScale) *crd.Scale {
	out := &crd.Scale{SpecReplicasPath: s.SpecReplicasPath, StatusReplicasPath: s.StatusReplicasPath}
	if s.LabelSelectorPath != nil {
		out.LabelSelectorPath = *s.LabelSelectorPath
	}
	return out
}

// table prints the columns of a version; without any, name and age.
func table(columns []apiextensionsv1.CustomResourceColumnDefinition) rest.TableConvertor {
	if len(columns) == 0 {
		return printed()
	}
	return newTable(columns)
}

// newTable prints columns, those that cannot be parsed as far as they can be.
func newTable(columns []apiextensionsv1.CustomResourceColumnDefinition) rest.TableConvertor {
	// The error says which column is wrong, and comes with a usable table.
	t, _ := tableconvertor.New(columns)
	return t
}

// printed is the table of every version that asks for no columns.
var printed = sync.OnceValue(func() rest.TableConvertor {
	return newTable([]apiextensionsv1.CustomResourceColumnDefinition{{
		Name: "Age", Type: "date", JSONPath: ".metadata.creationTimestamp",
		Description: metav1.ObjectMeta{}.SwaggerDoc()["creationTimestamp"],
	}})
})
