package load_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/kinds/module/load"
	"github.com/wasmgate/wasmgate/gateway/kinds/module/trust"
	"github.com/wasmgate/wasmgate/plugins"
)

const (
	both      = string(plugins.Convert) + " and " + string(plugins.Admit)
	onlyAdmit = string(plugins.Admit)
	neither   = string(plugins.Prioritize)
)

func webhook(name, url string) map[string]any {
	return map[string]any{
		"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration", "metadata": map[string]any{"name": name},
		"webhooks": []any{map[string]any{"name": name + ".example.com", "clientConfig": map[string]any{"url": url}}},
	}
}

// A revision that drops a hook does not take over while something refers to
// the module for that hook; it does when nothing does any more.
func TestARevisionThatDropsABoundHookIsRefused(t *testing.T) {
	w := newModuleWorld()
	_, stop := w.start(t)
	createModule(t, w, inlineSpec(both))
	w.expect(t, "True Compiled", "True Serving", digest(both))
	controllertest.MustCreate(t, w.Objects, gvr.ValidatingWebhooks, webhook("policy", "wasm://tabs"))
	setInline := func(bytes string) {
		changeModule(t, w, func(obj *unstructured.Unstructured) { obj.Object["spec"] = inlineSpec(bytes) })
	}
	setInline(onlyAdmit) // nothing refers to the hook that it drops
	w.expect(t, "True Compiled", "True Serving", digest(onlyAdmit))
	setInline(neither)
	obj := w.expect(t, "False HookInUse", "True PreviousRevision", digest(onlyAdmit))
	want := "it lacks wasmgate_admit, which the previous content has, and which is used by validatingwebhookconfigurations/policy; change or delete these first"
	if _, _, message := controllertest.Condition(obj, "Compiled"); message != want {
		t.Errorf("it says %q", message)
	}
	// So it is after a restart, when nothing serves at first.
	stop()
	modules, _ := w.start(t)
	controllertest.Eventually(t, w.Objects, "the revision before serves again", func() bool {
		rev, _ := modules.get("tabs")
		return string(rev.Bytes) == onlyAdmit
	})
	w.expect(t, "False HookInUse", "True PreviousRevision", digest(onlyAdmit))
	sets := modules.setCalls()
	controllertest.MustCreate(t, w.Objects, gvr.ValidatingWebhooks, webhook("another", "wasm://tabs"))
	controllertest.MustChange(t, w.Objects, gvr.ValidatingWebhooks, "", "", "policy", func(obj *unstructured.Unstructured) {
		obj.Object["webhooks"] = webhook("policy", "https://tabs")["webhooks"]
	})
	w.expect(t, "False HookInUse", "True PreviousRevision", digest(onlyAdmit))
	if n := modules.setCalls(); n != sets {
		t.Errorf("it was compiled %d times more, though something still refers to it", n-sets)
	}
	if err := w.Delete(t.Context(), gvr.ValidatingWebhooks, "", "another", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	w.expect(t, "True Compiled", "True Serving", digest(neither))
	controllertest.Eventually(t, w.Objects, "nobody follows what may refer to it", func() bool {
		return w.Followers(gvr.ValidatingWebhooks)+w.Followers(gvr.MutatingWebhooks)+w.Followers(gvr.Priorities) == 0 && w.Followers(gvr.Definitions) == 1 // for trust
	})
}

// Who cannot be asked what refers to a module refuses nothing for good.
func TestReferencesThatCannotBeListedAreLookedAtAgain(t *testing.T) {
	w := newModuleWorld()
	objects := &failingOnce{Objects: w.Objects}
	controllertest.Start(t, w.Objects, load.New(objects, &memoryModules{serving: map[string]plugins.Revision{}}, w.content, trust.New(w.Objects)))
	createModule(t, w, inlineSpec(both))
	w.expect(t, "True Compiled", "True Serving", digest(both))
	changeModule(t, w, func(obj *unstructured.Unstructured) { obj.Object["spec"] = inlineSpec(neither) })
	w.expect(t, "True Compiled", "True Serving", digest(neither))
	if !objects.failed.Load() {
		t.Error("nobody looked")
	}
}

// failingOnce cannot list at first.
type failingOnce struct {
	*controllertest.Objects
	failed atomic.Bool
}

func (f *failingOnce) List(ctx context.Context, gr schema.GroupResource, namespace string) ([]*unstructured.Unstructured, error) {
	if !f.failed.Swap(true) {
		return nil, errors.New("no cache")
	}
	return f.Objects.List(ctx, gr, namespace)
}

// A first revision has nothing to keep: what was bound before it never worked.
func TestAFirstRevisionDropsNothing(t *testing.T) {
	w := newModuleWorld()
	w.start(t)
	controllertest.MustCreate(t, w.Objects, gvr.ValidatingWebhooks, webhook("policy", "wasm://tabs"))
	createModule(t, w, inlineSpec(neither))
	obj := w.expect(t, "True Compiled", "True Serving", digest(neither))
	if _, _, message := controllertest.Condition(obj, "Compiled"); !strings.Contains(message, neither) {
		t.Errorf("it says %q", message)
	}
}
