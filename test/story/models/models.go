// Package models owns how what a server's OpenAPI documents say of Kubernetes' types is
// told in lines, to be compared. kube-apiserver's are in test/recorded; test/cmd/record
// writes them.
//
// It must not know how documents are made, nor which server is asked.
package models

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/kube-aggregator/pkg/apis/apiregistration"
	"k8s.io/kube-openapi/pkg/spec3"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// Table is the name of the table among the recordings, and of its one file.
const Table = "models"

// Get reads the body of a reply to a GET of a path that was answered with 200.
type Get func(ctx context.Context, path string) ([]byte, error)

// Tell reads the documents of version 3 of Kubernetes' own group versions. Each model has a
// line of what it is, under its name, and each of its fields one, under both names; words
// of people are left out.
func Tell(ctx context.Context, get Get) (map[string]string, error) {
	text, err := get(ctx, "/openapi/v3")
	if err != nil {
		return nil, err
	}
	var index struct {
		Paths map[string]struct {
			ServerRelativeURL string `json:"serverRelativeURL"`
		}
	}
	if err := json.Unmarshal(text, &index); err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, path := range slices.Sorted(maps.Keys(index.Paths)) {
		if !isKubernetes(path) {
			continue
		}
		text, err := get(ctx, index.Paths[path].ServerRelativeURL)
		if err != nil {
			return nil, err
		}
		var doc spec3.OpenAPI
		if err := json.Unmarshal(text, &doc); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if doc.Components == nil {
			continue
		}
		for name, model := range doc.Components.Schemas {
			if short(name) == "apis.meta.v1.WatchEvent" || short(name) == "apis.meta.v1.DeleteOptions" {
				delete(model.Extensions, kind) // which is of the group
			}
			if err := tell(out, short(name), model); err != nil {
				return nil, fmt.Errorf("%s: %w", path, err)
			}
		}
	}
	return out, nil
}

// isKubernetes tells that a path is of a group of Kubernetes, and not of definitions, which
// come and go.
func isKubernetes(path string) bool {
	group, ok := strings.CutPrefix(path, "apis/")
	if !ok {
		return path == "api/v1"
	}
	group, _, _ = strings.Cut(group, "/")
	return scheme.Scheme.IsGroupRegistered(group) || group == apiextensions.GroupName || group == apiregistration.GroupName
}

// short is the name of a model without what begins those of all.
func short(name string) string {
	for _, beginning := range []string{"io.k8s.api.", "io.k8s.apimachinery.pkg.", "io.k8s.apiextensions-apiserver.pkg.apis.", "io.k8s.kube-aggregator.pkg.apis."} {
		if rest, ok := strings.CutPrefix(name, beginning); ok {
			return rest
		}
	}
	return name
}

// tell adds the lines of a model, which is the same in all documents that have it.
func tell(out map[string]string, name string, model *spec.Schema) error {
	lines := map[string]string{name: shape(model)}
	for field, s := range model.Properties {
		line := shape(&s)
		if slices.Contains(model.Required, field) {
			line += " required"
		}
		lines[name+" "+field] = line
	}
	for key, line := range lines {
		if before, told := out[key]; told && before != line {
			return fmt.Errorf("%s is %q and %q", key, before, line)
		}
		out[key] = line
	}
	return nil
}

// extensions are what is told of how values are merged, and of the kinds that models are.
var extensions = []string{
	"x-kubernetes-list-type", "x-kubernetes-list-map-keys", "x-kubernetes-map-type",
	"x-kubernetes-patch-strategy", "x-kubernetes-patch-merge-key", kind,
}

const kind = "x-kubernetes-group-version-kind"

func shape(s *spec.Schema) string {
	out := what(s)
	if text, err := json.Marshal(s.Default); err == nil && s.Default != nil && string(text) != "{}" {
		out += " default=" + string(text)
	}
	if len(s.Enum) > 0 {
		out += fmt.Sprint(" of ", s.Enum)
	}
	for _, name := range extensions {
		value, ok := s.Extensions[name]
		if ok {
			out += fmt.Sprint(" ", strings.TrimPrefix(name, "x-kubernetes-"), "=", value)
		}
	}
	return out
}

// what is the type of a value.
func what(s *spec.Schema) string {
	switch {
	case len(s.AllOf) == 1:
		return what(&s.AllOf[0])
	case s.Ref.String() != "":
		return short(s.Ref.String()[strings.LastIndex(s.Ref.String(), "/")+1:])
	case s.Items != nil && s.Items.Schema != nil:
		return "list of " + shape(withoutDefault(s.Items.Schema))
	case s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil:
		return "map of " + shape(withoutDefault(s.AdditionalProperties.Schema))
	}
	parts := []string(s.Type)
	for _, one := range s.OneOf {
		parts = append(parts, one.Type...)
	}
	if s.Format != "" {
		parts = append(parts, s.Format)
	}
	return strings.Join(parts, " ")
}

// withoutDefault is the schema of an item, whose default clients do not see.
func withoutDefault(s *spec.Schema) *spec.Schema {
	out := *s
	out.Default = nil
	return &out
}

// Write is the table as text.
func Write(lines map[string]string) string {
	var out strings.Builder
	for _, key := range slices.Sorted(maps.Keys(lines)) {
		fmt.Fprintf(&out, "%s: %s\n", key, lines[key])
	}
	return out.String()
}

// Parse reads what Write wrote.
func Parse(text string) map[string]string {
	out := map[string]string{}
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		out[key] = value
	}
	return out
}
