package custom

import (
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wasmgate/wasmgate/crd/quantity"
)

// readsQuantities tells whether a rule of a schema calls quantity or isQuantity.
func readsQuantities(s *apiextensions.JSONSchemaProps) bool {
	return slices.ContainsFunc(s.XValidations, func(r apiextensions.ValidationRule) bool {
		return strings.Contains(r.Rule+r.MessageExpression, "uantity")
	})
}

// costlyQuantities refuses objects with texts that take hours to read as
// quantities, where rules read some: nothing could end such a rule, and its
// library does not count what it costs. Also what such rules compare an object
// with, the one before, is looked at.
func (p *parts) costlyQuantities(objects ...*unstructured.Unstructured) (errs field.ErrorList) {
	if !p.quantities {
		return nil
	}
	for _, obj := range objects {
		if obj == nil {
			continue
		}
		for name, v := range obj.Object {
			path := field.NewPath(name)
			if meta, ok := v.(map[string]any); ok && name == "metadata" { // rules see no more of it
				errs = costly(errs, path.Child("name"), meta["name"])
				errs = costly(errs, path.Child("generateName"), meta["generateName"])
				continue
			}
			errs = costly(errs, path, v)
		}
	}
	slices.SortStableFunc(errs, func(a, b *field.Error) int { return strings.Compare(a.Field, b.Field) })
	return errs
}

// costly adds the costly texts in a value.
func costly(errs field.ErrorList, path *field.Path, v any) field.ErrorList {
	switch x := v.(type) {
	case string:
		return costlyText(errs, path, x)
	case []any:
		for i, item := range x {
			errs = costly(errs, path.Index(i), item)
		}
	case map[string]any:
		for name, item := range x {
			errs = costly(costlyText(errs, path, name), path.Child(name), item)
		}
	}
	return errs
}

func costlyText(errs field.ErrorList, path *field.Path, text string) field.ErrorList {
	if err := quantity.CheckNumber(text); err != nil {
		return append(errs, field.Invalid(path, text[:min(len(text), maxShown)], "rules of this kind read quantities: "+err.Error()))
	}
	return errs
}

// maxShown is how many bytes of a text an error shows.
const maxShown = 100
