package write

import (
	"context"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/storage/names"

	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/gateway/resource/read"
)

// generateAttempts is how many names are tried for metadata.generateName.
const generateAttempts = 8

// Create stores a new object.
func (e *Writer) Create(ctx context.Context, t resource.Target, body []byte, o resource.WriteOptions) (*resource.Written, error) {
	w := &Write{request: request{Target: t, Options: o, exists: mustNotExist}, writer: e, source: &whole{body: body}}
	return w.run(ctx)
}

// atRevision refuses to create an object at a revision, where a dry run shows it.
func atRevision() error {
	return apierrors.NewBadRequest("resourceVersion should not be set on objects to be created")
}

// alreadyExists refuses to create what is there. Whether it is about to go is told
// in kube-apiserver's words: clients look for these, and wait.
func alreadyExists(ctx context.Context, reads *read.Reader, t resource.Target) error {
	refusal := apierrors.NewAlreadyExists(t.GroupResource(), t.Name)
	there, err := reads.Current(ctx, t, true)
	if err != nil {
		return refusal
	}
	meta, err := t.Resource.Metadata(there.Entry)
	if err == nil && object.Field(meta, "deletionTimestamp") != nil {
		refusal.ErrStatus.Message = beingDeleted + refusal.ErrStatus.Message
	}
	return refusal
}

const beingDeleted = "object is being deleted: "

// noName is the refusal of a name that was made up and is taken, in words that say
// that some name would do.
func noName(t resource.Target, taken error) error {
	refusal := apierrors.NewGenerateNameConflict(t.Resource.GroupResource(), t.Name, 1)
	if strings.HasPrefix(taken.Error(), beingDeleted) {
		refusal.ErrStatus.Message = beingDeleted + refusal.ErrStatus.Message
	}
	return refusal
}

// acceptsAtOnce are strategies that do what beforeCreate does with most new objects
// by themselves, or with a state before what beforeUpdate does, and say no to the
// others.
type acceptsAtOnce interface {
	Accept(ctx context.Context, namespace string, obj, old *unstructured.Unstructured) bool
}

// alive takes away what only a deletion may say.
func alive(obj *unstructured.Unstructured) {
	obj.SetDeletionTimestamp(nil)
	obj.SetDeletionGracePeriodSeconds(nil)
}

// prepareCreate gives the new object what only the server knows, and asks the
// kind whether it is valid. named is the revision that the client gave it.
func prepareCreate(ctx context.Context, r *request, n *next, mistakes field.ErrorList) (named int64, err error) {
	obj := n.object
	switch { // what was made of another name and uid would not fit this one's
	case n.unnamed != nil:
		obj.Object = object.Clone(n.unnamed)
	case obj.GetName() == "" && obj.GetGenerateName() != "" && r.Version.Native():
		n.unnamed = object.Clone(obj.Object)
	}
	if rev, err := resource.ParseRevision(obj.GetResourceVersion()); err == nil { // what is none is nothing, as for kube-apiserver
		named = rev
	}
	obj.SetResourceVersion("")
	alive(obj)
	unstructured.RemoveNestedField(obj.Object, "metadata", "selfLink")
	rest.FillObjectMetaSystemFields(obj)
	if obj.GetName() == "" { // for all that mutating admission has done
		n.generate = obj.GetGenerateName()
	}
	if n.generate != "" {
		obj.SetName(names.SimpleNameGenerator.GenerateName(n.generate))
	}
	if s, ok := r.Version.Strategy.(acceptsAtOnce); ok && len(mistakes) == 0 && s.Accept(ctx, r.Namespace, obj, nil) {
		return named, nil
	}
	return named, beforeCreate(ctx, r, obj, mistakes)
}
