package formats

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// How long the parts of the name of a device's attribute may be.
const (
	maxAttribute       = 32
	maxAttributeDomain = 63
)

// attribute checks the name of an attribute of a device: an identifier, which may
// have a domain before it.
func attribute(s string) []string {
	domain, name, qualified := strings.Cut(s, "/")
	if !qualified {
		domain, name = "", s
	}
	var problems []string
	if qualified {
		problems = validation.IsDNS1123Subdomain(domain)
	}
	if len(domain) > maxAttributeDomain || len(name) > maxAttribute {
		problems = append(problems, "may not be more than 63 bytes of a domain and 32 of a name")
	}
	return append(problems, validation.IsCIdentifier(name)...)
}

// qualifiedAttribute is an attribute that has a domain.
func qualifiedAttribute(v any, at *field.Path) field.ErrorList {
	s, _ := v.(string)
	if !strings.Contains(s, "/") {
		return append(problems(at, s, validation.IsCIdentifier(s)), field.Invalid(at, s, "a fully qualified name must be a domain and a name separated by a slash"))
	}
	domain, name, _ := strings.Cut(s, "/")
	switch {
	case strings.Contains(name, "/"): // which nobody looks into
		return nil
	case domain == "":
		return field.ErrorList{field.Invalid(at, "", "the domain must not be empty")}
	}
	return problems(at, s, attribute(strings.ToLower(domain)+"/"+name))
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
