package resource

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/storage/names"

	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/storage"
)

// errModified is the reason of every optimistic-lock conflict.
var errModified = errors.New("the object has been modified; please apply your changes to the latest version and try again")

// generateAttempts is how many names are tried for metadata.generateName.
const generateAttempts = 8

// Create stores a new object.
func (e *Engine) Create(ctx context.Context, t Target, body []byte, o WriteOptions) (*Written, error) {
	end, err := t.Resource.begin()
	if err != nil {
		return nil, err
	}
	defer end()
	tree, err := t.decodeBody(body, o)
	if err != nil {
		return nil, err
	}
	return e.createTree(ctx, t, tree, o)
}

// createTree creates from a well-formed tree, which it takes over.
func (e *Engine) createTree(ctx context.Context, t Target, tree map[string]any, o WriteOptions) (*Written, error) {
	obj := asUnstructured(tree)
	if t.Name != "" && obj.GetName() == "" && obj.GetGenerateName() == "" {
		obj.SetName(t.Name)
	}
	if err := rest.EnsureObjectNamespaceMatchesRequestNamespace(t.Namespace, obj); err != nil {
		return nil, err
	}
	prefix, name := "", obj.GetName()
	if name == "" {
		prefix = obj.GetGenerateName()
		name = prefix
	}
	if err := e.admitCreate(ctx, t, name); err != nil {
		return nil, err
	}
	if rv := obj.GetResourceVersion(); rv != "" && rv != "0" {
		return nil, apierrors.NewBadRequest("resourceVersion should not be set on objects to be created")
	}
	for attempt := 1; ; attempt++ {
		w, err := e.createOnce(ctx, t, obj, prefix, o)
		if prefix != "" && apierrors.IsAlreadyExists(err) {
			if attempt < generateAttempts {
				continue
			}
			return nil, apierrors.NewGenerateNameConflict(t.Resource.GroupResource(), obj.GetName(), 1)
		}
		return w, err
	}
}

func (e *Engine) createOnce(ctx context.Context, t Target, obj *unstructured.Unstructured, prefix string, o WriteOptions) (*Written, error) {
	obj.SetResourceVersion("")
	obj.SetDeletionTimestamp(nil)
	obj.SetDeletionGracePeriodSeconds(nil)
	unstructured.RemoveNestedField(obj.Object, "metadata", "managedFields")
	unstructured.RemoveNestedField(obj.Object, "metadata", "selfLink")
	rest.FillObjectMetaSystemFields(obj)
	if prefix != "" {
		obj.SetName(names.SimpleNameGenerator.GenerateName(prefix))
	}
	if err := rest.BeforeCreate(t.Version.Strategy, t.scope(ctx, o), obj); err != nil {
		return nil, err
	}
	t.Name = obj.GetName()
	stored, err := t.Resource.toStorage(ctx, t.Version, obj.Object)
	if err != nil {
		return nil, err
	}
	w := &Written{Created: true, UID: string(obj.GetUID())}
	if o.DryRun {
		if err := e.mustNotExist(ctx, t); err != nil {
			return nil, err
		}
	} else {
		rev, err := e.store.Create(ctx, t.Resource.key(t.Namespace, t.Name), stored, t.ttl(obj.Object))
		if err != nil {
			return nil, t.storeError(err)
		}
		e.settle(ctx, t.Resource, rev)
		w.Object, err = t.stored(ctx, obj.Object, stored, rev)
		return w, err
	}
	w.Object, err = object.Encode(obj.Object)
	return w, err
}

// stored is the reply to a write that stored bytes at rev: the object as a
// read would return it. At the storage version that is tree itself.
func (t Target) stored(ctx context.Context, tree map[string]any, bytes []byte, rev int64) ([]byte, error) {
	if t.Version.Name == t.Resource.Def.StorageVersion {
		setRevision(tree, rev)
		return object.Encode(tree)
	}
	return t.Resource.View(ctx, &Entry{Revision: rev, Stored: bytes}, t.Version.Name)
}

// mustNotExist is what a dry run does instead of the store's own check.
func (e *Engine) mustNotExist(ctx context.Context, t Target) error {
	_, err := e.store.Get(ctx, t.Resource.key(t.Namespace, t.Name))
	switch storage.KindOf(err) {
	case storage.NotFound:
		return nil
	case 0:
		if err == nil {
			return apierrors.NewAlreadyExists(t.Resource.GroupResource(), t.Name)
		}
	}
	return t.storeError(fmt.Errorf("looking for an object of that name: %w", err))
}
