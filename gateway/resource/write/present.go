package write

import (
	"context"
	"maps"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/gateway/view"
	"github.com/wasmgate/wasmgate/managedfields"
)

// present is the state that an attempt starts from, at the version of the request
// and, as far as field management asks for them, at others ([managedfields.Versions]).
type present struct {
	of      resource.Target
	entry   *view.Entry // nil where there is none
	data    []byte
	object  *unstructured.Unstructured // nil unless it was decoded
	managed object.Managed

	// new is what becomes of it, lives and previews are it and that at versions
	// that owners speak of.
	new      map[string]any
	lives    []live
	previews []*view.Preview
}

// text is it with the text that it was read from, as far as it was decoded.
func (p *present) text() object.Text {
	if p.object == nil {
		return object.Text{}
	}
	return object.Text{Data: p.data, Tree: p.object.Object}
}

// live is the present state at a version.
type live struct {
	version string
	object.Text
}

// readPresent reads an entry, which shares with what was sent, if anything, all that is
// written the same but metadata.
func readPresent(ctx context.Context, t resource.Target, e *view.Entry, sent object.Text) (p present, err error) {
	p.of, p.entry = t, e
	if p.data, err = t.Resource.View(ctx, e, t.Version.Name); err != nil {
		return p, err
	}
	tree, _, err := object.ParseLike(p.data, sent)
	if err != nil {
		return p, t.Resource.Unreadable(e, err)
	}
	if sent.Tree != nil {
		ownMetadata(tree)
	}
	p.object = asUnstructured(tree)
	p.managed, err = object.TakeManaged(tree)
	return p, err
}

// readStored decodes an entry as it is stored, managedFields included. Its data are
// at the version of the request, if they are wanted.
func readStored(ctx context.Context, t resource.Target, e *view.Entry, data bool) (p present, err error) {
	p.of, p.entry = t, e
	tree, err := t.Resource.Decode(e)
	if err != nil {
		return p, err
	}
	p.object = asUnstructured(tree)
	if data {
		p.data, err = t.Resource.View(ctx, e, t.Version.Name)
	}
	return p, err
}

// Live implements [managedfields.Versions]: the view that readers share.
func (p *present) Live(ctx context.Context, version string) (map[string]any, error) {
	r := p.of.Resource
	if r.Def.Version(version) == nil {
		return nil, managedfields.ErrNoVersion
	}
	data, err := r.View(ctx, p.entry, version)
	if err != nil {
		return nil, err
	}
	tree, _, err := object.ParseLike(data, p.text())
	if err != nil {
		return nil, r.Unreadable(p.entry, err)
	}
	if _, err = object.TakeManaged(tree); err != nil {
		return nil, err
	}
	p.lives = append(p.lives, live{version, object.Text{Data: data, Tree: tree}})
	return tree, nil
}

// New implements [managedfields.Versions]. What is converted here is not converted
// again to be stored or shown.
func (p *present) New(ctx context.Context, version string) (map[string]any, error) {
	if p.of.Resource.Def.Version(version) == nil {
		return nil, managedfields.ErrNoVersion
	}
	var like object.Text
	for _, l := range p.lives {
		if l.version == version {
			like = l.Text
			break
		}
	}
	v, err := p.of.Resource.Preview(ctx, p.new, version, like)
	if err != nil {
		return nil, err
	}
	p.previews = append(p.previews, v)
	return v.Tree(), nil
}

// Convert implements [managedfields.Versions].
func (p *present) Convert(ctx context.Context, tree map[string]any, _, to string) (map[string]any, error) {
	r := p.of.Resource
	if r.Def.Version(to) == nil {
		return nil, managedfields.ErrNoVersion
	}
	if _, ok := tree["metadata"]; ok {
		return r.ConvertPart(ctx, tree, to)
	}
	// Of an object without what one manager owned not even the name may be
	// left; but converters are told, and asked, which object it is.
	identity := map[string]any{"name": p.of.Name}
	if p.of.Namespace != "" {
		identity["namespace"] = p.of.Namespace
	}
	whole := maps.Clone(tree)
	whole["metadata"] = maps.Clone(identity)
	out, err := r.ConvertPart(ctx, whole, to)
	if meta, ok := out["metadata"].(map[string]any); ok {
		for k := range identity {
			delete(meta, k)
		}
		if len(meta) == 0 {
			delete(out, "metadata")
		}
	}
	return out, err
}
