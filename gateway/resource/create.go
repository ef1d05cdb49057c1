package resource

import (
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/storage/names"
)

// errModified is the reason of every optimistic-lock conflict.
var errModified = errors.New("the object has been modified; please apply your changes to the latest version and try again")

// generateAttempts is how many names are tried for metadata.generateName.
const generateAttempts = 8

// Create stores a new object.
func (e *Engine) Create(ctx context.Context, t Target, body []byte, o WriteOptions) (*Written, error) {
	w := &Write{Target: t, Options: o, engine: e, source: &whole{body: body}, exists: mustNotExist}
	return w.run(ctx)
}

// wantedName is the name that the client gave the object, or the beginning of
// the one that it will get.
func (w *Write) wantedName() string {
	switch {
	case w.sent != nil: // it is about that one
		return w.Name
	case w.generate != "":
		return w.generate
	}
	return w.object.GetName()
}

// createsAtOnce are strategies that do what rest.BeforeCreate does with most
// objects by themselves, and say no to the others.
type createsAtOnce interface {
	AcceptCreate(namespace string, obj *unstructured.Unstructured) bool
}

// alive takes away what only a deletion may say.
func alive(obj *unstructured.Unstructured) {
	obj.SetDeletionTimestamp(nil)
	obj.SetDeletionGracePeriodSeconds(nil)
}

// prepareCreate gives the new object what only the server knows, and asks the
// kind whether it is valid.
func (w *Write) prepareCreate(ctx context.Context) error {
	obj := w.object
	if rv := obj.GetResourceVersion(); rv != "" && rv != "0" {
		return apierrors.NewBadRequest("resourceVersion should not be set on objects to be created")
	}
	obj.SetResourceVersion("")
	alive(obj)
	unstructured.RemoveNestedField(obj.Object, "metadata", "selfLink")
	rest.FillObjectMetaSystemFields(obj)
	if w.generate != "" {
		obj.SetName(names.SimpleNameGenerator.GenerateName(w.generate))
	}
	if s, ok := w.Version.Strategy.(createsAtOnce); !ok || !s.AcceptCreate(w.Namespace, obj) {
		if err := w.beforeCreate(ctx); err != nil {
			return err
		}
	}
	w.Name = obj.GetName()
	return nil
}
