package openapi

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// model is the name that built-in kinds have in Kubernetes' documents, or ""
// for custom resources, which are named after their group.
func (k *kind) model() string {
	if !k.version.Native() {
		return ""
	}
	if m, ok := k.version.Typed().(interface{ OpenAPIModelName() string }); ok {
		return m.OpenAPIModelName()
	}
	return ""
}

// renamed gives a built-in kind's document the names that clients know. It
// goes through the document's text, where a name is the same wherever it
// stands: in paths, references, identifiers and extensions.
func renamed[D any](k *kind, doc *D) (*D, error) {
	model := k.model()
	if model == "" {
		return doc, nil
	}
	text, err := json.Marshal(doc)
	if err != nil {
		return nil, err
	}
	group := k.at.Group
	if group == "" {
		group = coreGroup
	}
	text = bytes.ReplaceAll(text, []byte(reversed(group)+"."+k.at.Version+"."+k.def.Kind), []byte(model))
	if k.at.Group == "" {
		for _, r := range [][2]string{
			{"/apis/" + coreGroup + "/", "/api/"},
			{`"group":"` + coreGroup + `"`, `"group":""`},
			{"coreInvalid_", "core_"},
			{"CoreInvalid", "Core"},
		} {
			text = bytes.ReplaceAll(text, []byte(r[0]), []byte(r[1]))
		}
	}
	out := new(D)
	return out, json.Unmarshal(text, out)
}

// reversed turns example.com into com.example.
func reversed(group string) string {
	parts := strings.Split(group, ".")
	slices.Reverse(parts)
	return strings.Join(parts, ".")
}

// own are the names of the kind's own schemas.
func (k *kind) own() []string {
	name := k.model()
	if name == "" {
		name = reversed(k.at.Group) + "." + k.at.Version + "." + k.def.Kind
		return []string{name, reversed(k.at.Group) + "." + k.at.Version + "." + k.def.ListKind}
	}
	return []string{name, name + "List"}
}
