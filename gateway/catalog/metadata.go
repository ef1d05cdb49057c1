package catalog

import (
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/crd/object"
)

// MetadataView is the object as PartialObjectMetadata. It never converts. The
// bytes are shared and must not be changed.
func (r *Resource) MetadataView(e *Entry) ([]byte, error) {
	k := r.metadataKey()
	if v := e.view(k); v != nil {
		return v.data, nil
	}
	meta, err := r.Metadata(e)
	if err != nil {
		return nil, err
	}
	out := make([]byte, 0, len(meta)+120)
	out = append(out, `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":`...)
	if out, err = object.AppendMetadata(out, meta, e.Revision); err != nil {
		return nil, r.Unreadable(e, err)
	}
	out = append(out, '}')
	e.addView(&view{viewKey: k, data: out})
	return out, nil
}

// Metadata is the metadata object of the stored state, as JSON; its
// resourceVersion, if any, is not to be trusted. The bytes are shared.
func (r *Resource) Metadata(e *Entry) ([]byte, error) {
	if !e.storedJSON() { // decoded at whatever version it is stored: nothing is converted
		tree, _, err := r.restoreTree(e)
		if err != nil {
			return nil, err
		}
		return object.Encode(tree["metadata"])
	}
	s, end, err := object.Metadata(e.Stored)
	if err != nil {
		return nil, r.Unreadable(e, err)
	}
	return e.Stored[s:end], nil
}

// Labels are the labels of the stored object. Label edits made by a converter
// are not visible to selectors, so that no selector needs one. The set is
// shared and must not be changed.
func (r *Resource) Labels(e *Entry) (labels.Set, error) {
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
	return set, nil
}

// Fields are what field selectors may ask for of an object at a version, whose
// JSON there is data. They are read out once and remembered with the view.
func (r *Resource) Fields(e *Entry, version *crd.Version, data []byte) (fields.Set, error) {
	v := e.view(r.viewKey(version.Name))
	if v != nil {
		if set := v.fields.Load(); set != nil {
			return *set, nil
		}
		data = v.data
	}
	tree, _, err := object.Parse(data)
	if err != nil {
		return nil, r.Unreadable(e, err)
	}
	set := version.Fields(tree)
	if v != nil {
		v.fields.Store(&set)
	}
	return set, nil
}
