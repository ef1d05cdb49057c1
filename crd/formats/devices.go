package formats

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// maxAttribute is how long the name of a device's attribute may be without its domain.
const maxAttribute = 32

// Attribute checks the name of an attribute or a capacity of a device: an identifier, which
// may have the domain of a driver before it. Into names with more slashes kube-apiserver does
// not look.
func Attribute(name string, at *field.Path) (errs field.ErrorList) {
	domain, id, qualified := strings.Cut(name, "/")
	switch {
	case !qualified:
		return identifier(name, at)
	case strings.Contains(id, "/"):
		return nil
	case domain == "":
		errs = append(errs, field.Invalid(at, "", "the domain must not be empty"))
	default:
		errs = append(errs, csiDriver(domain, at)...)
	}
	if id == "" {
		return append(errs, field.Invalid(at, "", "the name must not be empty"))
	}
	return append(errs, identifier(id, at)...)
}

func identifier(id string, at *field.Path) (errs field.ErrorList) {
	if len(id) > maxAttribute {
		errs = append(errs, field.TooLong(at, "", maxAttribute))
	}
	return append(errs, problems(at, id, validation.IsCIdentifier(id))...)
}

// qualifiedAttribute is an attribute that has a domain.
func qualifiedAttribute(v any, at *field.Path) field.ErrorList {
	s, _ := v.(string)
	errs := Attribute(s, at)
	if !strings.Contains(s, "/") {
		errs = append(errs, field.Invalid(at, s, "a fully qualified name must be a domain and a name separated by a slash"))
	}
	return errs
}

// deviceEffects are the effects that taints of devices have.
var deviceEffects = []string{"NoExecute", "NoSchedule", "None"}

// deviceToleration checks what a claim tolerates of devices.
func deviceToleration(v any, at *field.Path) field.ErrorList {
	m, _ := v.(map[string]any)
	get := func(name string) string { s, _ := m[name].(string); return s }
	key, operator, value, effect := get("key"), get("operator"), get("value"), get("effect")
	var errs field.ErrorList
	if key != "" {
		errs = append(errs, problems(at.Child("key"), key, validation.IsQualifiedName(key))...)
	}
	switch {
	case operator != "" && !slices.Contains(operators, operator):
		errs = append(errs, field.NotSupported(at.Child("operator"), operator, operators))
	case operator == "Exists" && value != "":
		errs = append(errs, field.Invalid(at.Child("value"), value, "must be empty for operator `Exists`"))
	case operator != "Exists":
		errs = append(errs, problems(at.Child("value"), value, validation.IsValidLabelValue(value))...)
	}
	if effect != "" && !slices.Contains(deviceEffects, effect) {
		errs = append(errs, field.NotSupported(at.Child("effect"), effect, deviceEffects))
	}
	return errs
}
