package offline

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/gateway/options/workbench"
)

// Convert implements [workbench.Tools].
func (Tools) Convert(ctx context.Context, what workbench.Conversion) ([]workbench.Converted, error) {
	var d *crd.Definition
	if len(what.Definitions) > 0 {
		var err error
		if d, err = readDefinition(what.Definitions); err != nil {
			return nil, err
		}
		if d.Version(what.To) == nil {
			return nil, fmt.Errorf("%s.%s has no version %s", d.Plural, d.Group, d.APIVersion(what.To))
		}
	}
	all, own := what.By, ""
	if d != nil {
		own = d.Kind
	}
	if all == nil {
		r, err := converting(ctx, what.Module)
		if err != nil {
			return nil, err
		}
		defer r.close()
		all = r.all(d, what.To)
	}
	opened := make([]opened, len(what.Objects))
	var parts [][]byte
	for i, obj := range what.Objects {
		opened[i] = open(own, obj)
		parts = append(parts, opened[i].parts...)
	}
	converted, err := all(ctx, parts)
	if err == nil && len(converted) != len(parts) {
		err = fmt.Errorf("%d of %d objects came back", len(converted), len(parts))
	}
	if err = cmp.Or(ctx.Err(), err); err != nil {
		return nil, err
	}
	out := make([]workbench.Converted, len(what.Objects))
	for i, o := range opened {
		if out[i].Object, err = o.with(converted[:len(o.parts)], what.To); err != nil {
			out[i].Problem = err.Error()
		}
		converted = converted[len(o.parts):]
	}
	return out, nil
}

// opened is an object, or a list as kubectl prints it.
type opened struct {
	text []byte
	// parts are what is converted: the object, or the items of a list as they are written.
	parts [][]byte
	list  bool
	err   error
}

// open looks what there is to convert; own is a kind that is no list, whatever it is
// called.
func open(own string, obj []byte) opened {
	itself := opened{text: obj, parts: [][]byte{obj}}
	kind, _ := object.String(object.Field(obj, "kind"))
	if !strings.HasSuffix(kind, "List") || kind == own {
		return itself
	}
	tree, _, err := object.Parse(obj)
	if err != nil {
		return opened{err: err}
	}
	items, ok := tree["items"].([]any)
	if !ok || !slices.ContainsFunc(items, isObject) && len(items) > 0 {
		return itself
	}
	var texts []json.RawMessage // what is not converted stays as it is written, with all digits
	if err := json.Unmarshal(object.Field(obj, "items"), &texts); err != nil {
		return opened{err: err}
	}
	list := opened{text: obj, list: true}
	for _, text := range texts {
		list.parts = append(list.parts, text)
	}
	return list
}

// with is what was opened with its parts converted to a version.
func (o opened) with(converted []workbench.Converted, version string) ([]byte, error) {
	if o.err != nil {
		return nil, o.err
	}
	if !o.list {
		one := converted[0]
		if one.Problem != "" {
			return nil, errors.New(one.Problem)
		}
		return one.Object, nil
	}
	items, changed := slices.Clone(o.parts), false
	for i, one := range converted {
		if one.Problem != "" {
			return nil, fmt.Errorf("item %d: %s", i+1, one.Problem)
		}
		if one.Object == nil || bytes.Equal(one.Object, o.parts[i]) {
			continue
		}
		if _, _, err := object.Parse(one.Object); err != nil {
			return nil, fmt.Errorf("item %d: %w", i+1, err)
		}
		items[i], changed = one.Object, true
	}
	if !changed {
		return o.text, nil
	}
	return o.listOf(items, version), nil
}

// listOf is the list with other items, and if it is one of their kind at their version.
func (o opened) listOf(items [][]byte, version string) []byte {
	out := []byte{'{'}
	object.EachField(o.text, func(name string, value []byte) bool {
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(object.AppendString(out, name), ':')
		apiVersion, _ := object.String(value)
		switch group, _, ok := strings.Cut(apiVersion, "/"); {
		case name == "items":
			out = append(append(append(out, '['), bytes.Join(items, []byte{','})...), ']')
		case name == "apiVersion" && ok:
			out = object.AppendString(out, group+"/"+version)
		default:
			out = append(out, value...)
		}
		return true
	})
	return append(out, '}')
}

// isObject tells whether an item of a list is an object that says what it is.
func isObject(item any) bool {
	obj, ok := item.(map[string]any)
	return ok && object.TextAt(obj, "kind") != ""
}

// all converts objects one by one, until ctx ends.
func (r *running) all(d *crd.Definition, version string) workbench.ConvertAll {
	return func(ctx context.Context, objects [][]byte) ([]workbench.Converted, error) {
		out := make([]workbench.Converted, len(objects))
		for i, obj := range objects {
			var err error
			if out[i].Object, err = r.one(ctx, d, obj, version); err != nil {
				out[i].Problem = err.Error()
			}
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
		}
		return out, nil
	}
}

// one converts an object to a version; d is its definition, if that is known. It is nil
// for objects of another kind.
func (r *running) one(ctx context.Context, d *crd.Definition, obj []byte, version string) ([]byte, error) {
	apiVersion, _ := object.String(object.Field(obj, "apiVersion"))
	kind, _ := object.String(object.Field(obj, "kind"))
	group, _, ok := strings.Cut(apiVersion, "/")
	switch {
	case d != nil && (group != d.Group || kind != d.Kind):
		return nil, nil
	case !ok:
		return nil, errors.New("the object has no apiVersion of the form GROUP/VERSION")
	case d != nil && d.At(apiVersion) == nil:
		return nil, fmt.Errorf("%s.%s has no version %s", d.Plural, d.Group, apiVersion)
	}
	to := group + "/" + version
	if to == apiVersion {
		return obj, nil
	}
	all, err := r.Convert(ctx, to, [][]byte{obj})
	if err != nil || d == nil {
		return first(all), err
	}
	tree, _, err := object.Parse(first(all))
	if err != nil {
		return nil, err
	}
	if err := d.At(to).Shape.FromConversion(tree); err != nil {
		return nil, err
	}
	return object.Encode(tree)
}

func first(all [][]byte) []byte {
	if len(all) == 0 {
		return nil
	}
	return all[0]
}
