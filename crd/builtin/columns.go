package builtin

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	metatable "k8s.io/apimachinery/pkg/api/meta/table"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/wasmgate/wasmgate/crd/builtin/extend"
	"github.com/wasmgate/wasmgate/crd/builtin/file"
	"github.com/wasmgate/wasmgate/crd/cel/dyn"
	"github.com/wasmgate/wasmgate/crd/schema"
)

// columns print objects of a kind that is a file.
type columns struct {
	// headers are made when they are first asked for.
	headers func() []metav1.TableColumnDefinition
	cells   []func(obj map[string]any) (any, error)
}

func newColumns(in []file.Column, t reflect.Type) *columns {
	all := in
	if !slices.ContainsFunc(in, func(c file.Column) bool { return c.Name == "Name" }) {
		name := file.Column{}
		name.Name, name.Type, name.Format, name.JSONPath = "Name", "string", "name", ".metadata.name"
		all = append([]file.Column{name}, in...)
	}
	out := &columns{headers: sync.OnceValue(func() []metav1.TableColumnDefinition { return headers(all, t) })}
	for _, c := range all {
		out.cells = append(out.cells, cell(c))
	}
	return out
}

func headers(all []file.Column, t reflect.Type) []metav1.TableColumnDefinition {
	out := make([]metav1.TableColumnDefinition, len(all))
	for i, c := range all {
		out[i] = metav1.TableColumnDefinition{Name: c.Name, Type: c.Type, Format: c.Format, Description: c.Description, Priority: c.Priority}
		if c.Type == "date" && c.Expression == "" {
			out[i].Type = "string"
		}
		if c.Description == "" {
			out[i].Description = descriptionAt(t, c.JSONPath)
		}
	}
	return out
}

// descriptionAt is what the Go type says of the field at a path.
func descriptionAt(t reflect.Type, path string) string {
	description := ""
	for _, name := range strings.Split(strings.TrimPrefix(path, "."), ".") {
		for t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		if t.Kind() != reflect.Struct {
			return ""
		}
		for _, f := range schema.Fields(t) {
			if f.Name == name {
				description, t = f.Description, f.Type
				break
			}
		}
	}
	return description
}

// cell reads one column. A date is printed as how long ago it is.
func cell(c file.Column) func(map[string]any) (any, error) {
	if f := extend.Cell(c.Function); f != nil {
		return func(obj map[string]any) (any, error) { return f(obj), nil }
	}
	if c.Expression != "" {
		e := dyn.Bounded(c.Expression)
		return func(obj map[string]any) (any, error) { return e.Eval(dyn.Variables{Self: obj}) }
	}
	path := strings.Split(strings.TrimPrefix(c.JSONPath, "."), ".")
	return func(obj map[string]any) (any, error) {
		v, _, err := unstructured.NestedFieldNoCopy(obj, path...)
		switch {
		case err != nil:
			return nil, err
		case c.Type == "date":
			text, _ := v.(string)
			var t metav1.Time
			_ = t.UnmarshalQueryParameter(text) // what is no time is not known
			return dyn.Age(t.Time), nil
		case v == nil && c.Type == "string":
			return "", nil
		case v == nil && c.Type == "integer":
			return int64(0), nil
		}
		return v, nil
	}
}

// ConvertToTable implements rest.TableConvertor for *unstructured.Unstructured
// and *unstructured.UnstructuredList.
func (t *columns) ConvertToTable(_ context.Context, obj, options runtime.Object) (*metav1.Table, error) {
	var headers []metav1.TableColumnDefinition
	if o, _ := options.(*metav1.TableOptions); o == nil || !o.NoHeaders {
		headers = t.headers()
	}
	return tableOf(obj, headers, t.row)
}

func (t *columns) row(obj runtime.Object, _ metav1.Object, _, _ string) ([]any, error) {
	u, _ := obj.(*unstructured.Unstructured)
	tree := content(u)
	out := make([]any, len(t.cells))
	for i, read := range t.cells {
		v, err := read(tree)
		if err != nil {
			return nil, fmt.Errorf("column %d: %w", i, err)
		}
		out[i] = v
	}
	return out, nil
}

// tableOf is a table of one object or a list.
func tableOf(obj runtime.Object, headers []metav1.TableColumnDefinition, row func(runtime.Object, metav1.Object, string, string) ([]any, error)) (*metav1.Table, error) {
	out := &metav1.Table{ColumnDefinitions: headers}
	if l, err := meta.ListAccessor(obj); err == nil { // one object is a list's metadata, too
		out.ResourceVersion = l.GetResourceVersion()
		out.Continue = l.GetContinue()
		out.RemainingItemCount = l.GetRemainingItemCount()
	}
	var err error
	out.Rows, err = metatable.MetaToTableRow(obj, row)
	return out, err
}

// selectors are the names of the fields that selectors may name, and the
// function that reads them.
func selectors(in []file.Selectable) ([]string, func(map[string]any) fields.Set) {
	if len(in) == 0 {
		return nil, nil
	}
	names := make([]string, len(in))
	read := make([]func(map[string]any) (any, error), len(in))
	for i, s := range in {
		if names[i] = s.Name; s.Name == "" {
			names[i] = strings.TrimPrefix(s.JSONPath, ".")
		}
		c := file.Column{Expression: s.Expression, Function: s.Function}
		c.JSONPath = s.JSONPath
		read[i] = cell(c)
	}
	return names, func(obj map[string]any) fields.Set {
		out := make(fields.Set, len(names))
		for i, name := range names {
			v, err := read[i](obj)
			s, ok := v.(string)
			if !ok && err == nil && v != nil {
				s = fmt.Sprint(v)
			}
			out[name] = s
		}
		return out
	}
}
