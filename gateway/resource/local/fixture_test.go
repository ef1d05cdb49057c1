package local_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/gateway/catalog/catalogtest"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest/realengine"
	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/gateway/resource/engine"
	"github.com/wasmgate/wasmgate/storage/storagetest"
)

const v1 = catalogtest.V1

var (
	cronTabs, tab = catalogtest.CronTabs, catalogtest.Tab
	configMaps    = schema.GroupResource{Resource: "configmaps"}
	none          = schema.GroupResource{Group: "example.com", Resource: "nothing"}
)

// world is a running engine with a CronTab and namespaces, as a part of the gateway
// called tester sees it.
type world struct {
	*realengine.Engine
	t testing.TB
	// asked are the questions of validating admission.
	asked []string
}

// Validate implements [admission.Validator].
func (w *world) Validate(_ context.Context, a admission.Attributes) error {
	w.asked = append(w.asked, fmt.Sprintf("%s by %s", a.GetOperation(), a.GetUserInfo().GetName()))
	return nil
}

func newWorld(t testing.TB) *world {
	t.Helper()
	w := &world{t: t}
	w.Engine = realengine.Over(t, storagetest.NewMemory(), func(*engine.Engine) admission.Chain {
		return admission.Chain{Validators: []admission.Validator{w}}
	})
	w.Client = w.As(resource.Component("tester"))
	for _, ns := range []string{"default", "other"} {
		w.create(schema.GroupResource{Resource: "namespaces"}, `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"`+ns+`"}}`)
	}
	w.put("/registry/apiextensions.k8s.io/customresourcedefinitions/crontabs.example.com", w.definition(v1))
	w.asked = nil
	return w
}

func (w *world) ctx() context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	w.t.Cleanup(cancel)
	return ctx
}

// definition is the CronTab's, stored at a version.
func (w *world) definition(storageVersion string) string {
	w.t.Helper()
	data, err := yaml.YAMLToJSON([]byte(catalogtest.CronTab(storageVersion, false)))
	if err != nil {
		w.t.Fatal(err)
	}
	return string(data)
}

// put writes past all stages, and waits until that is seen and served.
func (w *world) put(key, text string) {
	w.t.Helper()
	kv, err := w.Store.Get(w.ctx(), key)
	if err == nil {
		_, err = w.Store.Update(w.ctx(), key, []byte(text), kv.Revision, 0)
	} else {
		_, err = w.Store.Create(w.ctx(), key, []byte(text), 0)
	}
	if err == nil {
		err = w.Fresh(w.ctx())
	}
	if err == nil {
		_, err = w.Kinds(w.ctx())
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// seen waits until what was written is seen: what is tried on an older state is tried
// again.
func (w *world) seen() {
	w.t.Helper()
	if err := w.Fresh(w.ctx()); err != nil {
		w.t.Fatal(err)
	}
}

// create creates an object of JSON, and waits until it is seen.
func (w *world) create(gr schema.GroupResource, text string) *unstructured.Unstructured {
	w.t.Helper()
	u := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &u.Object); err != nil {
		w.t.Fatal(err)
	}
	if gr == configMaps {
		u.SetNamespace("default")
	}
	out, err := w.Create(w.ctx(), gr, u)
	if err != nil {
		w.t.Fatal(err)
	}
	w.seen()
	return out
}

// remove deletes an object at once, and waits until that is seen.
func (w *world) remove(gr schema.GroupResource, namespace, name string) {
	w.t.Helper()
	if err := w.Delete(w.ctx(), gr, namespace, name, metav1.DeleteOptions{}); err != nil {
		w.t.Fatal(err)
	}
	w.seen()
}

// configMap is one as JSON, with more metadata.
func configMap(name, more string) string {
	return fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":%q%s},"data":{"k":"text"}}`, name, more)
}
