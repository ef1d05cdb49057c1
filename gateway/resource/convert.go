package resource

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wasmgate/wasmgate/conversion"
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
	data, err := object.Encode(tree)
	return data, version, err
}

func (r *Resource) restoreTree(e *Entry) (map[string]any, string, error) {
	tree, err := r.Def.Codec.Decode(e.Stored)
	if err != nil {
		return nil, "", r.unreadable(e, err)
	}
	apiVersion, _ := tree["apiVersion"].(string)
	group, version, ok := strings.Cut(apiVersion, "/")
	if !ok {
		group, version = "", apiVersion
	}
	if group != r.Def.Group {
		return nil, "", r.unreadable(e, fmt.Errorf("stored object is of %q", apiVersion))
	}
	if v := r.Def.Version(version); v != nil {
		if err := v.Shape.FromStorage(tree); err != nil {
			return nil, "", r.unreadable(e, err)
		}
	}
	setRevision(tree, e.Revision)
	return tree, version, nil
}

func (r *Resource) unreadable(e *Entry, err error) error {
	return apierrors.NewInternalError(fmt.Errorf("stored object of %s at revision %d cannot be read: %w", r.GroupResource(), e.Revision, err))
}

// convert brings complete objects at any other version to version, and makes
// them well-formed by its schema.
func (r *Resource) convert(ctx context.Context, version string, objects [][]byte) ([][]byte, error) {
	trees, err := r.convertTrees(ctx, version, objects)
	if err != nil {
		return nil, err
	}
	out := make([][]byte, len(trees))
	for i, t := range trees {
		if out[i], err = object.Encode(t); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (r *Resource) convertTrees(ctx context.Context, version string, objects [][]byte) ([]map[string]any, error) {
	v := r.Def.Version(version)
	if v == nil {
		return nil, apierrors.NewInternalError(fmt.Errorf("%s has no version %q", r.GroupResource(), version))
	}
	conv := r.converter
	if conv == nil {
		conv = conversion.None{}
	}
	out, err := conv.Convert(ctx, r.Def.APIVersion(version), objects)
	if err != nil {
		return nil, conversionError(err)
	}
	trees := make([]map[string]any, len(out))
	for i, o := range out {
		if trees[i], _, err = object.Parse(o); err != nil {
			return nil, apierrors.NewInternalError(fmt.Errorf("converted object is not readable: %w", err))
		}
		if err := v.Shape.FromConversion(trees[i]); err != nil {
			return nil, apierrors.NewInternalError(err)
		}
	}
	return trees, nil
}

// conversionError lets status errors through and makes the others what
// kube-apiserver makes of them: code 500, no reason, the message as it is.
func conversionError(err error) error {
	if _, ok := err.(apierrors.APIStatus); ok {
		return err
	}
	return &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: http.StatusInternalServerError, Message: err.Error()}}
}

// toStorage converts a written tree to the storage version where it is at
// another, and encodes it. tree itself is not changed.
func (r *Resource) toStorage(ctx context.Context, v *crd.Version, tree map[string]any) ([]byte, error) {
	if v.Name != r.Def.StorageVersion {
		data, err := object.Encode(tree)
		if err != nil {
			return nil, err
		}
		cctx, cancel := context.WithTimeout(ctx, conversionTimeout)
		defer cancel()
		trees, err := r.convertTrees(cctx, r.Def.StorageVersion, [][]byte{data})
		if err != nil {
			return nil, err
		}
		tree = trees[0]
	}
	meta, _ := tree["metadata"].(map[string]any)
	rev, had := meta[revisionField]
	delete(meta, revisionField)
	data, err := r.Def.Codec.Encode(tree)
	if had {
		meta[revisionField] = rev
	}
	return data, err
}

const revisionField = "resourceVersion"

func setRevision(tree map[string]any, rev int64) {
	meta, ok := tree["metadata"].(map[string]any)
	if !ok {
		meta = map[string]any{}
		tree["metadata"] = meta
	}
	meta[revisionField] = strconv.FormatInt(rev, 10)
}
