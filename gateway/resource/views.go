package resource

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wasmgate/wasmgate/conversion"
	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/crd/object"
)

// conversionTimeout bounds one batch, whoever waits for it.
const conversionTimeout = 30 * time.Second

// conversionBatch is the most objects sent to a converter at once.
const conversionBatch = 500

// View returns the object of e at a version: complete JSON with its
// resourceVersion. The bytes are shared and must not be changed.
func (r *Resource) View(ctx context.Context, e *Entry, version string) ([]byte, error) {
	k := r.viewKey(version)
	if v := e.view(k); v != nil {
		return v, nil
	}
	if err := r.derive(ctx, []*Entry{e}, k); err != nil {
		return nil, err
	}
	if v := e.view(k); v != nil {
		return v, nil
	}
	// Another epoch began meanwhile.
	return r.View(ctx, e, version)
}

// Views makes sure that every entry has a view at the version, converting in
// batches what does not have one yet.
func (r *Resource) Views(ctx context.Context, entries []*Entry, version string) ([][]byte, error) {
	k := r.viewKey(version)
	out := make([][]byte, len(entries))
	var missing []*Entry
	for i, e := range entries {
		if out[i] = e.view(k); out[i] == nil {
			missing = append(missing, e)
		}
	}
	if len(missing) == 0 {
		return out, nil
	}
	for len(missing) > 0 {
		n := min(len(missing), conversionBatch)
		if err := r.derive(ctx, missing[:n], k); err != nil {
			return nil, err
		}
		missing = missing[n:]
	}
	for i, e := range entries {
		if out[i] == nil {
			v, err := r.View(ctx, e, version)
			if err != nil {
				return nil, err
			}
			out[i] = v
		}
	}
	return out, nil
}

// derive makes the views k of entries. Each entry is derived by one caller at
// a time; the others wait for it, so that a conversion runs once for all.
func (r *Resource) derive(ctx context.Context, entries []*Entry, k viewKey) error {
	mine := &flight{done: make(chan struct{})}
	var claimed, others []*Entry
	for _, e := range entries {
		switch {
		case e.view(k) != nil:
		case e.flight.CompareAndSwap(nil, mine):
			claimed = append(claimed, e)
		default:
			others = append(others, e)
		}
	}
	if len(claimed) > 0 {
		// A client that leaves must not fail those who wait for the same view.
		dctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), conversionTimeout)
		mine.err = r.deriveClaimed(dctx, claimed, k)
		cancel()
		for _, e := range claimed {
			e.flight.Store(nil)
		}
		close(mine.done)
		if mine.err != nil {
			return mine.err
		}
	}
	for _, e := range others {
		if f := e.flight.Load(); f != nil {
			select {
			case <-f.done:
				if f.err != nil {
					return f.err
				}
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		if e.view(k) == nil {
			if err := r.derive(ctx, []*Entry{e}, k); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *Resource) deriveClaimed(ctx context.Context, entries []*Entry, k viewKey) error {
	var convert []*Entry
	var batch [][]byte
	for _, e := range entries {
		if e.view(k) != nil {
			continue
		}
		if e.last != nil {
			if err := r.deriveTombstone(ctx, e, k); err != nil {
				return err
			}
			continue
		}
		data, version, err := r.restore(e)
		if err != nil {
			return err
		}
		if version == k.version {
			e.addView(k, data)
			continue
		}
		convert, batch = append(convert, e), append(batch, data)
	}
	if len(convert) == 0 {
		return nil
	}
	out, err := r.convert(ctx, k.version, batch)
	if err != nil {
		return err
	}
	for i, e := range convert {
		e.addView(k, out[i])
	}
	return nil
}

// deriveTombstone takes the view of the last state and puts the deletion's
// revision in.
func (r *Resource) deriveTombstone(ctx context.Context, e *Entry, k viewKey) error {
	data, err := r.View(ctx, e.last, k.version)
	if err != nil {
		return err
	}
	if data, err = object.WithRevision(data, e.Revision); err != nil {
		return r.unreadable(e, err)
	}
	e.addView(k, data)
	return nil
}

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

// MetadataView is the object as PartialObjectMetadata. It never converts.
func (r *Resource) MetadataView(e *Entry) ([]byte, error) {
	k := viewKey{definition: r.epoch, version: metadataView}
	if v := e.view(k); v != nil {
		return v, nil
	}
	meta, err := r.metadataJSON(e)
	if err != nil {
		return nil, err
	}
	out := make([]byte, 0, len(meta)+120)
	out = append(out, `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":`...)
	if out, err = object.AppendMetadata(out, meta, e.Revision); err != nil {
		return nil, r.unreadable(e, err)
	}
	out = append(out, '}')
	e.addView(k, out)
	return out, nil
}

// metadataJSON is the metadata object of the stored bytes; its
// resourceVersion, if any, is not to be trusted.
func (r *Resource) metadataJSON(e *Entry) ([]byte, error) {
	data := e.Stored
	if !e.storedJSON() {
		var err error
		if data, err = r.View(context.Background(), e, r.Def.StorageVersion); err != nil {
			return nil, err
		}
	}
	s, end, err := object.Metadata(data)
	if err != nil {
		return nil, r.unreadable(e, err)
	}
	return data[s:end], nil
}
