package catalog

import (
	"context"
	"maps"

	"github.com/wasmgate/wasmgate/crd/object"
)

// Preview is a new state of an object at another version, converted before the
// server completed its metadata. What is stored and shown at that version in
// the end differs in nothing else, so it need not be converted again. A Preview
// is used by one goroutine.
type Preview struct {
	viewKey
	from, tree map[string]any
	passing    bool // the converter changed meanwhile
}

// Preview converts the present form of a new state to a version. It leaves
// tree as it is.
func (r *Resource) Preview(ctx context.Context, tree map[string]any, version string) (*Preview, error) {
	p := &Preview{viewKey: r.viewKey(version), from: object.Clone(tree)}
	var err error
	p.tree, err = r.ConvertTree(ctx, tree, version)
	p.passing = r.viewKey(version) != p.viewKey
	return p, err
}

// Tree is the converted state, which is only to be read.
func (p *Preview) Tree() map[string]any { return p.tree }

// complete is what final, the completed state, is at the version of the
// preview; nil when more than the server's own metadata was changed.
func (p *Preview) complete(final map[string]any) map[string]any {
	had, _ := p.from["metadata"].(map[string]any)
	has, _ := final["metadata"].(map[string]any)
	converted, _ := p.tree["metadata"].(map[string]any)
	if has == nil || converted == nil || len(final) != len(p.from) {
		return nil
	}
	for k, v := range final {
		if was, ok := p.from[k]; k != "metadata" && (!ok || !object.Equal(was, v)) {
			return nil
		}
	}
	// Of metadata a converter decides labels and annotations, nothing else.
	meta := maps.Clone(has)
	for _, k := range [...]string{"labels", "annotations"} {
		if !object.Equal(had[k], has[k]) {
			return nil
		}
		delete(meta, k)
		if v, ok := converted[k]; ok {
			meta[k] = v
		}
	}
	out := maps.Clone(p.tree)
	out["metadata"] = meta
	return out
}
