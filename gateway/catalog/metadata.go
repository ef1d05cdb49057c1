package catalog

import (
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/gateway/view/encoding"
)

// metadata fills out with those that are due, as PartialObjectMetadata in JSON, on all
// cores.
func (r *Resource) metadata(_ context.Context, entries []*Entry, due []int, k viewKey, out []encoding.Object) error {
	return spread(len(due), func(n int) error {
		v, err := r.metadataView(entries[due[n]], k.Encoding)
		if err == nil {
			out[due[n]] = &v.data
		}
		return err
	})
}

// metadataView is the object as PartialObjectMetadata in JSON.
func (r *Resource) metadataView(e *Entry, in encoding.Encoding) (*view, error) {
	k := r.key(in)
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
	v := &view{viewKey: k, data: append(out, '}')}
	r.remember(e, v)
	return v, nil
}

// Metadata is the metadata object of the stored state, as JSON; its
// resourceVersion, if any, is not to be trusted. The bytes are shared.
func (r *Resource) Metadata(e *Entry) ([]byte, error) {
	if e.storedJSON() {
		return r.readMetadata(e)
	}
	v, err := r.metadataView(e, encoding.MetadataOnly()) // which remembers what had to be decoded
	if err != nil {
		return nil, err
	}
	return r.metadataIn(e, v.data)
}

// readMetadata takes the metadata out of the stored bytes, at whatever version
// they are: nothing is converted.
func (r *Resource) readMetadata(e *Entry) ([]byte, error) {
	if e.storedJSON() {
		return r.metadataIn(e, e.Stored)
	}
	tree, _, err := r.restoreTree(e)
	if err != nil {
		return nil, err
	}
	meta, ok := tree["metadata"].(map[string]any)
	if !ok {
		return nil, r.Unreadable(e, errNoMetadata)
	}
	return object.Encode(meta)
}

func (r *Resource) metadataIn(e *Entry, data []byte) ([]byte, error) {
	s, end, err := object.Metadata(data)
	if err != nil {
		return nil, r.Unreadable(e, err)
	}
	return data[s:end], nil
}

var errNoMetadata = errors.New("it has no metadata")

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
	r.memory.grew(labelBytes * len(set))
	return set, nil
}

// Fields are what field selectors may ask for of an object at a version, whose
// JSON there is data. They are read out once and remembered with the view.
func (r *Resource) Fields(e *Entry, version *crd.Version, data []byte) (fields.Set, error) {
	v := e.view(r.key(encoding.At(version.Name)))
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
		r.memory.grew(labelBytes * len(set))
	}
	return set, nil
}
