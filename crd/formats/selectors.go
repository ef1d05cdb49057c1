package formats

import (
	"fmt"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Operators that nobody here knows may be those of newer clients, whose questions are
// answered without their requirement.

// selectedFields is by which fields a question about an access says that it selects.
func selectedFields(v any, path *field.Path) field.ErrorList {
	var s authorizationv1.FieldSelectorAttributes
	if err := fromTree(v, &s); err != nil {
		return field.ErrorList{field.InternalError(path, err)}
	}
	errs := selectsOnce(s.RawSelector, len(s.Requirements), path)
	for i, r := range s.Requirements {
		errs = append(errs, metav1validation.ValidateFieldSelectorRequirement(r, metav1validation.FieldSelectorValidationOptions{AllowUnknownOperatorInRequirement: true}, path.Child("requirements").Index(i))...)
	}
	return errs
}

// selectedLabels is by which labels.
func selectedLabels(v any, path *field.Path) field.ErrorList {
	var s authorizationv1.LabelSelectorAttributes
	if err := fromTree(v, &s); err != nil {
		return field.ErrorList{field.InternalError(path, err)}
	}
	errs := selectsOnce(s.RawSelector, len(s.Requirements), path)
	for i, r := range s.Requirements {
		errs = append(errs, metav1validation.ValidateLabelSelectorRequirement(r, metav1validation.LabelSelectorValidationOptions{AllowUnknownOperatorInRequirement: true}, path.Child("requirements").Index(i))...)
	}
	return errs
}

// selectsOnce checks that what is selected is said in one of two ways.
func selectsOnce(raw string, requirements int, path *field.Path) field.ErrorList {
	switch {
	case raw != "" && requirements > 0:
		return field.ErrorList{field.Invalid(path.Child("rawSelector"), raw, "may not specified at the same time as requirements")}
	case raw == "" && requirements == 0:
		return field.ErrorList{field.Required(path.Child("requirements"), fmt.Sprintf("when %s is specified, requirements or rawSelector is required", path))}
	}
	return nil
}

func fromTree(v, into any) error {
	m, _ := v.(map[string]any)
	return runtime.DefaultUnstructuredConverter.FromUnstructured(m, into)
}
