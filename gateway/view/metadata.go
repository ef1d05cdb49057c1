package view

import (
	"context"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/gateway/view/encoding"
)

// metadata fills out with those that are due, as PartialObjectMetadata in JSON, on all
// cores.
func (r *Renderer) metadata(_ context.Context, entries []*Entry, due []int, k Key, out []encoding.Object) error {
	return Spread(len(due), func(n int) error {
		v, err := r.metadataView(entries[due[n]], k.Encoding)
		if err == nil {
			out[due[n]] = &v.data
		}
		return err
	})
}

// metadataView is the object as PartialObjectMetadata in JSON.
func (r *Renderer) metadataView(e *Entry, in encoding.Encoding) (*view, error) {
	k := r.KeyOf(in)
	if v := e.view(k); v != nil {
		return v, nil
	}
	meta, err := r.readMetadata(e)
	if err != nil {
		return nil, err
	}
	out := append(make([]byte, 0, len(meta)+120), encoding.PartialHead(in.Version)...)
	if out, err = object.AppendMetadata(out, meta, e.Revision); err != nil {
		return nil, r.Unreadable(e, err)
	}
	v := &view{Key: k, data: append(out, '}')}
	r.remember(e, v)
	return v, nil
}

// Metadata is the metadata object of the stored state, as JSON; its
// resourceVersion, if any, is not to be trusted. The bytes are shared.
func (r *Renderer) Metadata(e *Entry) ([]byte, error) {
	if e.storedJSON() {
		return r.readMetadata(e)
	}
	v, err := r.metadataView(e, encoding.MetadataOnly()) // which remembers what had to be decoded
	if err != nil {
		return nil, err
	}
	return r.metadataIn(e, v.data)
}

// Labels are the labels of the stored object. Label edits made by a converter
// are not visible to selectors, so that no selector needs one. The set is
// shared and must not be changed.
func (r *Renderer) Labels(e *Entry) (labels.Set, error) {
	if l := e.labels.Load(); l != nil {
		return *l, nil
	}
	meta, err := r.Metadata(e)
	if err != nil {
		return nil, err
	}
	set := labels.Set{}
	if raw := object.Field(meta, "labels"); raw != nil && string(raw) != "null" {
		tree, _, err := object.Parse(raw)
		if err != nil {
			return nil, r.Unreadable(e, err)
		}
		for k, v := range tree {
			if s, ok := v.(string); ok {
				set[k] = s
			}
		}
	}
	e.labels.Store(&set)
	r.memory.Grew(labelBytes * len(set))
	return set, nil
}

// Fields are what field selectors may ask for of an object at a version, whose
// JSON there is data. They are read out once and remembered with the view.
func (r *Renderer) Fields(e *Entry, version *crd.Version, data []byte) (fields.Set, error) {
	v := e.view(r.KeyOf(encoding.At(version.Name)))
	if v != nil {
		if m := v.more.Load(); m != nil {
			return m.fields, nil
		}
		data = v.data
	}
	tree, _, err := object.Parse(data)
	if err != nil {
		return nil, r.Unreadable(e, err)
	}
	set := version.Fields(tree)
	if v != nil {
		v.more.Store(&more{fields: set})
		r.memory.Grew(labelBytes * len(set))
	}
	return set, nil
}
