package view

import (
	"context"
	"maps"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/gateway/view/encoding"
)

// Preview is a new state of an object at another version, converted before the
// server completed its metadata. What is stored and shown at that version in
// the end differs in nothing else, so it need not be converted again. A Preview
// is used by one goroutine.
type Preview struct {
	Key
	sent    []byte // what was converted
	fields  int    // how many it has
	tree    map[string]any
	text    []byte // the tree as canonical JSON, nil when it has to be encoded
	passing bool   // the converter changed meanwhile
}

// Preview converts the present form of a new state to a version. It leaves
// tree as it is. live is the state before at that version, if it is known: the
// two share what they have in common.
func (r *Renderer) Preview(ctx context.Context, tree map[string]any, version string, live object.Text) (*Preview, error) {
	sent, err := object.Encode(tree)
	if err != nil {
		return nil, err
	}
	p := &Preview{Key: r.KeyOf(encoding.At(version)), sent: sent, fields: len(tree)}
	err = r.eachConverted(ctx, version, [][]byte{sent}, func(v *crd.Version, _ int, data []byte) (err error) {
		if v.Unchanged != nil && v.Unchanged(data) {
			p.text = data
			p.tree, _, err = object.ParseLike(data, live)
			return err
		}
		p.tree, err = wellFormed(v, data, crd.Shape.FromConversion)
		return err
	})
	p.passing = r.KeyOf(encoding.At(version)) != p.Key
	return p, err
}

// Tree is the converted state, which is only to be read.
func (p *Preview) Tree() map[string]any { return p.tree }

// complete is what final, the completed state, is at the version of the
// preview, with its text if that costs little; nil when more than the server's
// own metadata was changed.
func (p *Preview) complete(final map[string]any) (tree map[string]any, text []byte) {
	has, _ := final["metadata"].(map[string]any)
	converted, _ := p.tree["metadata"].(map[string]any)
	if has == nil || converted == nil || !p.shows(final, has) {
		return nil, nil
	}
	// Of metadata a converter decides labels and annotations, nothing else.
	meta := maps.Clone(has)
	for _, k := range metadataOfConverters {
		delete(meta, k)
		if v, ok := converted[k]; ok {
			meta[k] = v
		}
	}
	tree = maps.Clone(p.tree)
	tree["metadata"] = meta
	if p.text != nil {
		// Without it the tree is encoded, which finds out what is wrong.
		text, _ = object.WithMetadata(p.text, meta)
	}
	return tree, text
}

var metadataOfConverters = [...]string{"labels", "annotations"}

// shows tells that what was converted is final, whose metadata is meta, in all
// that a converter may look at but the server's own metadata.
func (p *Preview) shows(final, meta map[string]any) bool {
	if len(final) != p.fields {
		return false
	}
	return object.EachField(p.sent, func(key string, raw []byte) bool {
		if key == "metadata" {
			return showsMetadata(raw, meta)
		}
		v, ok := final[key]
		return ok && object.IsText(v, raw)
	})
}

// showsMetadata compares what a converter may look at of metadata.
func showsMetadata(sent []byte, meta map[string]any) bool {
	have := 0
	same := object.EachField(sent, func(key string, raw []byte) bool {
		switch key {
		case "labels", "annotations", "name": // a name may be made late
			v, ok := meta[key]
			have++
			return ok && object.IsText(v, raw)
		}
		return true
	})
	for _, k := range [...]string{"labels", "annotations", "name"} {
		if _, ok := meta[k]; ok {
			have--
		}
	}
	return same && have == 0
}
