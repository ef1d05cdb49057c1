package controller_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
)

func accepted(t *testing.T, o *controllertest.Objects, name string) string {
	t.Helper()
	status, _, _ := controllertest.Condition(controllertest.MustGet(t, o, controller.CRDResource, "", name), "NamesAccepted")
	return status
}

func TestCRDStatus_namesGoToTheFirstAndAreFreedByDeletion(t *testing.T) {
	o := controllertest.New()
	controllertest.Start(t, o, controller.NewCRDStatus(o, firstComeFirstServed))
	controllertest.MustCreate(t, o, controller.CRDResource, crdTree("crontabs", "CronTab", "v1"))
	controllertest.Eventually(t, o, "first accepted", func() bool { return accepted(t, o, "crontabs.example.com") == "True" })
	controllertest.MustCreate(t, o, controller.CRDResource, crdTree("others", "CronTab", "v1"))
	controllertest.Eventually(t, o, "second refused", func() bool { return accepted(t, o, "others.example.com") == "False" })

	if err := o.Delete(context.Background(), controller.CRDResource, "", "crontabs.example.com", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	removeFinalizer(t, o, controller.CRDResource, "", "crontabs.example.com", "customresourcecleanup.apiextensions.k8s.io")
	controllertest.Eventually(t, o, "second accepted", func() bool { return accepted(t, o, "others.example.com") == "True" })
}

func TestCRDStatus_namesAreFreedByAChange(t *testing.T) {
	o := controllertest.New()
	controllertest.MustCreate(t, o, controller.CRDResource, crdTree("crontabs", "CronTab", "v1"))
	controllertest.Start(t, o, controller.NewCRDStatus(o, firstComeFirstServed))
	controllertest.Eventually(t, o, "first accepted", func() bool { return accepted(t, o, "crontabs.example.com") == "True" })
	controllertest.MustCreate(t, o, controller.CRDResource, crdTree("others", "CronTab", "v1"))
	controllertest.Eventually(t, o, "second refused", func() bool { return accepted(t, o, "others.example.com") == "False" })
	controllertest.MustChange(t, o, controller.CRDResource, "", "", "crontabs.example.com", func(obj *unstructured.Unstructured) {
		if err := unstructured.SetNestedField(obj.Object, "Renamed", "spec", "names", "kind"); err != nil {
			t.Fatal(err)
		}
	})
	controllertest.Eventually(t, o, "second accepted", func() bool { return accepted(t, o, "others.example.com") == "True" })
}

func TestCRDStatus_survivesConflicts(t *testing.T) {
	o := controllertest.New()
	var conflicts atomic.Int32
	o.Fail(func(op string, key controller.Key) error {
		if op == "update/status" && conflicts.Add(1) <= 3 {
			return apierrors.NewConflict(controller.CRDResource, key.Name, errors.New("injected"))
		}
		return nil
	})
	controllertest.Start(t, o, controller.NewCRDStatus(o, firstComeFirstServed))
	controllertest.MustCreate(t, o, controller.CRDResource, crdTree("crontabs", "CronTab", "v1"))
	controllertest.Eventually(t, o, "accepted", func() bool { return accepted(t, o, "crontabs.example.com") == "True" })
}

// A hundred definitions take one status write each, not one for each pair.
func TestCRDStatus_writesOncePerDefinition(t *testing.T) {
	o := controllertest.New()
	const n = 100
	controllertest.Start(t, o, controller.NewCRDStatus(o, firstComeFirstServed))
	for i := range n {
		controllertest.MustCreate(t, o, controller.CRDResource, crdTree(fmt.Sprintf("kinds%d", i), fmt.Sprintf("Kind%d", i), "v1"))
	}
	controllertest.Eventually(t, o, "all accepted", func() bool {
		for i := range n {
			if accepted(t, o, fmt.Sprintf("kinds%d.example.com", i)) != "True" {
				return false
			}
		}
		return true
	})
	if w := o.Writes(); w != 2*n {
		t.Errorf("%d writes for %d definitions", w, n)
	}
}
