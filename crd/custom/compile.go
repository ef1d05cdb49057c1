package custom

import (
	"fmt"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/wasmgate/wasmgate/crd"
	order "github.com/wasmgate/wasmgate/crd/version"
)

// Compile makes the definition that serves the custom resources of c. It works
// on a copy: c stays the caller's.
//
// It fails when c could not have passed validation: no storage version, no
// names, a schema that is not structural.
func Compile(c *apiextensionsv1.CustomResourceDefinition) (*crd.Definition, error) {
	c = c.DeepCopy()
	return assemble(c, func(i int, d *crd.Definition) (*crd.Version, error) {
		v := &c.Spec.Versions[i]
		p, err := compileParts(c, v, d)
		if err != nil {
			return nil, err
		}
		out, err := newVersion(c, v, &compiled{parts: func() (*parts, error) { return p, nil }})
		if err != nil {
			return nil, err
		}
		out.Shape, out.Unchanged = p.shape, p.shape.unchanged
		if v.Schema != nil {
			whole := v.Schema.OpenAPIV3Schema
			out.Schema = func() *apiextensionsv1.JSONSchemaProps { return whole }
		}
		return out, nil
	})
}

// assemble makes a definition of c; version compiles the i-th of its versions
// from all else that there is to the definition.
func assemble(c *apiextensionsv1.CustomResourceDefinition, version func(i int, d *crd.Definition) (*crd.Version, error)) (*crd.Definition, error) {
	names := acceptedNames(c)
	if names.Plural == "" || names.Kind == "" {
		return nil, fmt.Errorf("custom resource definition %s: it has no plural or no kind", c.Name)
	}
	d := &crd.Definition{
		Group:      c.Spec.Group,
		Plural:     names.Plural,
		Singular:   names.Singular,
		Kind:       names.Kind,
		ListKind:   names.ListKind,
		ShortNames: names.ShortNames,
		Categories: names.Categories,
		Namespaced: c.Spec.Scope == apiextensionsv1.NamespaceScoped,
		KeyPrefix:  c.Spec.Group + "/" + names.Plural,
		Codec:      JSON,

		ConditionalUpdate: true,
		Conversion:        c.Spec.Conversion,

		OmitsUnconvertible: c.Annotations[crd.UnconvertibleAnnotation] == crd.OmitUnconvertible,

		PreserveUnknownFields: c.Spec.PreserveUnknownFields,

		UID:         c.UID,
		Terminating: terminating(c),
	}
	for i := range c.Spec.Versions {
		v := &c.Spec.Versions[i]
		if v.Storage {
			d.StorageVersion = v.Name
		}
		made, err := version(i, d)
		if err != nil {
			return nil, fmt.Errorf("custom resource definition %s: version %s: %w", c.Name, v.Name, err)
		}
		d.Versions = append(d.Versions, made)
	}
	if d.StorageVersion == "" {
		return nil, fmt.Errorf("custom resource definition %s: it has no storage version", c.Name)
	}
	slices.SortStableFunc(d.Versions, func(a, b *crd.Version) int { return order.Compare(a.Name, b.Name) })
	return d, nil
}

// acceptedNames are the names that are served. Before any were accepted they
// are the ones asked for.
func acceptedNames(c *apiextensionsv1.CustomResourceDefinition) apiextensionsv1.CustomResourceDefinitionNames {
	names := c.Status.AcceptedNames
	if names.Plural == "" || names.Kind == "" {
		names = c.Spec.Names
	}
	if names.Singular == "" {
		names.Singular = strings.ToLower(names.Kind)
	}
	if names.ListKind == "" {
		names.ListKind = names.Kind + "List"
	}
	return names
}

func terminating(c *apiextensionsv1.CustomResourceDefinition) bool {
	if c.DeletionTimestamp != nil {
		return true
	}
	for _, cond := range c.Status.Conditions {
		if cond.Type == apiextensionsv1.Terminating {
			return cond.Status == apiextensionsv1.ConditionTrue
		}
	}
	return false
}

// deprecationWarning is what a request at version v is warned of, "" when it
// is not deprecated.
func deprecationWarning(c *apiextensionsv1.CustomResourceDefinition, v *apiextensionsv1.CustomResourceDefinitionVersion) string {
	if !v.Deprecated {
		return ""
	}
	if v.DeprecationWarning != nil {
		return *v.DeprecationWarning
	}
	warning := fmt.Sprintf("%s/%s %s is deprecated", c.Spec.Group, v.Name, c.Spec.Names.Kind)
	best := ""
	for _, other := range c.Spec.Versions {
		if !other.Served || other.Deprecated || order.Compare(other.Name, v.Name) >= 0 {
			continue
		}
		if best == "" || order.Compare(other.Name, best) < 0 {
			best = other.Name
		}
	}
	if best == "" {
		return warning
	}
	return warning + fmt.Sprintf("; use %s/%s %s", c.Spec.Group, best, c.Spec.Names.Kind)
}
