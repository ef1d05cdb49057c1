package controller_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
)

const crontabsCRD = "crontabs.example.com"

// withCrontabs has the definition, a namespace and n objects in it.
func withCrontabs(t *testing.T, n int) *controllertest.Objects {
	t.Helper()
	o := controllertest.New(servedCrontabs)
	controllertest.MustCreate(t, o, controller.CRDResource, crdTree("crontabs", "CronTab", "v1beta1", "v1"))
	establish(t, o, crontabsCRD, "v1beta1", "v1")
	controllertest.MustCreate(t, o, controller.NamespaceResource, namespaceTree("work"))
	for i := range n {
		controllertest.MustCreate(t, o, crontabs, objectTree("work", fmt.Sprintf("tab-%d", i)))
	}
	return o
}

func deleteCRD(t *testing.T, o *controllertest.Objects) {
	t.Helper()
	if err := o.Delete(context.Background(), controller.CRDResource, "", crontabsCRD, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
}

func TestCRDFinalizer_deletesInstancesWithoutConverting(t *testing.T) {
	o := withCrontabs(t, 25)
	o.Break(crontabs)
	controllertest.Start(t, o, controller.NewCRDFinalizer(o))
	deleteCRD(t, o)
	controllertest.Eventually(t, o, "definition gone", func() bool { return controllertest.Gone(o, controller.CRDResource, "", crontabsCRD) })
	left, err := o.ListMetadata(context.Background(), crontabs, "")
	if err != nil || len(left) != 0 {
		t.Errorf("%d instances left, %v", len(left), err)
	}
}

func TestCRDFinalizer_waitsForInstanceFinalizers_DEL02_DEL03(t *testing.T) {
	o := withCrontabs(t, 3)
	controllertest.MustCreate(t, o, crontabs, objectTree("work", "held", "example.com/one", "example.com/two"))
	controllertest.Start(t, o, controller.NewCRDFinalizer(o))
	deleteCRD(t, o)

	waiting := func() bool {
		status, reason, message := controllertest.Condition(controllertest.MustGet(t, o, controller.CRDResource, "", crontabsCRD), "Terminating")
		return status == "True" && reason == "InstanceDeletionCheck" && strings.Contains(message, "example.com/two in 1")
	}
	controllertest.Eventually(t, o, "waiting for the finalizers", waiting)
	// Their order does not matter, and the last one lets the object go at once.
	removeFinalizer(t, o, crontabs, "work", "held", "example.com/one")
	if controllertest.Gone(o, crontabs, "work", "held") {
		t.Fatal("gone with a finalizer left")
	}
	removeFinalizer(t, o, crontabs, "work", "held", "example.com/two")
	if !controllertest.Gone(o, crontabs, "work", "held") {
		t.Fatal("not gone without finalizers")
	}
	controllertest.Eventually(t, o, "definition gone", func() bool { return controllertest.Gone(o, controller.CRDResource, "", crontabsCRD) })
	controllertest.Eventually(t, o, "no follower left", func() bool { return o.Followers(crontabs) == 0 })
}

func TestCRDFinalizer_deletesWhatTheCacheDidNotShowYet(t *testing.T) {
	o := withCrontabs(t, 0)
	o.Hold(crontabs)
	controllertest.MustCreate(t, o, crontabs, objectTree("work", "unseen"))
	deleteCRD(t, o)
	controllertest.Start(t, o, controller.NewCRDFinalizer(o))
	controllertest.Eventually(t, o, "definition gone", func() bool { return controllertest.Gone(o, controller.CRDResource, "", crontabsCRD) })
	if err := o.Fresh(context.Background()); err != nil {
		t.Fatal(err)
	}
	if !controllertest.Gone(o, crontabs, "work", "unseen") {
		t.Error("an instance outlived its definition")
	}
}

func TestCRDFinalizer_neverEstablished(t *testing.T) {
	o := controllertest.New()
	controllertest.MustCreate(t, o, controller.CRDResource, crdTree("crontabs", "CronTab", "v1"))
	var reason atomic.Value
	o.Fail(func(op string, _ controller.Key) error {
		if op == "update" {
			_, r, _ := controllertest.Condition(controllertest.MustGet(t, o, controller.CRDResource, "", crontabsCRD), "Terminating")
			reason.Store(r)
		}
		return nil
	})
	controllertest.Start(t, o, controller.NewCRDFinalizer(o))
	deleteCRD(t, o)
	controllertest.Eventually(t, o, "definition gone", func() bool { return controllertest.Gone(o, controller.CRDResource, "", crontabsCRD) })
	if reason.Load() != "NeverEstablished" {
		t.Errorf("reason %v", reason.Load())
	}
}

func TestCRDFinalizer_reportsFailureAndTriesAgain(t *testing.T) {
	o := withCrontabs(t, 1)
	var broken atomic.Bool
	broken.Store(true)
	o.Fail(func(op string, key controller.Key) error {
		if op == "delete" && key.GroupResource == crontabs && broken.Load() {
			return apierrors.NewInternalError(errors.New("disk on fire"))
		}
		return nil
	})
	controllertest.Start(t, o, controller.NewCRDFinalizer(o))
	deleteCRD(t, o)
	controllertest.Eventually(t, o, "failure reported", func() bool {
		_, reason, message := controllertest.Condition(controllertest.MustGet(t, o, controller.CRDResource, "", crontabsCRD), "Terminating")
		return reason == "InstanceDeletionFailed" && strings.Contains(message, "disk on fire")
	})
	broken.Store(false)
	controllertest.Eventually(t, o, "definition gone", func() bool { return controllertest.Gone(o, controller.CRDResource, "", crontabsCRD) })
}

func TestCRDFinalizer_leavesBuiltInsAlone(t *testing.T) {
	o := controllertest.New()
	tree := crdTree("namespaces", "Namespace", "v1")
	tree["metadata"].(map[string]any)["name"] = "namespaces."
	tree["spec"].(map[string]any)["group"] = ""
	controllertest.MustCreate(t, o, controller.CRDResource, tree)
	establish(t, o, "namespaces.", "v1")
	controllertest.MustCreate(t, o, controller.NamespaceResource, namespaceTree("work"))
	controllertest.Start(t, o, controller.NewCRDFinalizer(o))
	if err := o.Delete(context.Background(), controller.CRDResource, "", "namespaces.", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	controllertest.Eventually(t, o, "definition gone", func() bool { return controllertest.Gone(o, controller.CRDResource, "", "namespaces.") })
	if ns := controllertest.MustGet(t, o, controller.NamespaceResource, "", "work"); ns.GetDeletionTimestamp() != nil {
		t.Error("a namespace was deleted with a definition of the same name")
	}
}
