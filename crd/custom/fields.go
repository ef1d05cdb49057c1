package custom

import (
	"fmt"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/util/jsonpath"
)

// selectableField is one field that a field selector may name. Only paths of
// plain field names are valid, so path is all there is to it.
type selectableField struct {
	name string
	path []string
}

// selectableFields returns the names of the fields and the function that reads
// their values; both are nil when there are none.
func selectableFields(in []apiextensionsv1.SelectableField) ([]string, func(map[string]any) fields.Set, error) {
	if len(in) == 0 {
		return nil, nil, nil
	}
	var names []string
	var list []selectableField
	for _, f := range in {
		path, err := fieldPath(f.JSONPath)
		if err != nil {
			return nil, nil, fmt.Errorf("selectable field %s: %w", f.JSONPath, err)
		}
		name := strings.TrimPrefix(f.JSONPath, ".")
		names = append(names, name)
		list = append(list, selectableField{name, path})
	}
	return names, func(obj map[string]any) fields.Set {
		out := make(fields.Set, len(list)+2)
		for _, f := range list {
			out[f.name] = valueAt(obj, f.path)
		}
		return out
	}, nil
}

// fieldPath splits a JSON path into field names.
func fieldPath(path string) ([]string, error) {
	parser, err := jsonpath.Parse("selectableField", "{"+path+"}")
	if err != nil {
		return nil, err
	}
	if len(parser.Root.Nodes) != 1 {
		return nil, fmt.Errorf("it is not one path")
	}
	list, ok := parser.Root.Nodes[0].(*jsonpath.ListNode)
	if !ok {
		return nil, fmt.Errorf("it is not one path")
	}
	var out []string
	for _, n := range list.Nodes {
		f, ok := n.(*jsonpath.FieldNode)
		if !ok {
			return nil, fmt.Errorf("it has more than field names")
		}
		out = append(out, f.Value)
	}
	return out, nil
}

// valueAt prints the scalar at path; what is missing or null is "".
func valueAt(obj map[string]any, path []string) string {
	var v any = obj
	for _, p := range path {
		m, ok := v.(map[string]any)
		if !ok {
			return ""
		}
		v = m[p]
	}
	switch x := v.(type) {
	case nil:
		return ""
	case string:
		return x
	default:
		return fmt.Sprint(x)
	}
}
