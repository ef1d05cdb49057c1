package resource

import (
	"context"
	"errors"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wasmgate/wasmgate/gateway/catalog"
	"github.com/wasmgate/wasmgate/gateway/view"
	"github.com/wasmgate/wasmgate/storage"
	"github.com/wasmgate/wasmgate/storage/watchcache"
)

// optionUnreadable is the option that [Engine.DeleteUnreadable] is for.
const optionUnreadable = "ignoreStoreReadErrorWithClusterBreakingPotential"

// DeleteUnreadable removes an object whose stored bytes cannot be read, and only
// such a one: nobody knows what finalizers or preconditions it has, so that
// there is nothing to wait for, and no admission to ask. The options are those
// of the request, which may say nothing else.
func (e *Engine) DeleteUnreadable(ctx context.Context, t Target, o *metav1.DeleteOptions) error {
	if len(o.DryRun) > 0 {
		return invalidOptions(field.Invalid(field.NewPath(optionUnreadable), true, "cannot be set together with .dryRun"))
	}
	if err := validateDeletion(o); err != nil {
		return err
	}
	key := t.Resource.Key(t.Namespace, t.Name)
	for {
		kv, err := e.store.Get(ctx, key)
		if err != nil && storage.KindOf(err) != storage.NotFound {
			return t.storeError(err)
		}
		if err != nil || t.Resource.Readable(view.NewEntry(kv)) == nil {
			gk := schema.GroupKind{Group: t.GroupResource().Group, Kind: t.Resource.Def.Plural} // as kube-apiserver has it
			return apierrors.NewInvalid(gk, t.Name, field.ErrorList{field.Invalid(field.NewPath(optionUnreadable), true,
				"is exclusively used to delete corrupt object(s), try again by removing this option")})
		}
		_, err = t.Resource.Writer(e.store).Delete(ctx, key, kv.Revision)
		switch storage.KindOf(err) {
		case storage.Conflict, storage.NotFound: // somebody wrote: it may be readable now
			continue
		case storage.Changed:
			return catalog.ErrReplaced
		}
		if err != nil {
			return t.storeError(err)
		}
		e.log.Warn().Str("resource", t.GroupResource().String()).Str("namespace", t.Namespace).Str("name", t.Name).
			Msg("an object that could not be read was deleted, without regard to finalizers")
		return nil
	}
}

// maxUnreadable is how many objects that cannot be read an error names at most, as
// in kube-apiserver.
const maxUnreadable = 100

// NameUnreadable makes an error of a list of t, if it is because objects cannot be
// read, name all of these, as far as ctx allows. One that is about what they were
// and are no longer stays as it is.
func (e *Engine) NameUnreadable(ctx context.Context, t Target, err error) error {
	if !errors.As(err, new(*view.UnreadableError)) {
		return err
	}
	prefix := ""
	if t.Namespace != "" {
		prefix = t.Namespace + "/"
	}
	var causes []metav1.StatusCause
	t.Resource.Bucket().Snapshot().Ascend(prefix, "", func(it watchcache.Item[*view.Entry]) bool {
		why := t.Resource.Readable(it.Value)
		switch {
		case why == nil:
			return ctx.Err() == nil
		case len(causes) == maxUnreadable:
			causes = append(causes, metav1.StatusCause{Type: metav1.CauseTypeTooMany, Message: "too many errors, the list is truncated"})
			return false
		}
		causes = append(causes, metav1.StatusCause{Type: metav1.CauseTypeUnexpectedServerResponse, Field: t.Resource.Root() + it.Key, Message: why.Error()})
		return ctx.Err() == nil
	})
	if len(causes) == 0 {
		return err
	}
	gr := t.Resource.GroupResource()
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusInternalServerError, Reason: metav1.StatusReasonStoreReadError,
		Details: &metav1.StatusDetails{Group: gr.Group, Kind: gr.Resource, Name: "list", Causes: causes},
		Message: "failed to read one or more " + gr.String() + " from the storage",
	}}
}

// unreadableOnly tells that a deletion is for an object that cannot be read.
func unreadableOnly(o *metav1.DeleteOptions) bool {
	return o.IgnoreStoreReadErrorWithClusterBreakingPotential != nil && *o.IgnoreStoreReadErrorWithClusterBreakingPotential
}

func invalidOptions(err *field.Error) error {
	return apierrors.NewInvalid(schema.GroupKind{Group: metav1.GroupName, Kind: "DeleteOptions"}, "", field.ErrorList{err})
}
