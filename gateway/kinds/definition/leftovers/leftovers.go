// Package leftovers owns the stored objects of custom resources that are not
// served, because their definition does not compile or its converter cannot be
// made: they are found by their keys and deleted by their stored metadata, so
// that neither a definition nor a namespace goes while it holds any.
//
// It must not know schemas, conversions or the cache.
package leftovers

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/crd/custom"
	"github.com/wasmgate/wasmgate/storage"
	"github.com/wasmgate/wasmgate/storage/paging"
)

// Objects are the stored objects of custom resources, whether they are served
// or not. It is the content.Objects of what no definition is served for. It is
// safe for concurrent use.
type Objects struct {
	Store storage.Store
	// Prefix is the root of all object keys, with slashes at both ends.
	Prefix string
}

// root is where the objects of a custom resource are.
func (o Objects) root(gr schema.GroupResource) string {
	return o.Prefix + gr.Group + "/" + gr.Resource + "/"
}

func (o Objects) key(gr schema.GroupResource, namespace, name string) string {
	if namespace == "" {
		return o.root(gr) + name
	}
	return o.root(gr) + namespace + "/" + name
}

// Fresh does nothing: every read is from the store.
func (o Objects) Fresh(context.Context) error { return nil }

// Any tells whether there are stored objects of a custom resource.
func (o Objects) Any(ctx context.Context, gr schema.GroupResource) (bool, error) {
	page, err := o.Store.Range(ctx, storage.Range{Prefix: o.root(gr), Limit: 1})
	if err != nil {
		return false, fmt.Errorf("reading %s: %w", o.root(gr), err)
	}
	return len(page.KVs) > 0, nil
}

// Some reads at most n stored objects of a custom resource, in the order of their names.
// What cannot be read is left out.
func (o Objects) Some(ctx context.Context, gr schema.GroupResource, n int) (objects []map[string]any, err error) {
	page, err := o.Store.Range(ctx, storage.Range{Prefix: o.root(gr), Limit: n})
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", o.root(gr), err)
	}
	for _, kv := range page.KVs {
		if tree, err := custom.JSON.Decode(kv.Value); err == nil {
			objects = append(objects, tree)
		}
	}
	return objects, nil
}

// ListMetadata reads the metadata of all stored objects of a custom resource
// ("" = in all namespaces). Of an object whose metadata cannot be read only
// namespace and name are filled in, from its key.
func (o Objects) ListMetadata(ctx context.Context, gr schema.GroupResource, namespace string) ([]metav1.PartialObjectMetadata, error) {
	if gr.Group == "" || gr.Resource == "" {
		return nil, fmt.Errorf("%q is no custom resource", gr.String())
	}
	prefix := o.root(gr)
	if namespace != "" {
		prefix += namespace + "/"
	}
	var out []metav1.PartialObjectMetadata
	pages := paging.New(o.Store, paging.Options{Range: storage.Range{Prefix: prefix}, Pin: true})
	for {
		page, ok, err := pages.Next(ctx)
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", prefix, err)
		}
		if !ok {
			return out, nil
		}
		for _, kv := range page.KVs {
			out = append(out, describe(strings.TrimPrefix(kv.Key, o.root(gr)), kv.Value))
		}
	}
}

// describe is what is known of an object under a key below its resource.
func describe(key string, value []byte) metav1.PartialObjectMetadata {
	var m metav1.PartialObjectMetadata
	if value, err := asJSON(value); err != nil || json.Unmarshal(value, &m) != nil {
		m = metav1.PartialObjectMetadata{}
	}
	m.Namespace, m.Name = "", key
	if namespace, name, ok := strings.Cut(key, "/"); ok {
		m.Namespace, m.Name = namespace, name
	}
	return m
}

// asJSON is an object as JSON, however it is stored.
func asJSON(value []byte) ([]byte, error) {
	if bytes.HasPrefix(value, []byte("{")) {
		return value, nil
	}
	tree, err := custom.JSON.Decode(value)
	if err != nil {
		return nil, err
	}
	return custom.JSON.Encode(tree)
}

var errSealed = errors.New("what is stored cannot be decrypted")

// attempts is how often a deletion is tried against other writers.
const attempts = 10

// Delete deletes one object, or marks it as deleted if finalizers hold it. An
// object whose metadata cannot be read is held by nothing, but one that cannot be
// decrypted is not deleted. Of the options only the precondition on the uid counts.
func (o Objects) Delete(ctx context.Context, gr schema.GroupResource, namespace, name string, opts metav1.DeleteOptions) error {
	key := o.key(gr, namespace, name)
	for range attempts {
		kv, err := o.Store.Get(ctx, key)
		if err != nil {
			return refused(gr, name, err)
		}
		if kv.Keeping == storage.Unreadable { // finalizers may hold it, and it may become readable
			return refused(gr, name, errSealed)
		}
		m := describe(name, kv.Value)
		if p := opts.Preconditions; p != nil && p.UID != nil && *p.UID != m.UID {
			return apierrors.NewConflict(gr, name, fmt.Errorf("the UID in the precondition is %s, the UID of the object is %s", *p.UID, m.UID))
		}
		switch {
		case len(m.Finalizers) == 0:
			_, err = o.Store.Delete(ctx, key, kv.Revision)
		case m.DeletionTimestamp != nil:
			return nil
		default:
			var value []byte
			if value, err = marked(kv.Value, m.Generation); err == nil {
				_, err = o.Store.Update(ctx, key, value, kv.Revision, 0)
			}
		}
		if storage.KindOf(err) != storage.Conflict {
			return refused(gr, name, err)
		}
	}
	return apierrors.NewConflict(gr, name, errors.New("somebody else kept changing it"))
}

// marked is an object as it is stored once its deletion was asked for.
// Everything but three fields of its metadata stays as it is.
func marked(value []byte, generation int64) ([]byte, error) {
	var object, meta map[string]json.RawMessage
	value, err := asJSON(value)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(value, &object); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(object["metadata"], &meta); err != nil {
		return nil, err
	}
	now, err := json.Marshal(metav1.NewTime(time.Now()))
	if err != nil {
		return nil, err
	}
	meta["deletionTimestamp"], meta["deletionGracePeriodSeconds"] = now, json.RawMessage("0")
	if generation > 0 {
		meta["generation"] = json.RawMessage(fmt.Sprint(generation + 1))
	}
	if object["metadata"], err = encode(meta); err != nil {
		return nil, err
	}
	return encode(object)
}

// encode leaves the characters of HTML alone, as all stored objects do.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}

// refused puts what the store said into the API's words.
func refused(gr schema.GroupResource, name string, err error) error {
	switch {
	case err == nil:
		return nil
	case storage.KindOf(err) == storage.NotFound:
		return apierrors.NewNotFound(gr, name)
	}
	return apierrors.NewInternalError(fmt.Errorf("deleting %s %q: %w", gr, name, err))
}
