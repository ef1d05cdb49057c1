package pods

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

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
	// Fresh waits until the cache holds everything that was committed before
	// the call.
	Fresh(ctx context.Context) error
}

var (
	kind    = schema.GroupResource{Resource: "pods"}
	budgets = schema.GroupResource{Group: "policy", Resource: "poddisruptionbudgets"}
)

// As are the objects as somebody writes them: admission is told who it is.
type As func(resource.Caller) Objects

// self is who writes what no client asked for.
var self = resource.Component("pods")

// Admit asks admission about an object of a kind that is made at a subresource,
// and returns what it becomes. An error is the client's.
type Admit func(ctx context.Context, t resource.Target, kind schema.GroupVersionKind, tree map[string]any, o resource.WriteOptions) (map[string]any, error)

// Questions are the subresources by name.
func Questions(as As, admit Admit) map[api.ContentPath]api.Question {
	out := map[api.ContentPath]api.Question{
		{GroupResource: kind, Subresource: "binding"}:  binding{as, admit},
		{GroupResource: kind, Subresource: "eviction"}: eviction{as, admit},
		{GroupResource: kind, Subresource: "log"}:      kubelet{as, "get"},
		{GroupResource: kind, Subresource: "proxy"}:    kubelet{as, api.AnyVerb},
	}
	for _, name := range []string{"exec", "attach", "portforward"} {
		out[api.ContentPath{GroupResource: kind, Subresource: name}] = kubelet{as, ""}
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

// made asks admission about an object that a client makes for a pod, and reads
// into it what it becomes.
func (a Admit) made(ctx context.Context, t resource.Target, kind schema.GroupVersionKind, object metav1.Object, o resource.WriteOptions) error {
	object.SetName(t.Name)
	object.SetNamespace(t.Namespace)
	tree, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return apierrors.NewInternalError(err)
	}
	tree["apiVersion"], tree["kind"] = kind.GroupVersion().String(), kind.Kind
	if tree, err = a(ctx, t, kind, tree, o); err != nil {
		return err
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(tree, object); err != nil {
		return apierrors.NewInternalError(err)
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

// kubelet is what only the node of a pod could answer.
type kubelet struct {
	as   As
	verb string
}

// Verb implements api.Question.
func (k kubelet) Verb() string { return k.verb }

var errNoKubelet = errors.New("this server does not reach the kubelets of nodes")

// Answer implements api.Question.
func (k kubelet) Answer(ctx context.Context, t resource.Target, _ string, _ []byte, _ resource.WriteOptions) (*api.Response, error) {
	p, _, err := pod(ctx, k.as(self), t)
	if err != nil {
		return nil, err
	}
	if p.Spec.NodeName == "" {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("pod %s does not have a host assigned", t.Name))
	}
	return nil, apierrors.NewInternalError(fmt.Errorf("node %s: %w", p.Spec.NodeName, errNoKubelet))
}
