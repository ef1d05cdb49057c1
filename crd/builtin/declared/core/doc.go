// +k8s:validation-gen=TypesWithSuffix=ReplicationController
// +k8s:validation-gen=TypesWithSuffix=Service
// +k8s:validation-gen-input=k8s.io/api/core/v1

// Package core owns the rules that Kubernetes' validation-gen makes of the comment tags
// of types of k8s.io/api/core/v1. It must not know how kinds are validated otherwise.
//
// Nobody uses those of Services: they are there because their conditions are of a type of
// apimachinery for which a function was written that the generator insists on calling.
//
// After a change of k8s.io/api, or of which types there are:
//
//	go test ./crd/builtin/declared -declared.write
package core

import "k8s.io/apimachinery/pkg/runtime"

var localSchemeBuilder runtime.SchemeBuilder

// AddToScheme registers the rules.
func AddToScheme(s *runtime.Scheme) error { return localSchemeBuilder.AddToScheme(s) }
