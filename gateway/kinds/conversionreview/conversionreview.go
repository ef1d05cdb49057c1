package conversionreview

import (
	"context"
	"fmt"
	"maps"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/gateway/api"
	"github.com/wasmgate/wasmgate/gateway/authn"
	"github.com/wasmgate/wasmgate/gateway/authz"
	"github.com/wasmgate/wasmgate/gateway/catalog"
	"github.com/wasmgate/wasmgate/gateway/kinds"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/resource/engine"
)

// Kind is that of ConversionReviews.
func Kind() kinds.Kind {
	return kinds.Kind{
		Extend: func(d *crd.Definition) {
			if d.GroupResource() != gvr.ConversionReviews {
				return
			}
			for _, v := range d.Versions {
				v.Strategy = unnamed{v.Strategy}
			}
		},
		Serve: func(e *engine.Engine) (kinds.Served, error) {
			return kinds.Served{Reviews: func(_ authn.Authenticator, may authz.Decider) map[schema.GroupResource]api.Review {
				a := answers{served: e.Catalog().Snapshot, may: may}
				return map[schema.GroupResource]api.Review{gvr.ConversionReviews: a.answer}
			}}, nil
		},
	}
}

// unnamed is the strategy of what is kept nowhere, and may be called anything.
type unnamed struct{ crd.Strategy }

// Validate implements [crd.Strategy].
func (u unnamed) Validate(ctx context.Context, obj, old *unstructured.Unstructured) crd.Verdict {
	named := &unstructured.Unstructured{Object: maps.Clone(obj.Object)}
	named.Object["metadata"] = map[string]any{"name": "review"}
	return u.Strategy.Validate(ctx, named, old)
}

// answers answer reviews. They are safe for concurrent use.
type answers struct {
	served func() *catalog.Snapshot
	may    authz.Authorizer
}

// question is what a review asks.
type question struct {
	*catalog.Resource
	from, to *crd.Version
	object   map[string]any
	metadata metav1.ObjectMeta // of object
}

// answer sets the status of a review.
func (a answers) answer(ctx context.Context, user *authn.User, _ authn.Notes, review map[string]any) error {
	q, err := a.question(review)
	if err != nil {
		return err
	}
	if err := a.allowed(ctx, user, q); err != nil {
		return err
	}
	if err := q.settle(ctx); err != nil {
		return err
	}
	converted := q.object
	if q.from != q.to {
		if converted, err = q.ConvertTree(ctx, q.object, q.to.Name); err != nil {
			return err
		}
	}
	review["status"] = map[string]any{"object": converted}
	return nil
}

// settle makes the object one that could be stored but for defaults, and refuses one that
// could not: converters get nothing else.
func (q *question) settle(ctx context.Context) error {
	q.object = object.Clone(q.object)
	at := path.Child("object")
	if err := q.from.Shape.FromConversion(q.object); err != nil {
		return invalid(field.Invalid(at, field.OmitValueType{}, err.Error()))
	}
	if q.from == q.to || q.Def.Convert != nil { // the gateway itself converts
		return nil
	}
	whole := object.Clone(q.object)
	if _, err := q.from.Shape.FromClient(whole, false); err != nil {
		return invalid(field.Invalid(at, field.OmitValueType{}, err.Error()))
	}
	meta := object.Ensure(whole, "metadata")
	if q.metadata.Name == "" && q.metadata.GenerateName == "" {
		meta["name"] = "review"
	}
	if q.Def.Namespaced && q.metadata.Namespace == "" {
		meta["namespace"] = metav1.NamespaceDefault
	}
	errs := q.from.Strategy.Validate(ctx, &unstructured.Unstructured{Object: whole}, nil).Errors
	for _, err := range errs {
		err.Field = at.String() + "." + err.Field
	}
	return invalid(errs...)
}

// question reads a review. What it says of the types of fields was checked.
func (a answers) question(review map[string]any) (question, error) {
	spec := object.Child(review, "spec")
	q := question{object: object.Child(spec, "object")}
	given, kind := object.TextAt(q.object, "apiVersion"), object.TextAt(q.object, "kind")
	desired, _ := spec["desiredAPIVersion"].(string)
	gv, err := schema.ParseGroupVersion(desired)
	if err != nil {
		return q, invalid(field.Invalid(path.Child("desiredAPIVersion"), desired, "must be GROUP/VERSION"))
	}
	for name, text := range map[string]string{"apiVersion": given, "kind": kind} {
		if text == "" {
			return q, invalid(field.Required(path.Child("object", name), ""))
		}
	}
	if _, ok := q.object["metadata"].(map[string]any); !ok {
		return q, invalid(field.Required(path.Child("object", "metadata"), ""))
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Child(q.object, "metadata"), &q.metadata); err != nil {
		return q, invalid(field.Invalid(path.Child("object", "metadata"), field.OmitValueType{}, err.Error()))
	}
	served := a.served()
	for _, d := range served.Definitions {
		if v := d.In(gv.Group, gv.Version); d.Kind == kind && v != nil && v.Served {
			q.Resource, q.to = served.Resource(d.GroupResource()), v
			break
		}
	}
	if q.Resource == nil {
		return q, invalid(field.Invalid(path.Child("desiredAPIVersion"), desired, fmt.Sprintf("no kind %s is served at this version", kind)))
	}
	if q.from = q.Def.At(given); q.from == nil {
		return q, invalid(field.Invalid(path.Child("object", "apiVersion"), given, fmt.Sprintf("%s has no such version", q.Def.GroupResource())))
	}
	return q, nil
}

var path = field.NewPath("spec")

// invalid is the refusal of a review for what is wrong with it, nil for nothing.
func invalid(errs ...*field.Error) error {
	if len(errs) == 0 {
		return nil
	}
	return apierrors.NewInvalid(schema.GroupKind{Group: gvr.ConversionReviews.Group, Kind: "ConversionReview"}, "", errs)
}

// allowed refuses who may not get such an object: what a webhook makes of it may have
// what the webhook looked up.
func (a answers) allowed(ctx context.Context, user *authn.User, q question) error {
	ask := authz.Attributes{
		User: user, Verb: "get", Group: q.Def.GVK(q.to.Name).Group, Version: q.Def.GVK(q.to.Name).Version, Resource: q.Def.Plural,
		Namespace: q.metadata.Namespace, Name: q.metadata.Name, ResourceRequest: true,
	}
	if !q.Def.Namespaced {
		ask.Namespace = "" // whatever the object says
	}
	yes, reason, err := a.may.Authorize(ctx, ask)
	switch {
	case err != nil:
		return apierrors.NewInternalError(err)
	case !yes:
		return authz.ForbiddenError(ask, reason)
	}
	return nil
}
