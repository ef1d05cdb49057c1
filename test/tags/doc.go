// +k8s:validation-gen=TypesWithField=Kind
// +k8s:validation-gen-scheme-registry=k8s.io/code-generator/cmd/validation-gen/testscheme.Scheme
// +k8s:validation-gen-nolint

// Package tags has a type for each comment tag that Kubernetes' validation-gen
// knows and this project's rows tell of, and the rules that it generates for them:
// what a tag means is tried on those. It owns these types, and must not know what
// is served: rules of kinds are elsewhere.
//
// After a change of the types, or of the generator's version in go.mod:
//
//	go generate ./test/tags
package tags

import "k8s.io/code-generator/cmd/validation-gen/testscheme"

//go:generate go tool validation-gen --output-file=zz_generated.validations.go .

// localSchemeBuilder is what the generated code registers its rules with.
var localSchemeBuilder = testscheme.New()
