package crd

import (
	"net/url"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// ModuleScheme is the scheme of the URL of a webhook that is a module of this
// gateway: wasm://NAME.
const ModuleScheme = "wasm"

// ModuleName returns the name of the module that a webhook's URL refers to; ok
// is false for every other URL. Whether the URL is a valid one is decided when
// it is written.
func ModuleName(webhookURL string) (name string, ok bool) {
	u, err := url.Parse(webhookURL)
	if err != nil || u.Scheme != ModuleScheme {
		return "", false
	}
	return u.Host, true
}

// ValidateModuleURL judges the URL of a webhook that names a module; path is
// where it stands.
func ValidateModuleURL(text string, path *field.Path) field.ErrorList {
	const form = "; desired format: wasm://NAME"
	u, err := url.Parse(text)
	if err != nil {
		return field.ErrorList{field.Invalid(path, text, err.Error()+form)}
	}
	var errs field.ErrorList
	if u.User != nil {
		errs = append(errs, field.Invalid(path, u.User.String(), "user information is not permitted in the URL"))
	}
	if u.Path != "" {
		errs = append(errs, field.Invalid(path, u.Path, "a path is not permitted in the URL of a module"+form))
	}
	if u.RawQuery != "" || u.ForceQuery {
		errs = append(errs, field.Invalid(path, u.RawQuery, "query parameters are not permitted in the URL"))
	}
	if u.Fragment != "" || strings.HasSuffix(text, "#") {
		errs = append(errs, field.Invalid(path, u.Fragment, "fragments are not permitted in the URL"))
	}
	switch {
	case u.Opaque != "" || u.Host == "":
		errs = append(errs, field.Invalid(path, text, "the name of a module must be specified"+form))
	default:
		for _, msg := range validation.IsDNS1123Subdomain(u.Host) {
			errs = append(errs, field.Invalid(path, u.Host, "it does not name a module: "+msg))
		}
	}
	return errs
}
