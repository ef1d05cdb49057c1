package write

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validate/content"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/warning"

	"github.com/wasmgate/wasmgate/gateway/resource"
)

const (
	// maxMistakes is how many mistakes of one object are told, and maxTold how
	// many bytes of them, and one more. The library's refusal takes time that
	// is quadratic in both, and clients can make hundreds of thousands.
	maxMistakes = 1000
	maxTold     = 1 << 20
	// maxPaths is how many bytes the paths of all fields and items of an object
	// may have together. Whoever validates makes them, and keeps those of
	// mistakes; they repeat the names on their way, and so can be very many
	// times longer than what was sent.
	maxPaths = 128 << 20
)

// beforeCreate has what a kind says of a new object done, as the library does it
// (rest.BeforeCreate), and refuses an object that is not valid.
func beforeCreate(ctx context.Context, r *request, obj *unstructured.Unstructured, mistakes field.ErrorList) error {
	if err := judgeable(r, obj); err != nil {
		return err
	}
	ctx = scope(ctx, r.Target, r.Options)
	r.Version.Strategy.Prepare(ctx, obj, nil)
	verdict := r.Version.Strategy.Validate(ctx, obj, nil)
	if err := ctx.Err(); err != nil { // then it was perhaps not judged to its end
		return err
	}
	errs := verdict.Errors
	if len(errs) == 0 {
		errs = validateMetadata(obj, r.Resource.Def.Namespaced)
	}
	if errs = slices.Concat(mistakes, errs); len(errs) > 0 {
		return notValid(r.Resource.Def.GroupKind(), obj.GetName(), errs, verdict.Unfinished)
	}
	warn(ctx, verdict.Warnings)
	r.Version.Strategy.Canonicalize(obj)
	return nil
}

// beforeUpdate does so of a changed one (rest.BeforeUpdate).
func beforeUpdate(ctx context.Context, r *request, obj, old *unstructured.Unstructured, mistakes field.ErrorList) error {
	if err := judgeable(r, obj); err != nil {
		return err
	}
	ctx = scope(ctx, r.Target, r.Options)
	obj.SetGeneration(old.GetGeneration())
	r.strategy.Prepare(ctx, obj, old)
	// What the server has set no client changes.
	if obj.GetUID() == "" {
		obj.SetUID(old.GetUID())
	}
	if t := old.GetCreationTimestamp(); !t.IsZero() {
		obj.SetCreationTimestamp(t)
	}
	if t := old.GetDeletionTimestamp(); !t.IsZero() {
		obj.SetDeletionTimestamp(t)
	}
	if n := old.GetDeletionGracePeriodSeconds(); n != nil && obj.GetDeletionGracePeriodSeconds() == nil {
		obj.SetDeletionGracePeriodSeconds(n)
	}
	errs := append(validateMetadata(obj, r.Resource.Def.Namespaced), apivalidation.ValidateObjectMetaAccessorUpdate(obj, old, metadataPath)...)
	verdict := r.strategy.Validate(ctx, obj, old)
	if err := ctx.Err(); err != nil {
		return err
	}
	if errs = slices.Concat(mistakes, errs, verdict.Errors); len(errs) > 0 {
		return notValid(r.Resource.Def.GroupKind(), obj.GetName(), errs, verdict.Unfinished)
	}
	warn(ctx, verdict.Warnings)
	r.strategy.Canonicalize(obj)
	return nil
}

var metadataPath = field.NewPath("metadata")

// validateMetadata checks what the metadata of every object has to be.
func validateMetadata(obj *unstructured.Unstructured, namespaced bool) field.ErrorList {
	return apivalidation.ValidateObjectMetaAccessor(obj, namespaced, func(name string, prefix bool) []string {
		if prefix {
			return content.IsPathSegmentPrefix(name)
		}
		return content.IsPathSegmentName(name)
	}, metadataPath)
}

// warn tells the client of a valid object.
func warn(ctx context.Context, texts []string) {
	for _, text := range texts {
		warning.AddWarning(ctx, "", text)
	}
}

// invalid is the refusal of the new state. Of very many mistakes the first ones
// are told.
func invalid(kind schema.GroupKind, name string, errs field.ErrorList) error {
	n := 0
	for size := 0; n < len(errs) && n < maxMistakes && size < maxTold; n++ {
		size += len(errs[n].Error())
	}
	refusal := apierrors.NewInvalid(kind, name, errs[:n])
	if n < len(errs) {
		refusal.ErrStatus.Message += fmt.Sprintf(" and %d more", len(errs)-n)
	}
	return refusal
}

// notValid is the refusal of a new state. Where all that is known of it is that the time to
// judge it was over, it is one that controllers try again, as they do not with what is
// invalid. When is not said: client-go would try at once, ten times.
func notValid(kind schema.GroupKind, name string, errs field.ErrorList, unfinished int) error {
	if len(errs) > unfinished {
		return invalid(kind, name, errs)
	}
	return apierrors.NewTimeoutError(fmt.Sprintf("%s %q was not judged to its end: %s: %s", kind, name, errs[0].Field, errs[0].Detail), 0)
}

// judgeable refuses an object that is of no kind, belongs elsewhere, or could
// not be explained within bounds.
func judgeable(r *request, obj *unstructured.Unstructured) error {
	switch gvk := obj.GroupVersionKind(); {
	case gvk.Kind == "":
		return apierrors.NewInternalError(runtime.NewMissingKindErr("object has no kind field "))
	case gvk.Version == "":
		return apierrors.NewInternalError(runtime.NewMissingVersionErr("object has no apiVersion field"))
	}
	left := maxPaths
	if countPaths(obj.Object, 0, &left); left < 0 {
		return apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("the paths of all fields and items are longer than %d bytes", maxPaths))
	}
	return rest.EnsureObjectNamespaceMatchesRequestNamespace(rest.ExpectedNamespaceForScope(r.Namespace, r.Resource.Def.Namespaced), obj)
}

// countPaths subtracts the bytes of all paths below a value, whose own has n,
// from left, until that is negative.
func countPaths(v any, n int, left *int) {
	const index = len("[00]") // at least
	switch x := v.(type) {
	case map[string]any:
		for name, v := range x {
			at := n + 1 + len(name)
			if *left -= at; *left < 0 {
				return
			}
			countPaths(v, at, left)
		}
	case []any:
		for _, v := range x {
			if *left -= n + index; *left < 0 {
				return
			}
			countPaths(v, n+index, left)
		}
	}
}

type recorder func(string)

func (r recorder) AddWarning(_, text string) { r(text) }

// scope prepares the context that the Kubernetes strategies read.
func scope(ctx context.Context, t resource.Target, o resource.WriteOptions) context.Context {
	ctx = genericapirequest.WithNamespace(ctx, t.Namespace)
	if u := o.Caller.User; u != nil {
		ctx = genericapirequest.WithUser(ctx, u)
	}
	if o.Warn != nil {
		ctx = warning.WithWarningRecorder(ctx, recorder(o.Warn))
	}
	return ctx
}
