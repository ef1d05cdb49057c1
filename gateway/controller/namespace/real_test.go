package namespace_test

import (
	"context"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest/realengine"
	"github.com/wasmgate/wasmgate/gateway/controller/kinds"
	"github.com/wasmgate/wasmgate/gateway/controller/namespace"
)

// A namespace goes after everything in it, on the real engine, whose converter
// is broken all the while.
func TestNamespaceOnTheRealEngine_RES05(t *testing.T) {
	e := realengine.Start(t)
	controllertest.DefineCronTabs(t, e)
	e.Converter.BreakDown("no conversion")
	controllertest.Start(t, e, namespace.NewBootstrap(e), namespace.NewFinalizer(e, e, e.Stored()))
	for _, gr := range []schema.GroupResource{controllertest.CronTabs, controllertest.ConfigMaps, controllertest.Leases} {
		controllertest.MustCreate(t, e, gr, controllertest.ObjectTree("work", "free"))
		controllertest.MustCreate(t, e, gr, controllertest.ObjectTree("work", "held", "example.com/hold"))
	}
	remove := func(name string) {
		t.Helper()
		if err := e.Delete(context.Background(), kinds.Namespaces, "", name, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	remove("work")
	controllertest.Eventually(t, e, "waiting for the finalizers", func() bool {
		ns, err := e.Get(context.Background(), kinds.Namespaces, "", "work")
		if err != nil {
			return false
		}
		_, _, message := controllertest.Condition(ns, "NamespaceFinalizersRemaining")
		return message == "Some content in the namespace has finalizers remaining: example.com/hold in 3 resource instances"
	})
	for _, gr := range []schema.GroupResource{controllertest.CronTabs, controllertest.ConfigMaps, controllertest.Leases} {
		if !controllertest.Gone(e, gr, "work", "free") {
			t.Errorf("an object of %s is still there", gr)
		}
		controllertest.RemoveFinalizer(t, e, gr, "work", "held", "example.com/hold")
	}
	controllertest.Eventually(t, e, "namespace gone", func() bool { return controllertest.Gone(e, kinds.Namespaces, "", "work") })

	// The system's namespaces come back.
	controllertest.Eventually(t, e, "kube-node-lease", func() bool { return !controllertest.Gone(e, kinds.Namespaces, "", "kube-node-lease") })
	uid := controllertest.MustGet(t, e, kinds.Namespaces, "", "kube-node-lease").GetUID()
	remove("kube-node-lease")
	controllertest.Eventually(t, e, "kube-node-lease again", func() bool {
		ns, err := e.Get(context.Background(), kinds.Namespaces, "", "kube-node-lease")
		return err == nil && ns.GetUID() != uid
	})
}
