package formats

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/validation"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// notOperator is said of an operator that there is not.
const notOperator = "not a valid selector operator"

// requirement is what a term requires of a node.
func requirement(v any) (key, operator string, values []string) {
	m, _ := v.(map[string]any)
	key, _ = m["key"].(string)
	operator, _ = m["operator"].(string)
	list, _ := m["values"].([]any)
	for _, item := range list {
		s, _ := item.(string)
		values = append(values, s)
	}
	return key, operator, values
}

// nodeRequirement checks what is required of a node's labels.
func nodeRequirement(v any, at *field.Path) field.ErrorList {
	key, operator, values := requirement(v)
	var errs field.ErrorList
	switch operator {
	case "In", "NotIn":
		if len(values) == 0 {
			errs = append(errs, field.Required(at.Child("values"), "must be specified when `operator` is 'In' or 'NotIn'"))
		}
	case "Exists", "DoesNotExist":
		if len(values) > 0 {
			errs = append(errs, field.Forbidden(at.Child("values"), "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"))
		}
	case "Gt", "Lt":
		if len(values) != 1 {
			errs = append(errs, field.Required(at.Child("values"), "must be specified single value when `operator` is 'Lt' or 'Gt'"))
		}
	default:
		errs = append(errs, field.Invalid(at.Child("operator"), operator, notOperator))
	}
	return append(errs, problems(at.Child("key"), key, utilvalidation.IsQualifiedName(key))...)
}

// nodeField checks what is required of a node's name, the one field that can be
// asked for.
func nodeField(v any, at *field.Path) field.ErrorList {
	key, operator, values := requirement(v)
	var errs field.ErrorList
	switch operator {
	case "In", "NotIn":
		if len(values) != 1 {
			errs = append(errs, field.Required(at.Child("values"), "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"))
		}
	default:
		errs = append(errs, field.Invalid(at.Child("operator"), operator, notOperator))
	}
	if key != "metadata.name" {
		return append(errs, field.Invalid(at.Child("key"), key, "not a valid field selector key"))
	}
	for i, value := range values {
		errs = append(errs, problems(at.Child("values").Index(i), value, validation.NameIsDNSSubdomain(value, false))...)
	}
	return errs
}

// The effects of taints, and the operators of tolerations.
var (
	effects   = []string{"NoExecute", "NoSchedule", "PreferNoSchedule"}
	operators = []string{"Equal", "Exists"}
)

// toleration checks what a pod tolerates of nodes.
func toleration(v any, at *field.Path) field.ErrorList {
	m, _ := v.(map[string]any)
	get := func(name string) string { s, _ := m[name].(string); return s }
	key, operator, value, effect := get("key"), get("operator"), get("value"), get("effect")
	var errs field.ErrorList
	if key != "" {
		errs = append(errs, problems(at.Child("key"), key, utilvalidation.IsQualifiedName(key))...)
	} else if operator != "Exists" {
		errs = append(errs, field.Invalid(at.Child("operator"), operator, "operator must be Exists when `key` is empty, which means \"match all values and all keys\""))
	}
	if m["tolerationSeconds"] != nil && effect != "NoExecute" {
		errs = append(errs, field.Invalid(at.Child("effect"), effect, "effect must be 'NoExecute' when `tolerationSeconds` is set"))
	}
	switch why := utilvalidation.IsValidLabelValue(value); {
	case operator == "Exists" && value != "":
		errs = append(errs, field.Invalid(at.Child("operator"), value, "value must be empty when `operator` is 'Exists'"))
	case (operator == "" || operator == "Equal") && why != nil:
		errs = append(errs, field.Invalid(at.Child("operator"), value, strings.Join(why, ";")))
	case operator != "" && !slices.Contains(operators, operator):
		errs = append(errs, field.NotSupported(at.Child("operator"), operator, operators))
	}
	if effect != "" && !slices.Contains(effects, effect) {
		errs = append(errs, field.NotSupported(at.Child("effect"), effect, effects))
	}
	return errs
}

// declaredFeature is the name of a feature of a node.
var declaredFeature = regexp.MustCompile(`^[A-Z][a-zA-Z0-9]*(/[a-zA-Z][a-zA-Z0-9]*)*$`)

// declaredFeatures checks what a node says that it has: names, in their order, each once.
func declaredFeatures(v any, at *field.Path) (errs field.ErrorList) {
	list, _ := v.([]any)
	before := ""
	for i, item := range list {
		name, _ := item.(string)
		wrong := func(why string) {
			errs = append(errs, field.Invalid(at.Index(i), name, fmt.Sprintf("invalid feature name %q: %s", name, why)))
		}
		switch {
		case len(name) > utilvalidation.DNS1123SubdomainMaxLength:
			wrong(fmt.Sprintf("must be no more than %d characters", utilvalidation.DNS1123SubdomainMaxLength))
		case !declaredFeature.MatchString(name):
			wrong("must start with an UpperCamelCase segment, with subsequent segments separated by '/' (e.g., MyFeature or MyFeature/mySubFeature), and contain only alphanumeric characters and slashes")
		}
		switch {
		case i > 0 && name == before:
			errs = append(errs, field.Duplicate(at.Index(i), name))
		case i > 0 && name < before:
			errs = append(errs, field.Invalid(at.Index(i), name, "list must be sorted alphabetically"))
		}
		before = name
	}
	return errs
}
