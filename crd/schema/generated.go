package schema

import (
	"maps"
	"sync"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/generated/openapi"
	aggregator "k8s.io/kube-aggregator/pkg/generated/openapi"
	"k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// generated are the models that Kubernetes' libraries have of types of their own, by
// name, as documents of each version refer to them.
var generated = map[bool]func() map[string]common.OpenAPIDefinition{
	false: sync.OnceValue(func() map[string]common.OpenAPIDefinition { return generate(referenceV2) }),
	true:  sync.OnceValue(func() map[string]common.OpenAPIDefinition { return generate(referenceV3) }),
}

func generate(refer func(name string) spec.Ref) map[string]common.OpenAPIDefinition {
	out := aggregator.GetOpenAPIDefinitions(refer)
	maps.Copy(out, apiextensions.GetOpenAPIDefinitions(refer))
	return out
}

func referenceV2(name string) spec.Ref { return spec.MustCreateRef("#/definitions/" + name) }

func referenceV3(name string) spec.Ref { return spec.MustCreateRef("#/components/schemas/" + name) }

// adopt makes a model, and those that it refers to, as a library has it, and tells
// whether one does.
func (m *modeller) adopt(name string) bool {
	d, ok := generated[m.v3]()[name]
	if !ok {
		return false
	}
	s := d.Schema
	if v2, differs := s.Extensions[common.ExtensionV2Schema].(spec.Schema); differs && !m.v3 {
		s = v2
	}
	s.Extensions = maps.Clone(s.Extensions)
	delete(s.Extensions, common.ExtensionV2Schema)
	m.made[name] = &s
	for _, other := range d.Dependencies {
		if m.made[other] == nil {
			m.adopt(other)
		}
	}
	return true
}
