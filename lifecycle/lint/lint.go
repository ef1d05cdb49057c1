// Package lint owns what a change of a CustomResourceDefinition breaks by Kubernetes'
// deprecation policy. It must not know where definitions come from: files, revisions
// or a server.
package lint

import (
	"fmt"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/wasmgate/wasmgate/lifecycle"
)

// Finding is one thing that a change breaks.
type Finding struct {
	// Definition is its name, Version the version it is about, "" for all, and Path
	// the field.
	Definition string `json:"definition"`
	Version    string `json:"version,omitempty"`
	Path       string `json:"path,omitempty"`
	// Rule is the policy's, and What who is let down.
	Rule string `json:"rule"`
	What string `json:"what"`
}

// change is what becomes of one definition.
type change struct {
	was, is *apiextensionsv1.CustomResourceDefinition
	found   []Finding
}

// Compare returns what is broken for clients of a definition, and for what is stored,
// when it becomes another one; nil if it is deleted. The status of the former tells
// what is stored, if it is known.
func Compare(was, is *apiextensionsv1.CustomResourceDefinition) []Finding {
	c := &change{was: was, is: is}
	if is == nil {
		c.add("", "", "1", "the definition is gone, with all objects")
		return c.found
	}
	if was.Spec.Scope != is.Spec.Scope {
		c.add("", "spec.scope", "1", "was %s and is %s", was.Spec.Scope, is.Spec.Scope)
	}
	if was.Spec.Names.Kind != is.Spec.Names.Kind {
		c.add("", "spec.names.kind", "1", "was %s and is %s", was.Spec.Names.Kind, is.Spec.Names.Kind)
	}
	for i := range was.Spec.Versions {
		if v := &was.Spec.Versions[i]; find(was, v.Name) == v { // of two with one name no server takes the second
			c.version(v)
		}
	}
	c.storage()
	c.stored()
	return c.found
}

func (c *change) add(version, path, rule, format string, args ...any) {
	c.found = append(c.found, Finding{Definition: c.was.Name, Version: version, Path: path, Rule: rule, What: fmt.Sprintf(format, args...)})
}

func find(crd *apiextensionsv1.CustomResourceDefinition, version string) *apiextensionsv1.CustomResourceDefinitionVersion {
	i := slices.IndexFunc(crd.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool { return v.Name == version })
	if i < 0 {
		return nil
	}
	return &crd.Spec.Versions[i]
}

// version judges what becomes of a version that clients have, or that objects are stored at.
func (c *change) version(was *apiextensionsv1.CustomResourceDefinitionVersion) {
	is := find(c.is, was.Name)
	if !was.Served || is == nil || !is.Served {
		if was.Served {
			c.unserved(was)
		}
		if is != nil && slices.Contains(c.storedAt(), was.Name) {
			c.schemas(was, is, schemas{bad: func(string, string, ...any) {}, of: "what is stored"})
		}
		return
	}
	if track := lifecycle.TrackOf(was.Name); is.Deprecated && !was.Deprecated && !slices.ContainsFunc(c.is.Spec.Versions, func(by apiextensionsv1.CustomResourceDefinitionVersion) bool {
		return by.Served && !by.Deprecated && lifecycle.TrackOf(by.Name) >= track
	}) {
		c.add(was.Name, "", "3", "is deprecated, and no version as stable is served instead")
	}
	c.subresources(was, is)
	c.selectable(was, is)
	c.schemas(was, is, schemas{of: "what clients send"})
}

// unserved judges a version that is served no longer.
func (c *change) unserved(was *apiextensionsv1.CustomResourceDefinitionVersion) {
	switch track := lifecycle.TrackOf(was.Name); {
	case track == lifecycle.Stable:
		c.add(was.Name, "", "4a", "is stable, and served no longer")
	case track == lifecycle.Beta && !was.Deprecated:
		c.add(was.Name, "", "4a", "is beta, and served no longer without having been deprecated")
	}
}

// schemas compares the schemas of a version, if it has one before and after.
func (c *change) schemas(was, is *apiextensionsv1.CustomResourceDefinitionVersion, s schemas) {
	if was.Schema == nil || is.Schema == nil || was.Schema.OpenAPIV3Schema == nil || is.Schema.OpenAPIV3Schema == nil {
		return
	}
	s.lost = func(path, format string, args ...any) { c.add(was.Name, path, "1", format, args...) }
	if s.bad == nil {
		s.bad = s.lost
	}
	s.compare("", was.Schema.OpenAPIV3Schema, is.Schema.OpenAPIV3Schema)
}

func (c *change) subresources(was, is *apiextensionsv1.CustomResourceDefinitionVersion) {
	before, now := was.Subresources, is.Subresources
	if now == nil {
		now = &apiextensionsv1.CustomResourceSubresources{}
	}
	if before == nil {
		before = &apiextensionsv1.CustomResourceSubresources{}
	}
	if (before.Status != nil) != (now.Status != nil) {
		c.add(was.Name, "subresources.status", "1", "was %s, which changes who writes the status", thereOr(before.Status != nil))
	}
	if before.Scale != nil && now.Scale == nil {
		c.add(was.Name, "subresources.scale", "1", "is gone")
	}
}

func thereOr(there bool) string {
	if there {
		return "there"
	}
	return "not there"
}

func (c *change) selectable(was, is *apiextensionsv1.CustomResourceDefinitionVersion) {
	for _, f := range was.SelectableFields {
		if !slices.Contains(is.SelectableFields, f) {
			c.add(was.Name, f.JSONPath, "1", "is no longer a field to select by")
		}
	}
}

// storage judges a change of the version that objects are stored at.
func (c *change) storage() {
	storage := func(crd *apiextensionsv1.CustomResourceDefinition) string {
		for i := range crd.Spec.Versions {
			if crd.Spec.Versions[i].Storage {
				return crd.Spec.Versions[i].Name
			}
		}
		return ""
	}
	was, is := storage(c.was), storage(c.is)
	if was == is || lifecycle.TrackOf(was) == lifecycle.Alpha {
		return
	}
	if before := find(c.was, is); before == nil || !before.Served {
		c.add(is, "", "4b", "is stored instead of %s, and whoever goes back to the definition before cannot read it", was)
	}
}

// storedAt are the versions at which objects may be stored.
func (c *change) storedAt() []string {
	versions := c.was.Status.StoredVersions
	if len(versions) == 0 { // a file tells only what is stored from now on
		for i := range c.was.Spec.Versions {
			if c.was.Spec.Versions[i].Storage {
				versions = []string{c.was.Spec.Versions[i].Name}
			}
		}
	}
	return versions
}

// stored judges versions that are gone although objects are stored at them.
func (c *change) stored() {
	for _, version := range c.storedAt() {
		if find(c.is, version) == nil {
			c.add(version, "", "4a", "is gone, and objects may be stored at it: migrate them, then take it out of status.storedVersions")
		}
	}
}
