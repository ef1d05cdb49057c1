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
	// give ends the work, for a reason that concerns all objects.
	give context.CancelCauseFunc
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
	ctx, give := context.WithCancelCause(ctx)
	defer give(nil)
	t := &there{version: what.To, groups: groups, reviews: client.Resource(conversionReviews), kinds: map[string]map[string]bool{}, give: give}
	what.By = t.convert
	converted, err := tools.Convert(ctx, what)
	if cause := context.Cause(ctx); cause != nil {
		return nil, cause
	}
	if err == nil && !t.known && len(converted) > 0 {
		err = mistake{fmt.Errorf("no object is of a kind that the gateway serves at version %s; see which there are with: kubectl api-resources", what.To)}
	}
	return converted, err
}

// convert implements [workbench.ConvertOne].
func (t *there) convert(ctx context.Context, obj []byte) ([]byte, error) {
	var u unstructured.Unstructured
	if err := u.UnmarshalJSON(obj); err != nil {
		return nil, nil // it is no object of Kubernetes
	}
	gv := schema.GroupVersion{Group: u.GroupVersionKind().Group, Version: t.version}
	served, err := t.serves(gv, u.GetKind())
	if err != nil || !served {
		return nil, t.judged(err)
	}
	t.known = true
	if u.GetAPIVersion() == gv.String() {
		return obj, nil
	}
	review, err := t.reviews.Create(ctx, &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": conversionReviews.GroupVersion().String(), "kind": "ConversionReview",
		"spec": map[string]any{"desiredAPIVersion": gv.String(), "object": u.Object},
	}}, metav1.CreateOptions{})
	if apierrors.IsNotFound(err) {
		err = mistake{fmt.Errorf("the server answers no ConversionReviews: is it a wasmgate of this version? With --module, no server is needed (%w)", err)}
	}
	if err != nil {
		return nil, t.judged(err)
	}
	converted, _, err := unstructured.NestedMap(review.Object, "status", "object")
	if err != nil {
		return nil, err
	}
	if _, had := u.Object["status"]; !had {
		delete(converted, "status") // that of an object that nothing is known of
	}
	return json.Marshal(converted)
}

// ofObjects are the codes of refusals that are about one object.
var ofObjects = []int32{http.StatusBadRequest, http.StatusForbidden, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity, http.StatusInternalServerError}

// judged ends the work for an error that says nothing of the object, and returns it.
func (t *there) judged(err error) error {
	var status apierrors.APIStatus
	if err != nil && !(errors.As(err, &status) && slices.Contains(ofObjects, status.Status().Code)) {
		t.give(err)
	}
	return err
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
