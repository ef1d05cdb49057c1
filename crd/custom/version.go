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
)

// subresourceVerbs are served on every subresource of a custom resource.
var subresourceVerbs = []string{"get", "patch", "update"}

func compileVersion(c *apiextensionsv1.CustomResourceDefinition, v *apiextensionsv1.CustomResourceDefinitionVersion, d *crd.Definition) (*crd.Version, error) {
	internal, err := internalSchema(v)
	if err != nil {
		return nil, err
	}
	s, err := structuralSchema(internal, c.Spec.PreserveUnknownFields)
	if err != nil {
		return nil, err
	}
	shape := newShape(s, c.Spec.PreserveUnknownFields)
	out := outline(c, v)
	out.Shape, out.Unchanged = shape, shape.unchanged
	if v.Schema != nil {
		whole := v.Schema.OpenAPIV3Schema
		out.Schema = func() *apiextensionsv1.JSONSchemaProps { return whole }
	}
	if out.SelectableFields, out.Fields, err = selectableFields(v.SelectableFields); err != nil {
		return nil, err
	}
	if err := addStrategies(out, d, v, internal, s); err != nil {
		return nil, err
	}
	return out, nil
}

// outline is what a version has that does not depend on its schema.
func outline(c *apiextensionsv1.CustomResourceDefinition, v *apiextensionsv1.CustomResourceDefinitionVersion) *crd.Version {
	return &crd.Version{
		Name: v.Name, Served: v.Served, Deprecated: v.Deprecated,
		Warning: deprecationWarning(c, v), Table: table(v.AdditionalPrinterColumns),
	}
}

// addStrategies sets the strategy of out and its subresources.
func addStrategies(out *crd.Version, d *crd.Definition, v *apiextensionsv1.CustomResourceDefinitionVersion, internal *apiextensions.JSONSchemaProps, s *structural) error {
	kind := schema.GroupVersionKind{Group: d.Group, Version: v.Name, Kind: d.Kind}
	namespaced := d.Namespaced
	status, scale := subresources(v.Subresources)
	whole, err := newValidator(internal)
	if err != nil {
		return err
	}
	var ofStatus validation.SchemaValidator // stays nil when there is nothing to validate
	if status != nil && internal != nil {
		if props, ok := internal.Properties["status"]; ok {
			if ofStatus, err = newValidator(&props); err != nil {
				return fmt.Errorf("status: %w", err)
			}
		}
	}
	strategies := sync.OnceValues(func() (library, libraryUpdate) {
		s := customresource.NewStrategy(crdserverscheme.NewUnstructuredObjectTyper(), namespaced, kind,
			whole, ofStatus, s, status, scale, v.SelectableFields)
		return s, customresource.NewStatusStrategy(s)
	})
	first := newQuick(d.APIVersion(v.Name), d.Kind, namespaced, internal, s, whole)
	first.sure = first.sure && scale == nil // its values have bounds of their own
	strategy := newLazyStrategy(namespaced, status != nil, first, func() library { s, _ := strategies(); return s })
	out.Strategy = strategy
	out.Subresources = subresourcesOf(v.Subresources, strategy,
		newLazyUpdate(namespaced, first, func() libraryUpdate { _, s := strategies(); return s }))
	return nil
}

// subresourcesOf are the subresources that a version asks for: scale is written
// through whole, the strategy of whole objects.
func subresourcesOf(in *apiextensionsv1.CustomResourceSubresources, whole, status rest.RESTUpdateStrategy) map[string]*crd.Subresource {
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
