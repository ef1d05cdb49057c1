package write

import (
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/gateway/view"
	"github.com/wasmgate/wasmgate/storage"
)

// optionUnreadable is the option that [Writer.DeleteUnreadable] is for.
const optionUnreadable = "ignoreStoreReadErrorWithClusterBreakingPotential"

// DeleteUnreadable removes an object whose stored bytes cannot be read, and only
// such a one: nobody knows what finalizers or preconditions it has, so that
// there is nothing to wait for, and no admission to ask. The options are those
// of the request, which may say nothing else.
func (e *Writer) DeleteUnreadable(ctx context.Context, t resource.Target, o *metav1.DeleteOptions) error {
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
			return t.StoreError(err)
		}
		if err != nil || t.Resource.Readable(view.NewEntry(kv)) == nil {
			gk := schema.GroupKind{Group: t.GroupResource().Group, Kind: t.Resource.Def.Plural} // as kube-apiserver has it
			return apierrors.NewInvalid(gk, t.Name, field.ErrorList{field.Invalid(field.NewPath(optionUnreadable), true,
				"is exclusively used to delete corrupt object(s), try again by removing this option")})
		}
		_, since := t.Resource.Definition()
		_, err = t.Resource.Writer(e.store).Delete(ctx, key, kv.Revision)
		var s *storage.Error
		switch {
		case err == nil:
		case !errors.As(err, &s):
			return unconfirmed(ctx, t, err)
		case s.Kind == storage.Conflict, s.Kind == storage.NotFound: // somebody wrote: it may be readable now
			continue
		case s.Kind == storage.Changed:
			if err := e.catalog.AwaitRedefined(ctx, t.Resource, since, s.Current == nil); err != nil {
				return err
			}
			continue
		default:
			return unconfirmed(ctx, t, err)
		}
		e.log.Warn().Str("resource", t.GroupResource().String()).Str("namespace", t.Namespace).Str("name", t.Name).
			Msg("an object that could not be read was deleted, without regard to finalizers")
		return nil
	}
}

// unreadableOnly tells that a deletion is for an object that cannot be read.
func unreadableOnly(o *metav1.DeleteOptions) bool {
	return o.IgnoreStoreReadErrorWithClusterBreakingPotential != nil && *o.IgnoreStoreReadErrorWithClusterBreakingPotential
}

func invalidOptions(err *field.Error) error {
	return apierrors.NewInvalid(schema.GroupKind{Group: metav1.GroupName, Kind: "DeleteOptions"}, "", field.ErrorList{err})
}
