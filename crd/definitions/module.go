package definitions

import (
	"net/url"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wasmgate/wasmgate/crd"
)

// replaceModuleURL validates a conversion url that names a module, and puts in
// its place an https url that the library, which knows no modules, accepts. It
// leaves every other url for the library to judge.
func replaceModuleURL(in *apiextensions.CustomResourceDefinition) field.ErrorList {
	c := in.Spec.Conversion
	if c == nil || c.WebhookClientConfig == nil || c.WebhookClientConfig.URL == nil {
		return nil
	}
	u, err := url.Parse(*c.WebhookClientConfig.URL)
	if err != nil || u.Scheme != crd.ModuleScheme {
		return nil
	}
	errs := validateModuleURL(*c.WebhookClientConfig.URL, u)
	// in may share memory with what it was read from.
	config, conversion, valid := *c.WebhookClientConfig, *c, "https://module.invalid/"
	config.URL = &valid
	conversion.WebhookClientConfig = &config
	in.Spec.Conversion = &conversion
	return errs
}

func validateModuleURL(text string, u *url.URL) field.ErrorList {
	const form = "; desired format: wasm://NAME"
	path := field.NewPath("spec", "conversion", "webhook", "clientConfig", "url")
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
