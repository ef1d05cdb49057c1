package definition

import (
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wasmgate/wasmgate/crd"
)

// replaceModuleURL validates a conversion url that names a module or rules, and puts in
// its place an https url that the library, which knows no modules, accepts. It
// leaves every other url for the library to judge.
func replaceModuleURL(in *apiextensions.CustomResourceDefinition) field.ErrorList {
	c := in.Spec.Conversion
	if c == nil || c.WebhookClientConfig == nil || c.WebhookClientConfig.URL == nil {
		return nil
	}
	url := *c.WebhookClientConfig.URL
	validate := crd.ValidateModuleURL
	if _, ok := crd.RulesName(url); ok {
		validate = crd.ValidateRulesURL
	} else if _, ok := crd.ModuleName(url); !ok {
		return nil
	}
	errs := validate(url, field.NewPath("spec", "conversion", "webhook", "clientConfig", "url"))
	// in may share memory with what it was read from.
	config, conversion, valid := *c.WebhookClientConfig, *c, "https://module.invalid/"
	config.URL = &valid
	conversion.WebhookClientConfig = &config
	in.Spec.Conversion = &conversion
	return errs
}
