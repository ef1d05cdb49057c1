package offline

import (
	"bytes"
	"context"
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
	one, own := what.By, ""
	if d != nil {
		own = d.Kind
	}
	if one == nil {
		r, err := converting(ctx, what.Module)
		if err != nil {
			return nil, err
		}
		defer r.close()
		one = func(ctx context.Context, obj []byte) ([]byte, error) { return r.one(ctx, d, obj, what.To) }
	}
	out := make([]workbench.Converted, len(what.Objects))
	for i, obj := range what.Objects {
		converted, err := whole(ctx, one, own, obj, what.To)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if out[i].Object = converted; err != nil {
			out[i].Problem = err.Error()
		}
	}
	return out, nil
}

// whole converts an object, or all of a list as kubectl prints it; own is a kind that is
// no list, whatever it is called.
func whole(ctx context.Context, one workbench.ConvertOne, own string, obj []byte, version string) ([]byte, error) {
	kind, _ := object.String(object.Field(obj, "kind"))
	if !strings.HasSuffix(kind, "List") || kind == own {
		return one(ctx, obj)
	}
	tree, _, err := object.Parse(obj)
	if err != nil {
		return nil, err
	}
	items, ok := tree["items"].([]any)
	if !ok || !slices.ContainsFunc(items, isObject) && len(items) > 0 {
		return one(ctx, obj)
	}
	changed := false
	for i, item := range items {
		text, err := object.Encode(item)
		if err != nil {
			return nil, err
		}
		converted, err := one(ctx, text)
		if err != nil {
			return nil, fmt.Errorf("item %d: %w", i+1, err)
		}
		if converted == nil || bytes.Equal(converted, text) {
			continue
		}
		if items[i], _, err = object.Parse(converted); err != nil {
			return nil, fmt.Errorf("item %d: %w", i+1, err)
		}
		changed = true
	}
	if !changed {
		return obj, nil
	}
	if group, _, ok := strings.Cut(fmt.Sprint(tree["apiVersion"]), "/"); ok { // a list of the kind, at its items' version
		tree["apiVersion"] = group + "/" + version
	}
	return object.Encode(tree)
}

// isObject tells whether an item of a list is an object that says what it is.
func isObject(item any) bool {
	obj, ok := item.(map[string]any)
	return ok && object.TextAt(obj, "kind") != ""
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
