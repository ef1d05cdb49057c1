package apiservice

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/client"
	"github.com/wasmgate/wasmgate/gateway/discovery"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
)

// managed is the label of APIServices that a server keeps itself: at its start, or
// always. Those without it are somebody's own.
const (
	managed = "kube-aggregator.kubernetes.io/automanaged"
	onStart = "onstart"
	always  = "true"
)

// Objects reads and writes APIServices, and reads definitions.
type Objects interface {
	client.Getter
	client.Lister
	client.MetadataLister
	client.Creator
	client.Updater
	client.Deleter
}

// Registration keeps the APIServices of custom resources in step with their
// definitions.
type Registration struct{ objects Objects }

// NewRegistration makes the controller.
func NewRegistration(objects Objects) *Registration { return &Registration{objects} }

// Name implements [controller.Controller].
func (*Registration) Name() string { return "crd-registration" }

// Watches implements [controller.Controller].
func (*Registration) Watches() []schema.GroupResource {
	return []schema.GroupResource{gvr.Definitions, gvr.APIServices}
}

// Reconcile implements [controller.Controller]. A definition that went does not say any
// more which versions it had, so all versions of its group are looked at.
func (r *Registration) Reconcile(ctx context.Context, q controller.Queue, key controller.Key) error {
	if key.GroupResource == gvr.APIServices {
		return r.register(ctx, key.Name)
	}
	_, group, _ := strings.Cut(key.Name, ".")
	served, err := r.served(ctx, group)
	if err != nil {
		return err
	}
	for version := range served {
		q.Add(controller.Key{GroupResource: gvr.APIServices, Name: version + "." + group})
	}
	there, err := r.objects.ListMetadata(ctx, gvr.APIServices, "")
	if err != nil {
		return err
	}
	for _, s := range there {
		if _, of, _ := strings.Cut(s.Name, "."); of == group && s.Labels[managed] == always {
			q.Add(controller.Key{GroupResource: gvr.APIServices, Name: s.Name})
		}
	}
	return nil
}

// register makes one APIService what the definitions say.
func (r *Registration) register(ctx context.Context, name string) error {
	version, group, _ := strings.Cut(name, ".")
	served, err := r.served(ctx, group)
	if err != nil {
		return err
	}
	if served[version] {
		return ensure(ctx, r.objects, schema.GroupVersion{Group: group, Version: version}, always)
	}
	return drop(ctx, r.objects, name, always)
}

// served are the versions that the definitions of a group serve.
func (r *Registration) served(ctx context.Context, group string) (map[string]bool, error) {
	all, err := r.objects.ListMetadata(ctx, gvr.Definitions, "")
	if err != nil {
		return nil, err
	}
	out := map[string]bool{}
	for _, m := range all {
		if _, of, _ := strings.Cut(m.Name, "."); of != group {
			continue
		}
		obj, err := r.objects.Get(ctx, gvr.Definitions, "", m.Name)
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		// The schemas, which are nearly all of a definition, are not made Go values.
		versions, _ := gvr.Section(obj, "spec")["versions"].([]any)
		for _, one := range versions {
			v, _ := one.(map[string]any)
			name, _ := v["name"].(string)
			out[name] = out[name] || v["served"] == true
		}
	}
	return out, nil
}

// maxStarts is how often a start writes an APIService that others write, too.
const maxStarts = 10

// Start makes the APIServices of built-in versions, and deletes those that an earlier
// start made of versions that are served no longer.
func Start(ctx context.Context, objects Objects, builtin []schema.GroupVersion) error {
	wanted := map[string]bool{}
	for _, gv := range builtin {
		wanted[nameOf(gv)] = true
		// Another gateway may start at the same time.
		err := ensure(ctx, objects, gv, onStart)
		for tries := 1; apierrors.IsConflict(err) && tries < maxStarts; tries++ {
			err = ensure(ctx, objects, gv, onStart)
		}
		if err != nil {
			return err
		}
	}
	there, err := objects.ListMetadata(ctx, gvr.APIServices, "")
	if err != nil {
		return err
	}
	for _, s := range there {
		if !wanted[s.Name] {
			if err := drop(ctx, objects, s.Name, onStart); err != nil {
				return err
			}
		}
	}
	return nil
}

func nameOf(gv schema.GroupVersion) string { return gv.Version + "." + gv.Group }

// ensure makes the APIService of a version as it has to be, unless it is somebody's own.
func ensure(ctx context.Context, objects Objects, gv schema.GroupVersion, when string) error {
	priority := discovery.PriorityOf(gv)
	spec := apiregistrationv1.APIServiceSpec{
		Group: gv.Group, Version: gv.Version, GroupPriorityMinimum: priority.Group, VersionPriority: priority.Version,
	}
	obj, err := objects.Get(ctx, gvr.APIServices, "", nameOf(gv))
	if apierrors.IsNotFound(err) {
		err = create(ctx, objects, spec, when)
		if apierrors.IsAlreadyExists(err) {
			return nil // by another gateway
		}
		return err
	}
	var s apiregistrationv1.APIService
	if err == nil {
		err = gvr.Decode(obj, &s)
	}
	if err != nil || s.Labels[managed] == "" || equality.Semantic.DeepEqual(s.Spec, spec) {
		return err
	}
	if obj.Object["spec"], err = runtime.DefaultUnstructuredConverter.ToUnstructured(&spec); err != nil {
		return err
	}
	if _, err = objects.Update(ctx, gvr.APIServices, "", obj); apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

func create(ctx context.Context, objects Objects, spec apiregistrationv1.APIServiceSpec, when string) error {
	tree, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&spec)
	if err != nil {
		return err
	}
	obj := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": apiregistrationv1.SchemeGroupVersion.String(), "kind": "APIService", "spec": tree,
		"metadata": map[string]any{"name": spec.Version + "." + spec.Group, "labels": map[string]any{managed: when}},
	}}
	if _, err = objects.Create(ctx, gvr.APIServices, obj); err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("the APIService of %s: %w", spec.Group+"/"+spec.Version, err)
	}
	return err
}

// drop deletes an APIService that a server made and keeps no longer.
func drop(ctx context.Context, objects Objects, name, when string) error {
	obj, err := objects.Get(ctx, gvr.APIServices, "", name)
	if err != nil || obj.GetLabels()[managed] != when {
		return gvr.IgnoreNotFound(err)
	}
	uid := types.UID(obj.GetUID())
	err = objects.Delete(ctx, gvr.APIServices, "", name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}})
	if apierrors.IsConflict(err) {
		return nil // it is another one by now, and comes again
	}
	return gvr.IgnoreNotFound(err)
}
