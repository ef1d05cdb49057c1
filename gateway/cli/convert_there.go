package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/wasmgate/wasmgate/gateway/options/workbench"
)

var conversionReviews = schema.GroupVersionResource{Group: "wasmgate.dev", Version: "v1", Resource: "conversionreviews"}

// there converts objects to a version by a gateway.
type there struct {
	version string
	groups  discovery.ServerResourcesInterface
	reviews dynamic.ResourceInterface
	// kinds are those that are served at the version, by group.
	kinds map[string]map[string]bool
	// known is whether any object was of one of them.
	known bool
}

// convertThere has a gateway convert objects, and tells of each. Those of kinds that
// are not served at the version stay as they are; if all do, that is an error.
func convertThere(ctx context.Context, cfg *rest.Config, tools workbench.Tools, what workbench.Conversion) ([]workbench.Converted, error) {
	groups, err := discovery.NewDiscoveryClientForConfig(cfg)
	if err != nil {
		return nil, err
	}
	client, err := dynamic.NewForConfig(cfg)
	if err != nil {
		return nil, err
	}
	t := &there{version: what.To, groups: groups, reviews: client.Resource(conversionReviews), kinds: map[string]map[string]bool{}}
	what.By = t.convert
	converted, err := tools.Convert(ctx, what)
	if err == nil && !t.known && len(converted) > 0 {
		err = mistake{fmt.Errorf("no object is of a kind that the gateway serves at version %s; see which there are with: kubectl api-resources", what.To)}
	}
	return converted, err
}

// A request has no more than so many objects, and no more than so many bytes of them but
// for one that is larger.
const (
	mostReviewed      = 100
	mostReviewedBytes = 1 << 20
)

// reviewed are objects that go into one request, and where it is told of each.
type reviewed struct {
	to      schema.GroupVersion
	objects []map[string]any
	places  []*workbench.Converted
	bytes   int
}

// convert implements [workbench.ConvertAll].
func (t *there) convert(ctx context.Context, objects [][]byte) ([]workbench.Converted, error) {
	out := make([]workbench.Converted, len(objects))
	var next reviewed
	for i, obj := range objects {
		var u unstructured.Unstructured
		if err := u.UnmarshalJSON(obj); err != nil {
			continue // it is no object of Kubernetes
		}
		gv := schema.GroupVersion{Group: u.GroupVersionKind().Group, Version: t.version}
		served, err := t.serves(gv, u.GetKind())
		if err != nil && !ofOne(err) {
			return nil, err
		}
		if err != nil {
			out[i].Problem = err.Error()
		}
		if !served {
			continue
		}
		t.known = true
		if u.GetAPIVersion() == gv.String() {
			out[i].Object = obj
			continue
		}
		if next.to != gv || len(next.objects) == mostReviewed || next.bytes+len(obj) > mostReviewedBytes {
			if err := t.review(ctx, next); err != nil {
				return nil, err
			}
			next = reviewed{to: gv}
		}
		next.objects, next.places, next.bytes = append(next.objects, u.Object), append(next.places, &out[i]), next.bytes+len(obj)
	}
	return out, t.review(ctx, next)
}

// review has objects converted by one request, or each by its own where that is refused:
// an older gateway knows no others, one object may be too large for them, and all of them
// may take more time or memory than there is for one request.
func (t *there) review(ctx context.Context, some reviewed) error {
	if len(some.objects) > 1 {
		all, err := t.ask(ctx, some.to, "objects", some.list())
		if err == nil {
			if told, _, _ := unstructured.NestedSlice(all, "objects"); len(told) == len(some.objects) {
				return some.tell(told)
			}
		}
		if err != nil && (ctx.Err() != nil || !ofOne(err) && !tooMuch(err)) {
			return err
		}
	}
	for i, obj := range some.objects {
		answer, err := t.ask(ctx, some.to, "object", obj)
		if err != nil && !ofOne(err) {
			return err
		}
		if err != nil {
			some.places[i].Problem = err.Error()
			continue
		}
		if err := some.converted(i, answer); err != nil {
			return err
		}
	}
	return nil
}

// ask creates a review, and returns its status.
func (t *there) ask(ctx context.Context, to schema.GroupVersion, name string, what any) (map[string]any, error) {
	review, err := t.reviews.Create(ctx, &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": conversionReviews.GroupVersion().String(), "kind": "ConversionReview",
		"spec": map[string]any{"desiredAPIVersion": to.String(), name: what},
	}}, metav1.CreateOptions{})
	if apierrors.IsNotFound(err) {
		err = mistake{fmt.Errorf("the server answers no ConversionReviews: is it a wasmgate of this version? With --module, no server is needed (%w)", err)}
	}
	if err != nil {
		return nil, err
	}
	status, _, err := unstructured.NestedMap(review.Object, "status")
	return status, err
}

// list is the objects as a field of a review.
func (r reviewed) list() []any {
	out := make([]any, len(r.objects))
	for i, obj := range r.objects {
		out[i] = obj
	}
	return out
}

// tell notes what a review says of each object.
func (r reviewed) tell(told []any) error {
	for i, one := range told {
		answer, _ := one.(map[string]any)
		if message, failed, _ := unstructured.NestedString(answer, "error", "message"); failed {
			r.places[i].Problem = message
			continue
		}
		if err := r.converted(i, answer); err != nil {
			return err
		}
	}
	return nil
}

// converted notes the object of an answer.
func (r reviewed) converted(i int, answer map[string]any) error {
	obj, _, err := unstructured.NestedMap(answer, "object")
	if err != nil {
		return err
	}
	if _, had := r.objects[i]["status"]; !had {
		delete(obj, "status") // that of an object that nothing is known of
	}
	r.places[i].Object, err = json.Marshal(obj)
	return err
}

// ofObjects are the codes of refusals that are about one object.
var ofObjects = []int32{http.StatusBadRequest, http.StatusForbidden, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity, http.StatusInternalServerError}

// ofOne tells a refusal that is about one object.
func ofOne(err error) bool {
	var status apierrors.APIStatus
	return errors.As(err, &status) && slices.Contains(ofObjects, status.Status().Code)
}

// tooMuch tells a refusal of a request that less may be asked for by.
func tooMuch(err error) bool {
	return apierrors.IsTimeout(err) || apierrors.IsTooManyRequests(err)
}

// serves tells whether a kind is served at the version, in its group.
func (t *there) serves(gv schema.GroupVersion, kind string) (bool, error) {
	kinds, asked := t.kinds[gv.Group]
	if !asked {
		kinds = map[string]bool{}
		all, err := t.groups.ServerResourcesForGroupVersion(gv.String())
		if err != nil && !apierrors.IsNotFound(err) {
			return false, err
		}
		if err == nil {
			for _, r := range all.APIResources {
				kinds[r.Kind] = kinds[r.Kind] || !strings.Contains(r.Name, "/")
			}
		}
		t.kinds[gv.Group] = kinds
	}
	return kinds[kind], nil
}
