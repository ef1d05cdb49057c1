package managedfields_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"github.com/wasmgate/wasmgate/crd"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

const (
	oracleGroup   = "example.com"
	oracleKind    = "Foo"
	oracleStorage = "v1"
)

// oracleCase is one sequence of writes of one object, complete: it can be
// kept as JSON, shrunk, and run again.
type oracleCase struct {
	Note        string             `json:"note,omitempty"`
	Definitions []oracleDefinition `json:"definitions"`
	Ops         []oracleOp         `json:"ops"`
}

// oracleDefinition is one state of the CustomResourceDefinition. Objects are
// stored at version v1.
type oracleDefinition struct {
	Versions []oracleVersion `json:"versions"`
	// Preserve is spec.preserveUnknownFields.
	Preserve bool `json:"preserve,omitempty"`
	// Builtin names a built-in kind; then nothing else is set.
	Builtin string `json:"builtin,omitempty"`

	builtin *crd.Definition
}

// api is the apiVersion of objects at a version.
func (d *oracleDefinition) api(version string) string {
	if d.builtin != nil {
		return d.builtin.APIVersion(version)
	}
	return oracleGroup + "/" + version
}

func (d *oracleDefinition) kind() string {
	if d.builtin != nil {
		return d.builtin.Kind
	}
	return oracleKind
}

func (d *oracleDefinition) group() string {
	if d.builtin != nil {
		return d.builtin.Group
	}
	return oracleGroup
}

type oracleVersion struct {
	Name string `json:"name"`
	// Schema may be left out: then nothing is known of the fields.
	Schema *apiextensionsv1.JSONSchemaProps `json:"schema,omitempty"`
	// Status: the version has a status subresource.
	Status bool `json:"status,omitempty"`
	// Moves are how this version differs from v1.
	Moves []oracleMove `json:"moves,omitempty"`
	// Failing: conversions to this version fail.
	Failing bool `json:"failing,omitempty"`
}

// oracleMove says that what is at Hub at v1 is at Here at another version.
type oracleMove struct {
	Hub  []string `json:"hub"`
	Here []string `json:"here"`
}

// oracleOp is one write.
type oracleOp struct {
	// Do is create, update, apply, or redefine: then Definition is in force.
	Do          string     `json:"do"`
	Definition  int        `json:"definition,omitempty"`
	Version     string     `json:"version,omitempty"`
	Subresource string     `json:"subresource,omitempty"`
	Manager     string     `json:"manager,omitempty"`
	Force       bool       `json:"force,omitempty"`
	Body        oracleTree `json:"body,omitempty"`
	// Managed is metadata.managedFields as the client sends it; left out, it
	// sends what it has read.
	Managed json.RawMessage `json:"managed,omitempty"`
	// Seconds pass before this write.
	Seconds int `json:"seconds,omitempty"`
}

// convert is the converter of both sides: it moves fields and changes
// nothing else. tree is not changed.
func (d *oracleDefinition) convert(tree map[string]any, from, to string) (map[string]any, error) {
	source, target := d.version(from), d.version(to)
	if source == nil || target == nil {
		return nil, fmt.Errorf("no version %s or %s", from, to)
	}
	if from == to {
		return tree, nil
	}
	if target.Failing || source.Failing {
		return nil, fmt.Errorf("conversion from %s to %s failed", from, to)
	}
	return d.moved(tree, from, to)
}

// moved is what convert gives if nothing fails.
func (d *oracleDefinition) moved(tree map[string]any, from, to string) (map[string]any, error) {
	source, target := d.version(from), d.version(to)
	if source == nil || target == nil {
		return nil, fmt.Errorf("no version %s or %s", from, to)
	}
	out := cloneTree(tree)
	for _, m := range source.Moves {
		moveField(out, m.Here, m.Hub)
	}
	for _, m := range target.Moves {
		moveField(out, m.Hub, m.Here)
	}
	out["apiVersion"] = d.api(to)
	return out, nil
}

func (d *oracleDefinition) version(name string) *oracleVersion {
	for i := range d.Versions {
		if d.Versions[i].Name == name {
			return &d.Versions[i]
		}
	}
	return nil
}

func moveField(tree map[string]any, from, to []string) {
	v, ok := takeField(tree, from)
	if !ok {
		return
	}
	for _, name := range to[:len(to)-1] {
		next, ok := tree[name].(map[string]any)
		if !ok {
			next = map[string]any{}
			tree[name] = next
		}
		tree = next
	}
	tree[to[len(to)-1]] = v
}

// takeField removes what is at path, and the objects above it that this
// leaves empty, but for the first.
func takeField(tree map[string]any, path []string) (any, bool) {
	if len(path) == 1 {
		v, ok := tree[path[0]]
		delete(tree, path[0])
		return v, ok
	}
	next, ok := tree[path[0]].(map[string]any)
	if !ok {
		return nil, false
	}
	v, ok := takeField(next, path[1:])
	if ok && len(next) == 0 && len(path) == 2 && path[0] != "spec" {
		delete(tree, path[0])
	}
	return v, ok
}

func cloneTree(tree map[string]any) map[string]any {
	if tree == nil {
		return nil
	}
	out := make(map[string]any, len(tree))
	for k, v := range tree {
		out[k] = cloneValue(v)
	}
	return out
}

func cloneValue(v any) any {
	switch x := v.(type) {
	case map[string]any:
		return cloneTree(x)
	case []any:
		if x == nil {
			return x
		}
		out := make([]any, len(x))
		for i := range x {
			out[i] = cloneValue(x[i])
		}
		return out
	}
	return v
}

// oracleTree is an object that stays as it is when it is written as JSON and
// read again: whole numbers that are floats stay floats.
type oracleTree map[string]any

func (t oracleTree) MarshalJSON() ([]byte, error) {
	return json.Marshal(keepFloats(map[string]any(t)))
}

func (t *oracleTree) UnmarshalJSON(in []byte) error {
	var out map[string]any
	if err := utiljson.Unmarshal(in, &out); err != nil {
		return err
	}
	*t = out
	return nil
}

func keepFloats(v any) any {
	switch x := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(x))
		for k := range x {
			out[k] = keepFloats(x[k])
		}
		return out
	case []any:
		out := make([]any, len(x))
		for i := range x {
			out[i] = keepFloats(x[i])
		}
		return out
	case float64:
		if x == math.Trunc(x) && math.Abs(x) < 1e15 {
			return json.Number(strconv.FormatFloat(x, 'f', 1, 64))
		}
	}
	return v
}
