package custom

import (
	"fmt"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/kube-openapi/pkg/validation/validate"

	"github.com/wasmgate/wasmgate/crd/custom/accept"
)

// quickValidator is the library's validator behind a quick acceptance of valid
// values, which is nearly all of them. Whatever is not accepted at once, and so
// every error message, is the library's.
type quickValidator struct {
	validation.SchemaValidator
	rule *accept.Rule
}

func newValidator(in *apiextensions.JSONSchemaProps) (*quickValidator, error) {
	library, openapi, err := validation.NewSchemaValidator(in)
	if err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	return &quickValidator{library, accept.NewRule(openapi)}, nil
}

func (q *quickValidator) Validate(value any, options ...validation.ValidationOption) *validate.Result {
	if q.rule.Accepts(value) {
		return &validate.Result{}
	}
	return q.SchemaValidator.Validate(value, options...)
}

// ValidateUpdate may ignore old for a valid value: ratcheting only forgives.
func (q *quickValidator) ValidateUpdate(value, old any, options ...validation.ValidationOption) *validate.Result {
	if q.rule.Accepts(value) {
		return &validate.Result{}
	}
	return q.SchemaValidator.ValidateUpdate(value, old, options...)
}
