package pods

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/wasmgate/wasmgate/gateway/api"
	"github.com/wasmgate/wasmgate/gateway/resource"
)

// Objects are the objects that there are. Errors are the API's status errors;
// objects that are returned belong to the caller.
type Objects interface {
	// Get reads an object at its storage version, from the cache.
	Get(ctx context.Context, gr schema.GroupResource, namespace, name string) (*unstructured.Unstructured, error)
	// List reads all objects of a kind ("" = in all namespaces), from the cache.
	List(ctx context.Context, gr schema.GroupResource, namespace string) ([]*unstructured.Unstructured, error)
	// Update writes obj through a subresource; its resourceVersion must be
	// current, else it is a Conflict.
	Update(ctx context.Context, gr schema.GroupResource, subresource string, obj *unstructured.Unstructured) (*unstructured.Unstructured, error)
	// Delete deletes like a client's DELETE.
	Delete(ctx context.Context, gr schema.GroupResource, namespace, name string, o metav1.DeleteOptions) error
}

var (
	kind    = schema.GroupResource{Resource: "pods"}
	budgets = schema.GroupResource{Group: "policy", Resource: "poddisruptionbudgets"}
)

// Questions are the subresources by name.
func Questions(objects Objects) map[api.ContentPath]api.Question {
	out := map[api.ContentPath]api.Question{
		{GroupResource: kind, Subresource: "binding"}:  binding{objects},
		{GroupResource: kind, Subresource: "eviction"}: eviction{objects},
		{GroupResource: kind, Subresource: "log"}:      kubelet{objects, "get"},
	}
	for _, name := range []string{"exec", "attach", "portforward", "proxy"} {
		out[api.ContentPath{GroupResource: kind, Subresource: name}] = kubelet{objects, ""}
	}
	return out
}

// pod reads a pod.
func pod(ctx context.Context, objects Objects, t resource.Target) (*corev1.Pod, *unstructured.Unstructured, error) {
	u, err := objects.Get(ctx, kind, t.Namespace, t.Name)
	if err != nil {
		return nil, nil, err
	}
	p := &corev1.Pod{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, p); err != nil {
		return nil, nil, apierrors.NewInternalError(err)
	}
	return p, u, nil
}

func read(body []byte, into any) error {
	if err := yaml.Unmarshal(body, into); err != nil { // JSON is YAML
		return apierrors.NewBadRequest(err.Error())
	}
	return nil
}

// done is the reply to what was done.
func done() (*api.Response, error) {
	data, err := json.Marshal(metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusSuccess, Code: http.StatusCreated,
	})
	return &api.Response{Code: http.StatusCreated, ContentType: "application/json", Body: data}, err
}

// binding puts a pod on a node.
type binding struct{ objects Objects }

// Verb implements api.Question.
func (binding) Verb() string { return "create" }

// Answer implements api.Question.
func (b binding) Answer(ctx context.Context, t resource.Target, _ string, body []byte) (*api.Response, error) {
	var wanted corev1.Binding
	if err := read(body, &wanted); err != nil {
		return nil, err
	}
	if wanted.Target.Name == "" || wanted.Target.Kind != "" && wanted.Target.Kind != "Node" {
		return nil, apierrors.NewBadRequest("the target of a binding is a Node that has a name")
	}
	p, u, err := pod(ctx, b.objects, t)
	if err != nil {
		return nil, err
	}
	conflict := func(format string, args ...any) error {
		return apierrors.NewConflict(schema.GroupResource{Resource: "pods/binding"}, t.Name, fmt.Errorf(format, args...))
	}
	switch {
	case p.DeletionTimestamp != nil:
		return nil, conflict("pod %s is being deleted, cannot be assigned to a host", t.Name)
	case p.Spec.NodeName != "":
		return nil, conflict("pod %s is already assigned to node %q", t.Name, p.Spec.NodeName)
	}
	if err := unstructured.SetNestedField(u.Object, wanted.Target.Name, "spec", "nodeName"); err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	conditions, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
	conditions = append(conditions, map[string]any{
		"type": string(corev1.PodScheduled), "status": "True", "lastTransitionTime": metav1.Now().UTC().Format("2006-01-02T15:04:05Z"),
	})
	if err := unstructured.SetNestedSlice(u.Object, conditions, "status", "conditions"); err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	if _, err := b.objects.Update(ctx, kind, "binding", u); err != nil {
		return nil, err
	}
	return done()
}

// eviction deletes a pod unless a disruption budget forbids it.
type eviction struct{ objects Objects }

// Verb implements api.Question.
func (eviction) Verb() string { return "create" }

// Answer implements api.Question.
func (e eviction) Answer(ctx context.Context, t resource.Target, _ string, body []byte) (*api.Response, error) {
	var wanted policyv1.Eviction
	if err := read(body, &wanted); err != nil {
		return nil, err
	}
	if wanted.Name != "" && wanted.Name != t.Name {
		return nil, apierrors.NewBadRequest("name in URL does not match name in Eviction object")
	}
	p, _, err := pod(ctx, e.objects, t)
	if err != nil {
		return nil, err
	}
	if err := e.allowed(ctx, p); err != nil {
		return nil, err
	}
	o := metav1.DeleteOptions{}
	if wanted.DeleteOptions != nil {
		o = *wanted.DeleteOptions
	}
	if len(o.DryRun) > 0 {
		return done()
	}
	if err := e.objects.Delete(ctx, kind, t.Namespace, t.Name, o); err != nil {
		return nil, err
	}
	return done()
}

// allowed asks the disruption budgets. A pod that has ended disturbs nobody.
func (e eviction) allowed(ctx context.Context, p *corev1.Pod) error {
	if p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed || p.DeletionTimestamp != nil {
		return nil
	}
	all, err := e.objects.List(ctx, budgets, p.Namespace)
	if err != nil {
		return err
	}
	for _, u := range all {
		var b policyv1.PodDisruptionBudget
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &b); err != nil {
			return apierrors.NewInternalError(err)
		}
		selector, err := metav1.LabelSelectorAsSelector(b.Spec.Selector)
		if err != nil || !selector.Matches(labels.Set(p.Labels)) {
			continue
		}
		if b.Status.ObservedGeneration < b.Generation || b.Status.DisruptionsAllowed <= 0 {
			return apierrors.NewTooManyRequests("Cannot evict pod as it would violate the pod's disruption budget.", 10)
		}
	}
	return nil
}

// kubelet is what only the node of a pod could answer.
type kubelet struct {
	objects Objects
	verb    string
}

// Verb implements api.Question.
func (k kubelet) Verb() string { return k.verb }

var errNoKubelet = errors.New("this server does not reach the kubelets of nodes")

// Answer implements api.Question.
func (k kubelet) Answer(ctx context.Context, t resource.Target, _ string, _ []byte) (*api.Response, error) {
	p, _, err := pod(ctx, k.objects, t)
	if err != nil {
		return nil, err
	}
	if p.Spec.NodeName == "" {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("pod %s does not have a host assigned", t.Name))
	}
	return nil, apierrors.NewInternalError(fmt.Errorf("node %s: %w", p.Spec.NodeName, errNoKubelet))
}
