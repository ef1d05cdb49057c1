package view

import (
	"bytes"
	"context"
	"maps"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/gateway/view/encoding"
	"github.com/wasmgate/wasmgate/storage"
)

// Draft is a new state of an object before it is stored, with the views that
// its writer asked for. They are made before the commit, so that nothing can
// fail after it, and afterwards they are the first reader's too. A Draft is
// used by one goroutine.
type Draft struct {
	// Stored are the bytes for the store.
	Stored []byte

	renderer  *Renderer
	canonical bool // reading Stored gives Stored
	views     []draftView
	// base is the view at the version that the draft is stored at, which is at,
	// once it was made.
	base []byte
	at   string
	// encoded is the tree that Stored is the encoding of, where that has to be
	// decoded to be shown; message: it was found again in Stored.
	encoded map[string]any
	message bool
}

// draftView is a view that lacks its resourceVersion.
type draftView struct {
	Key
	data      []byte
	converted bool
	// passing: the converter changed while it was made, so it is shown to the
	// writer and not remembered.
	passing bool
}

// Draft encodes the new state of an object at version v, converting it to the
// storage version where v is another. What was converted before is taken from
// the previews, unless readers will see it converted from the storage version
// and it was converted from another one. live is the state before at version v, as it is
// shown there, if it is known: what tree shares with it is not encoded again. tree itself
// is left as it is but for its resourceVersion, which is removed.
func (r *Renderer) Draft(ctx context.Context, v *crd.Version, tree map[string]any, live object.Text, previews ...*Preview) (*Draft, error) {
	dropRevision(tree)
	at, stored := r.Def.Version(r.Def.StorageVersion), tree
	var text []byte // of stored
	var views []draftView
	if v != at {
		stored = nil
	}
	for _, p := range previews {
		known, data := p.complete(tree)
		switch {
		case known == nil:
		case p.Version == at.Name:
			stored, text = known, data
		case v != at:
		default:
			if data == nil {
				var err error
				if data, err = object.Encode(known); err != nil {
					return nil, err
				}
			}
			views = append(views, draftView{Key: p.Key, data: data, converted: true, passing: p.passing || r.KeyOf(p.Encoding) != p.Key})
		}
	}
	if stored == nil {
		var err error
		if stored, err = r.ConvertTree(ctx, tree, at.Name); err != nil {
			return nil, err
		}
	}
	if v != at {
		live = object.Text{}
	}
	d, err := r.draft(at, stored, text, live)
	if err == nil {
		d.views = views
	}
	return d, err
}

// DraftStored encodes a new state of an object at whatever version it is
// stored at, without converting it. tree is left as it is but for its
// resourceVersion, which is removed.
func (r *Renderer) DraftStored(tree map[string]any) (*Draft, error) {
	dropRevision(tree)
	return r.draft(nil, tree, nil, object.Text{})
}

// draft encodes a tree, of which text is the canonical JSON where it is known, and which
// may share parts with like.
func (r *Renderer) draft(at *crd.Version, tree map[string]any, text []byte, like object.Text) (*Draft, error) {
	stored, err := r.encoded(tree, text, like)
	if err != nil {
		return nil, err
	}
	d := &Draft{Stored: stored, renderer: r}
	switch {
	case at == nil:
	case isJSON(stored):
		d.canonical = at.Shape.Canonical(tree)
	default:
		d.encoded = outline(tree)
	}
	return d, nil
}

// outline is a tree of the same values: the writer goes on to take managedFields
// off the other.
func outline(tree map[string]any) map[string]any {
	out := maps.Clone(tree)
	if meta, ok := out["metadata"].(map[string]any); ok {
		out["metadata"] = maps.Clone(meta)
	}
	return out
}

// View is the new state at a version as a read will return it, without a
// resourceVersion. The bytes are shared and must not be changed.
func (d *Draft) View(ctx context.Context, version string) ([]byte, error) {
	for _, v := range d.views {
		if v.Version == version {
			return v.data, nil
		}
	}
	data, at, err := d.read()
	if err != nil || at == version {
		return data, err
	}
	k := d.renderer.KeyOf(encoding.At(version))
	out, err := d.renderer.convert(ctx, version, data)
	if err != nil {
		return nil, err
	}
	d.views = append(d.views, draftView{Key: k, data: out, converted: true, passing: d.renderer.KeyOf(encoding.At(version)) != k})
	return out, nil
}

// read is the view at the version that the draft is stored at, and that
// version.
func (d *Draft) read() (data []byte, version string, err error) {
	r := d.renderer
	switch {
	case d.base != nil:
		return d.base, d.at, nil
	case d.canonical:
		data, version = bytes.TrimSuffix(d.Stored, []byte("\n")), r.Def.StorageVersion
	default:
		var tree map[string]any
		if tree, version, err = d.restored(); err != nil {
			return nil, "", err
		}
		dropRevision(tree)
		d.message = d.encoded != nil && object.Equal(tree, d.encoded)
		if data, err = object.Encode(tree); err != nil {
			return nil, "", err
		}
	}
	d.base, d.at = data, version
	d.views = append(d.views, draftView{Key: r.KeyOf(encoding.At(version)), data: data})
	return data, version, nil
}

// restored is what will be read of Stored, which is decoded unless the codec knows that
// this gives the tree again that it encoded.
func (d *Draft) restored() (tree map[string]any, version string, err error) {
	if c, ok := d.renderer.Def.Codec.(crd.KeepingCodec); ok && d.encoded != nil && c.Keeps(d.encoded) {
		return d.renderer.wellFormed(object.CloneValue(d.encoded).(map[string]any), StateOf(d.Stored, 0))
	}
	return d.renderer.restoreTree(StateOf(d.Stored, 0))
}

// Committed is the draft as it was stored at a revision, with all views made
// so far, and its view at a version ("" for none). The bytes are shared.
func (d *Draft) Committed(revision int64, version string) (e *Entry, shown []byte, err error) {
	e = NewEntry(storage.KV{Value: d.Stored, Revision: revision})
	if d.message {
		d.renderer.canonicalAsSent(e)
	}
	for _, v := range d.views {
		data, err := object.WithRevision(v.data, revision)
		if err != nil {
			return nil, nil, d.renderer.Unreadable(e, err)
		}
		if v.Version == version {
			shown = data
		}
		if !v.passing {
			d.renderer.rememberText(e, v.Key, data, v.converted)
		}
	}
	return e, shown, nil
}
