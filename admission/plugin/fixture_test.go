package plugin_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/admission/admissiontest"
	"github.com/wasmgate/wasmgate/admission/plugin"
	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest/realengine"
	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/gateway/resource/engine"
	"github.com/wasmgate/wasmgate/gateway/resource/local"
)

var (
	namespaces      = schema.GroupResource{Resource: "namespaces"}
	pods            = schema.GroupResource{Resource: "pods"}
	claims          = schema.GroupResource{Group: "resource.k8s.io", Resource: "resourceclaims"}
	templates       = schema.GroupResource{Group: "resource.k8s.io", Resource: "resourceclaimtemplates"}
	runtimeClasses  = schema.GroupResource{Group: "node.k8s.io", Resource: "runtimeclasses"}
	priorityClasses = schema.GroupResource{Group: "scheduling.k8s.io", Resource: "priorityclasses"}
)

// world is an engine that asks the plugins of this package, with a namespace.
type world struct {
	*realengine.Engine
	t *testing.T
}

func newWorld(t *testing.T) world {
	t.Helper()
	w := world{t: t, Engine: realengine.With(t, func(e *engine.Engine) admission.Chain {
		objects := local.New(e, resource.Component("test"))
		return admissiontest.Chain(t, plugin.DeviceAdmin{Namespaces: objects}, plugin.DefaultTolerationSeconds{NotReady: 300, Unreachable: 300}, plugin.RuntimeClass{Classes: objects},
			plugin.Priority{Classes: objects}, plugin.StorageObjectInUseProtection{})
	})}
	w.must(namespaces, "", `{"metadata":{"name":"default"}}`)
	return w
}

// create returns the object, or the error in words.
func (w world) create(gr schema.GroupResource, body string, dryRun bool) (map[string]any, string) {
	w.t.Helper()
	return w.write(gr, "", body, dryRun)
}

func (w world) write(gr schema.GroupResource, name, body string, dryRun bool) (map[string]any, string) {
	r := w.Catalog.Snapshot().Resource(gr)
	t := resource.Target{Resource: r, Version: r.Def.Version(r.Def.StorageVersion), Name: name}
	if r.Def.Namespaced {
		t.Namespace = "default"
	}
	write := w.Verbs.Create
	if name != "" {
		write = w.Verbs.Update
	}
	out, err := write(w.t.Context(), t, []byte(body), resource.WriteOptions{Caller: resource.Component("test"), DryRun: dryRun})
	if err != nil {
		return nil, err.Error()
	}
	tree, _, err := object.Parse(out.Object)
	if err != nil {
		w.t.Fatal(err)
	}
	return tree, ""
}

func (w world) must(gr schema.GroupResource, name, body string) map[string]any {
	w.t.Helper()
	out, refusal := w.write(gr, name, body, false)
	if refusal != "" {
		w.t.Fatal(refusal)
	}
	return out
}

func at(tree map[string]any, path ...string) any {
	v, _, _ := unstructured.NestedFieldNoCopy(tree, path...)
	return v
}
