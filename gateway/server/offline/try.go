package offline

import (
	"context"
	"strings"

	"github.com/wasmgate/wasmgate/conversion/proof"
	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/gateway/options/workbench"
)

// Try implements [workbench.Tools].
func (Tools) Try(ctx context.Context, what workbench.Samples) ([]workbench.Sample, error) {
	d, err := readDefinition(what.Definitions)
	if err != nil {
		return nil, err
	}
	if _, err := pairsOf(d, nil); err != nil {
		return nil, err
	}
	r, err := converting(ctx, what.Module)
	if err != nil {
		return nil, err
	}
	defer r.close()
	all := make([]workbench.Sample, len(what.Objects))
	for i, obj := range what.Objects {
		all[i] = r.sample(ctx, d, obj, what.Acknowledged)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	return all, nil
}

// sample tries one object.
func (r *running) sample(ctx context.Context, d *crd.Definition, obj []byte, acknowledged []string) (out workbench.Sample) {
	apiVersion, _ := object.String(object.Field(obj, "apiVersion"))
	kind, _ := object.String(object.Field(obj, "kind"))
	group, version, _ := strings.Cut(apiVersion, "/")
	if group != d.Group || kind != d.Kind {
		return out
	}
	out.Version = version
	tree, _, err := object.Parse(obj)
	if err == nil {
		if meta, ok := tree["metadata"].(map[string]any); ok && d.Namespaced && meta["namespace"] == nil {
			meta["namespace"] = "default"
		}
		var losses []proof.Loss
		losses, err = proof.Try(ctx, d, r.Converter, tree, proof.Options{Acknowledged: acknowledged, Temporary: temporary})
		out.Losses = told(losses)
	}
	if err != nil {
		out.Problem = err.Error()
		return out
	}
	for _, v := range d.Versions {
		if v.Name == version || !v.Served && v.Name != d.StorageVersion {
			continue
		}
		made := workbench.Made{To: v.Name}
		if made.Object, err = r.one(ctx, d, obj, v.Name); err != nil {
			made.Problem = err.Error()
		}
		out.Made = append(out.Made, made)
	}
	return out
}
