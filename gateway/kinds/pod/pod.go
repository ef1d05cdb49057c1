package pod

import (
	"context"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/gateway/controller/client"
	"github.com/wasmgate/wasmgate/gateway/resource"
)

// Objects are the objects that there are.
type Objects interface {
	Reader
	Writer
}

// Reader reads objects at their storage versions, from the cache.
type Reader interface {
	client.Getter
	client.Lister
	client.Freshener
}

// Writer writes objects.
type Writer interface {
	client.Updater
	// Edit changes an object through a subresource, again and again while others
	// write it, and returns what it has become. Admission is not asked.
	Edit(ctx context.Context, gr schema.GroupResource, subresource, namespace, name string, e resource.Edit) (*unstructured.Unstructured, error)
	// Remove deletes like a client's DELETE an object of which may says yes to the
	// stored state. Admission is not asked.
	Remove(ctx context.Context, gr schema.GroupResource, namespace, name string, o metav1.DeleteOptions, may func(obj *unstructured.Unstructured) error) error
}

// Judge lets admission change and judge what a client sends. An error is the
// client's.
type Judge interface {
	Judge(ctx context.Context, t resource.Target, s resource.Sent, o resource.WriteOptions) error
}

var (
	kind     = schema.GroupResource{Resource: "pods"}
	bindings = schema.GroupResource{Resource: "bindings"}
	budgets  = schema.GroupResource{Group: "policy", Resource: "poddisruptionbudgets"}
)

// As are the objects as somebody writes them: admission is told who it is.
type As func(resource.Caller) Objects

// self is who writes what no client asked for.
var self = resource.Component("pods")

// Answer answers a question about the pod that is the target.
type Answer = func(ctx context.Context, t resource.Target, contentType string, body []byte, o resource.WriteOptions) (any, error)

// Created are the subresources that make what is sent to them, by name.
func Created(as As, judge Judge) map[string]Answer {
	return map[string]Answer{"binding": binding{as, judge}.answer, "eviction": eviction{as, judge}.answer}
}

// Log is the subresource of what a pod wrote.
func Log(as As) Answer { return log{as}.answer }

// typed is a pod in its Go type.
func typed(u *unstructured.Unstructured) (*corev1.Pod, error) {
	p := &corev1.Pod{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, p); err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	return p, nil
}

// pod reads a pod for a client, to whom what it has just written is there.
func pod(ctx context.Context, objects Reader, t resource.Target) (*corev1.Pod, error) {
	if err := objects.Fresh(ctx); err != nil {
		return nil, err
	}
	u, err := objects.Get(ctx, kind, t.Namespace, t.Name)
	if err != nil {
		return nil, err
	}
	return typed(u)
}

// done is the answer to what was done.
var done = metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusSuccess, Code: http.StatusCreated}

// condition gives a pod a condition that holds, in the place of what was said of
// its type before. Since when it holds stays what it was, if it did.
func condition(u *unstructured.Unstructured, c corev1.PodCondition) error {
	all, _, err := unstructured.NestedSlice(u.Object, "status", "conditions")
	if err != nil {
		return apierrors.NewInternalError(err)
	}
	c.Status, c.LastTransitionTime = corev1.ConditionTrue, metav1.Now()
	now, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&c)
	if err != nil {
		return apierrors.NewInternalError(err)
	}
	at := len(all)
	for i, one := range all {
		if was, ok := one.(map[string]any); ok && was["type"] == now["type"] {
			if at = i; was["status"] == now["status"] {
				now["lastTransitionTime"] = was["lastTransitionTime"]
			}
		}
	}
	if at == len(all) {
		all = append(all, nil)
	}
	all[at] = now
	if err := unstructured.SetNestedSlice(u.Object, all, "status", "conditions"); err != nil {
		return apierrors.NewInternalError(err)
	}
	return nil
}
