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
	if err != nil || u.Scheme != ModuleScheme || isRules(u) {
		return "", false
	}
	return u.Host, true
}

// RulesName returns the name of the conversion rules that a converter's URL refers to,
// wasm://rules/NAME; ok is false for every other URL.
func RulesName(webhookURL string) (name string, ok bool) {
	u, err := url.Parse(webhookURL)
	if err != nil || u.Scheme != ModuleScheme || !isRules(u) {
		return "", false
	}
	return u.Path[1:], true
}

// isRules tells the URL of rules from that of a module called rules, which has no path.
func isRules(u *url.URL) bool { return u.Host == "rules" && len(u.Path) > 1 }

// ValidateRulesURL judges the URL of a converter that names rules.
func ValidateRulesURL(text string, path *field.Path) field.ErrorList {
	name, _ := RulesName(text)
	if text != ModuleScheme+"://rules/"+name {
		return field.ErrorList{field.Invalid(path, text, "it is not the URL of rules; desired format: wasm://rules/NAME")}
	}
	var errs field.ErrorList
	for _, msg := range validation.IsDNS1123Subdomain(name) {
		errs = append(errs, field.Invalid(path, text, "it does not name rules: "+msg+"; desired format: wasm://rules/NAME"))
	}
	return errs
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
