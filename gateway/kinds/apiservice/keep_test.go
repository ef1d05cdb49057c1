package apiservice

import (
	"context"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest/realengine"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/options"
)

// stored answers with one object, or an error, and counts what is written.
type stored struct {
	Objects
	obj     *unstructured.Unstructured
	err     error
	written int
}

func (s *stored) Get(context.Context, schema.GroupResource, string, string) (*unstructured.Unstructured, error) {
	return s.obj, s.err
}

func (s *stored) Update(_ context.Context, _ schema.GroupResource, _ string, obj *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	s.written++
	return obj, nil
}

func (s *stored) Create(_ context.Context, _ schema.GroupResource, obj *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	s.written++
	return obj, nil
}

// What extension servers believe is made once and then left alone while nothing changes.
func TestWhatExtensionServersBelieveIsKept(t *testing.T) {
	e := realengine.Start(t)
	controllertest.MustCreate(t, e, gvr.Namespaces, controllertest.NamespaceTree("kube-system"))
	a := NewAuthentication(e, options.Default(), nil, nil)
	fresh := func() {
		if err := e.Fresh(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	fresh()
	var version string
	for range 2 {
		if err := a.Keep(t.Context()); err != nil {
			t.Fatal(err)
		}
		fresh()
		obj, err := e.Get(t.Context(), configMaps, "kube-system", authentication)
		if err != nil {
			t.Fatal(err)
		}
		if data, _, _ := unstructured.NestedStringMap(obj.Object, "data"); data["requestheader-username-headers"] != `["X-Remote-User"]` {
			t.Errorf("%v", data)
		}
		if version != "" && obj.GetResourceVersion() != version {
			t.Errorf("written again: %s, then %s", version, obj.GetResourceVersion())
		}
		version = obj.GetResourceVersion()
	}
}

// What cannot be read is told, and not written over.
func TestWhatCannotBeReadIsNotWrittenOver(t *testing.T) {
	damaged := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": authentication, "namespace": "kube-system"}, "data": map[string]any{"client-ca-file": int64(1)},
	}}
	for what, s := range map[string]*stored{
		"an object that is damaged": {obj: damaged},
		"no answer":                 {err: apierrors.NewInternalError(context.DeadlineExceeded)},
	} {
		if err := NewAuthentication(s, options.Default(), nil, nil).Keep(t.Context()); err == nil || s.written != 0 {
			t.Errorf("%s: %v, %d times written", what, err, s.written)
		}
	}
}
