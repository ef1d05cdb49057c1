package catalog

import (
	"bytes"
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
	sent    []byte // what was converted
	fields  int    // how many it has
	tree    map[string]any
	passing bool // the converter changed meanwhile
}

// Preview converts the present form of a new state to a version. It leaves
// tree as it is.
func (r *Resource) Preview(ctx context.Context, tree map[string]any, version string) (*Preview, error) {
	sent, err := object.Encode(tree)
	if err != nil {
		return nil, err
	}
	p := &Preview{viewKey: r.viewKey(version), sent: sent, fields: len(tree)}
	err = r.convertTrees(ctx, version, [][]byte{sent}, func(_ int, t map[string]any) error { p.tree = t; return nil })
	p.passing = r.viewKey(version) != p.viewKey
	return p, err
}

// Tree is the converted state, which is only to be read.
func (p *Preview) Tree() map[string]any { return p.tree }

// complete is what final, the completed state, is at the version of the
// preview; nil when more than the server's own metadata was changed.
func (p *Preview) complete(final map[string]any) map[string]any {
	has, _ := final["metadata"].(map[string]any)
	converted, _ := p.tree["metadata"].(map[string]any)
	if has == nil || converted == nil || !p.shows(final, has) {
		return nil
	}
	// Of metadata a converter decides labels and annotations, nothing else.
	meta := maps.Clone(has)
	for _, k := range metadataOfConverters {
		delete(meta, k)
		if v, ok := converted[k]; ok {
			meta[k] = v
		}
	}
	out := maps.Clone(p.tree)
	out["metadata"] = meta
	return out
}

var metadataOfConverters = [...]string{"labels", "annotations"}

// shows tells that what was converted is final, whose metadata is meta, in all
// that a converter may look at but the server's own metadata.
func (p *Preview) shows(final, meta map[string]any) bool {
	for k, v := range final {
		if k != "metadata" && !encodesAs(v, object.Field(p.sent, k)) {
			return false
		}
	}
	had := object.Field(p.sent, "metadata")
	for _, k := range [...]string{"labels", "annotations", "name"} { // a name may be made late
		v, ok := meta[k]
		raw := object.Field(had, k)
		if ok != (raw != nil) || ok && !encodesAs(v, raw) {
			return false
		}
	}
	return len(final) == p.fields
}

func encodesAs(v any, raw []byte) bool {
	data, err := object.Append(make([]byte, 0, len(raw)), v)
	return err == nil && bytes.Equal(data, raw)
}
