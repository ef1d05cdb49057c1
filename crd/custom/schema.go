package custom

import (
	"fmt"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
)

type structural = structuralschema.Structural

// internalSchema is the schema of a version in the form that the library works
// on; nil when the version has none. It shares memory with v.
func internalSchema(v *apiextensionsv1.CustomResourceDefinitionVersion) (*apiextensions.JSONSchemaProps, error) {
	if v.Schema == nil {
		return nil, nil
	}
	out := &apiextensions.CustomResourceValidation{}
	if err := apiextensionsv1.Convert_v1_CustomResourceValidation_To_apiextensions_CustomResourceValidation(v.Schema, out, nil); err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	return out.OpenAPIV3Schema, nil
}

// structuralSchema is the structural form of in, of its own memory and with
// pruned defaults. Definitions from before structural schemas were required
// (preserve) may have none; nil means that nothing is known of the fields.
func structuralSchema(in *apiextensions.JSONSchemaProps, preserve bool) (*structural, error) {
	if in == nil {
		return nil, nil
	}
	s, err := structuralschema.NewStructural(in)
	if err != nil {
		if preserve {
			return nil, nil
		}
		return nil, fmt.Errorf("schema is not structural: %w", err)
	}
	if preserve {
		return s, nil
	}
	s = s.DeepCopy()
	if err := defaulting.PruneDefaults(s); err != nil {
		return nil, fmt.Errorf("defaults of the schema: %w", err)
	}
	return s, nil
}

// plain reports that the library validates objects by their schema's types and bounds
// alone: no rule in CEL, and no object with metadata of its own inside.
func plain(in *apiextensions.JSONSchemaProps) bool {
	return !anywhere(in, func(p *apiextensions.JSONSchemaProps) bool { return p.XEmbeddedResource || len(p.XValidations) > 0 })
}

// anywhere tells whether a schema, or one inside of it, has a property.
func anywhere(in *apiextensions.JSONSchemaProps, has func(*apiextensions.JSONSchemaProps) bool) bool {
	if in == nil {
		return false
	}
	if has(in) || anywhere(in.Not, has) {
		return true
	}
	inside := [][]apiextensions.JSONSchemaProps{in.AllOf, in.AnyOf, in.OneOf}
	if in.Items != nil {
		inside = append(inside, in.Items.JSONSchemas)
		if anywhere(in.Items.Schema, has) {
			return true
		}
	}
	for _, list := range inside {
		for i := range list {
			if anywhere(&list[i], has) {
				return true
			}
		}
	}
	for _, p := range in.Properties {
		if anywhere(&p, has) {
			return true
		}
	}
	return in.AdditionalProperties != nil && anywhere(in.AdditionalProperties.Schema, has)
}
