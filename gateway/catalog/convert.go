package catalog

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/crd/object"
)

// restore decodes an entry, makes it well-formed by the schema of the version
// it is stored at, and returns it with its resourceVersion and that version.
func (r *Resource) restore(e *Entry) ([]byte, string, error) {
	tree, version, err := r.restoreTree(e)
	if err != nil {
		return nil, "", err
	}
	object.SetRevision(tree, e.Revision)
	data, err := object.Encode(tree)
	return data, version, err
}

// Readable is the status error of an entry whose bytes cannot be read; nil of
// one that can be.
func (r *Resource) Readable(e *Entry) error {
	_, _, err := r.restoreTree(e)
	return err
}

// restoreTree is restore before the resourceVersion is set.
func (r *Resource) restoreTree(e *Entry) (map[string]any, string, error) {
	tree, err := r.Def.Codec.Decode(e.Stored)
	if err != nil {
		return nil, "", r.Unreadable(e, err)
	}
	apiVersion, _ := tree["apiVersion"].(string)
	if v := r.Def.At(apiVersion); v != nil {
		if err := v.Shape.FromStorage(tree); err != nil {
			return nil, "", r.Unreadable(e, err)
		}
		return tree, v.Name, nil
	}
	group, version, ok := strings.Cut(apiVersion, "/") // a version that is gone
	if !ok {
		group, version = "", apiVersion
	}
	if group != r.Def.Group {
		return nil, "", r.Unreadable(e, fmt.Errorf("stored object is of %q", apiVersion))
	}
	return tree, version, nil
}

// Unreadable is the status error of an entry whose bytes err speaks of. It is an
// [UnreadableError].
func (r *Resource) Unreadable(e *Entry, err error) error {
	return &UnreadableError{apierrors.NewInternalError(fmt.Errorf("stored object of %s at revision %d cannot be read: %w", r.GroupResource(), e.Revision, err))}
}

// UnreadableError tells that what is stored of an object cannot be read.
type UnreadableError struct{ *apierrors.StatusError }

// convert brings one complete object at any other version to version, and
// makes it well-formed by its schema.
func (r *Resource) convert(ctx context.Context, version string, data []byte) (out []byte, err error) {
	err = r.convertEach(ctx, version, [][]byte{data}, func(_ int, data []byte) { out = data })
	return out, err
}

// convertEach brings complete objects at any other version to version, and
// hands over each that is well-formed by its schema, possibly several at once,
// also when it fails in the end.
func (r *Resource) convertEach(ctx context.Context, version string, objects [][]byte, done func(n int, data []byte)) error {
	return r.eachConverted(ctx, version, objects, func(v *crd.Version, n int, data []byte) error {
		if v.Unchanged != nil && v.Unchanged(data) {
			done(n, data)
			return nil
		}
		tree, err := wellFormed(v, data)
		if err != nil {
			return err
		}
		if data, err = object.Encode(tree); err == nil {
			done(n, data)
		}
		return err
	})
}

// convertTrees is convertEach before the objects are encoded.
func (r *Resource) convertTrees(ctx context.Context, version string, objects [][]byte, done func(n int, tree map[string]any) error) error {
	return r.eachConverted(ctx, version, objects, func(v *crd.Version, n int, data []byte) error {
		tree, err := wellFormed(v, data)
		if err != nil {
			return err
		}
		return done(n, tree)
	})
}

// eachConverted hands over what a converter made, before the schema is applied.
func (r *Resource) eachConverted(ctx context.Context, version string, objects [][]byte, done func(v *crd.Version, n int, data []byte) error) error {
	v := r.Def.Version(version)
	if v == nil {
		return apierrors.NewInternalError(fmt.Errorf("%s has no version %q", r.GroupResource(), version))
	}
	var refusal firstError
	err := r.converter.Each(ctx, r.Def.APIVersion(version), objects, func(first int, converted [][]byte) {
		for i, data := range converted {
			refusal.note(first+i, done(v, first+i, data))
		}
	})
	if err != nil {
		return conversionError(err)
	}
	return refusal.err
}

// ConvertTree brings one complete object to another version. It leaves tree as
// it is.
func (r *Resource) ConvertTree(ctx context.Context, tree map[string]any, version string) (out map[string]any, err error) {
	data, err := object.Encode(tree)
	if err != nil {
		return nil, err
	}
	err = r.convertTrees(ctx, version, [][]byte{data}, func(_ int, t map[string]any) error { out = t; return nil })
	return out, err
}

// wellFormed parses what a converter made, and applies the schema.
func wellFormed(v *crd.Version, data []byte) (map[string]any, error) {
	tree, _, err := object.ParseObject(data)
	if err != nil {
		return nil, apierrors.NewInternalError(fmt.Errorf("converted object is not readable: %w", err))
	}
	if err := v.Shape.FromConversion(tree); err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	return tree, nil
}

// conversionError lets status errors through and makes the others what
// kube-apiserver makes of them: code 500, no reason, the message as it is.
func conversionError(err error) error {
	if _, ok := err.(apierrors.APIStatus); ok {
		return err
	}
	return &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: http.StatusInternalServerError, Message: err.Error()}}
}
