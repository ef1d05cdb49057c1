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

// question is what a review asks of one object, which is at a field of it.
type question struct {
	*catalog.Resource
	at       *field.Path
	from, to *crd.Version
	object   map[string]any
	metadata metav1.ObjectMeta // of object
}

// answer sets the status of a review.
func (a answers) answer(ctx context.Context, user *authn.User, _ authn.Notes, review map[string]any) error {
	spec := object.Child(review, "spec")
	if objects, many := spec["objects"].([]any); many {
		if _, both := spec["object"]; both {
			return invalid(field.Forbidden(path.Child("object"), "may not be used together with objects"))
		}
		converted, err := a.all(ctx, user, spec, objects)
		review["status"] = map[string]any{"objects": converted}
		return err
	}
	if _, single := spec["object"]; !single {
		return invalid(field.Required(path.Child("object"), "what to convert; several go into objects"))
	}
	converted, err := a.one(ctx, user, spec, path.Child("object"), object.Child(spec, "object"))
	review["status"] = map[string]any{"object": converted}
	return err
}

// one is an object of a review, converted.
func (a answers) one(ctx context.Context, user *authn.User, spec map[string]any, at *field.Path, obj map[string]any) (map[string]any, error) {
	q, err := a.settled(ctx, user, spec, at, obj)
	if err != nil || q.from == q.to {
		return q.object, err
	}
	return q.ConvertTree(ctx, q.object, q.to.Name)
}

// settled is the question about an object, which the user may ask and which makes sense.
func (a answers) settled(ctx context.Context, user *authn.User, spec map[string]any, at *field.Path, obj map[string]any) (question, error) {
	q, err := a.question(spec, at, obj)
	if err == nil {
		err = a.allowed(ctx, user, q)
	}
	if err == nil {
		err = q.settle(ctx)
	}
	if err != nil {
		return question{}, err
	}
	return q, nil
}

// settle makes the object one that could be stored but for defaults, and refuses one that
// could not: converters get nothing else.
func (q *question) settle(ctx context.Context) error {
	q.object = object.Clone(q.object)
	if err := q.from.Shape.FromConversion(q.object); err != nil {
		return invalid(field.Invalid(q.at, field.OmitValueType{}, err.Error()))
	}
	if q.from == q.to || q.Def.Convert != nil { // the gateway itself converts
		return nil
	}
	whole := object.Clone(q.object)
	if _, err := q.from.Shape.FromClient(whole, false); err != nil {
		return invalid(field.Invalid(q.at, field.OmitValueType{}, err.Error()))
	}
	meta := object.Ensure(whole, "metadata")
	if q.metadata.Name == "" && q.metadata.GenerateName == "" {
		meta["name"] = "review"
	}
	if q.Def.Namespaced && q.metadata.Namespace == "" {
		meta["namespace"] = metav1.NamespaceDefault
	}
	verdict := q.from.Strategy.Validate(ctx, &unstructured.Unstructured{Object: whole}, nil)
	for _, err := range verdict.Errors {
		err.Field = q.at.String() + "." + err.Field
	}
	if n := verdict.Unfinished; n > 0 && n == len(verdict.Errors) { // nothing wrong is known of it
		return apierrors.NewTimeoutError(verdict.Errors[0].Error(), 0)
	}
	return invalid(verdict.Errors...)
}

// question reads what is asked of an object. What a review says of the types of fields was
// checked.
func (a answers) question(spec map[string]any, at *field.Path, obj map[string]any) (question, error) {
	q := question{at: at, object: obj}
	given, kind := object.TextAt(q.object, "apiVersion"), object.TextAt(q.object, "kind")
	desired, _ := spec["desiredAPIVersion"].(string)
	gv, err := schema.ParseGroupVersion(desired)
	if err != nil {
		return q, invalid(field.Invalid(path.Child("desiredAPIVersion"), desired, "must be GROUP/VERSION"))
	}
	for name, text := range map[string]string{"apiVersion": given, "kind": kind} {
		if text == "" {
			return q, invalid(field.Required(at.Child(name), ""))
		}
	}
	if _, ok := q.object["metadata"].(map[string]any); !ok {
		return q, invalid(field.Required(at.Child("metadata"), ""))
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Child(q.object, "metadata"), &q.metadata); err != nil {
		return q, invalid(field.Invalid(at.Child("metadata"), field.OmitValueType{}, err.Error()))
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
		return q, invalid(field.Invalid(at.Child("apiVersion"), given, fmt.Sprintf("%s has no such version", q.Def.GroupResource())))
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
		return &undecided{apierrors.NewInternalError(err)}
	case !yes:
		return authz.ForbiddenError(ask, reason)
	}
	return nil
}
