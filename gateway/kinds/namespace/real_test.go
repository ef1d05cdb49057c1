package namespace_test

import (
	"context"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest/realengine"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/kinds/namespace"
)

// A namespace goes after everything in it, on the real engine, whose converter
// is broken all the while.
func TestNamespaceOnTheRealEngine_RES05(t *testing.T) {
	e := realengine.Start(t)
	controllertest.DefineCronTabs(t, e)
	e.Converter.BreakDown("no conversion")
	controllertest.Start(t, e, namespace.NewBootstrap(e), namespace.NewFinalizer(e, e, e.Stored(), gone()))
	for _, gr := range []schema.GroupResource{controllertest.CronTabs, controllertest.ConfigMaps, controllertest.Leases} {
		controllertest.MustCreate(t, e, gr, controllertest.ObjectTree("work", "free"))
		controllertest.MustCreate(t, e, gr, controllertest.ObjectTree("work", "held", "example.com/hold"))
	}
	pod := controllertest.ObjectTree("work", "runs", "example.com/hold")
	pod["spec"] = map[string]any{"containers": []any{map[string]any{"name": "c", "image": "i"}}}
	controllertest.MustCreate(t, e, gvr.Pods, pod)
	remove := func(name string) {
		t.Helper()
		if err := e.Delete(context.Background(), gvr.Namespaces, "", name, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	remove("work")
	says := func(condition, want string) {
		t.Helper()
		controllertest.Eventually(t, e, want, func() bool {
			ns, err := e.Get(context.Background(), gvr.Namespaces, "", "work")
			if err != nil {
				return false
			}
			_, _, message := controllertest.Condition(ns, condition)
			return message == want
		})
	}
	says("NamespaceContentRemaining", "Some resources are remaining: pods. has 1 resource instances")
	if controllertest.Gone(e, controllertest.ConfigMaps, "work", "free") {
		t.Error("something went before a pod")
	}
	controllertest.RemoveFinalizer(t, e, gvr.Pods, "work", "runs", "example.com/hold")
	says("NamespaceFinalizersRemaining", "Some content in the namespace has finalizers remaining: example.com/hold in 3 resource instances")
	for _, gr := range []schema.GroupResource{controllertest.CronTabs, controllertest.ConfigMaps, controllertest.Leases} {
		if !controllertest.Gone(e, gr, "work", "free") {
			t.Errorf("an object of %s is still there", gr)
		}
		controllertest.RemoveFinalizer(t, e, gr, "work", "held", "example.com/hold")
	}
	controllertest.Eventually(t, e, "namespace gone", func() bool { return controllertest.Gone(e, gvr.Namespaces, "", "work") })

	// The system's namespaces come back.
	controllertest.Eventually(t, e, "kube-node-lease", func() bool { return !controllertest.Gone(e, gvr.Namespaces, "", "kube-node-lease") })
	uid := controllertest.MustGet(t, e, gvr.Namespaces, "", "kube-node-lease").GetUID()
	remove("kube-node-lease")
	controllertest.Eventually(t, e, "kube-node-lease again", func() bool {
		ns, err := e.Get(context.Background(), gvr.Namespaces, "", "kube-node-lease")
		return err == nil && ns.GetUID() != uid
	})
}
