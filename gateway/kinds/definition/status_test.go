package definition_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/kinds/definition"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
)

func accepted(t *testing.T, o *controllertest.Objects, name string) string {
	t.Helper()
	status, _, _ := controllertest.Condition(controllertest.MustGet(t, o, gvr.Definitions, "", name), "NamesAccepted")
	return status
}

func TestCRDStatus_namesGoToTheFirstAndAreFreedByDeletion(t *testing.T) {
	o := controllertest.New()
	controllertest.Start(t, o, definition.NewStatus(o, firstComeFirstServed))
	controllertest.MustCreate(t, o, gvr.Definitions, controllertest.CRDTree("crontabs", "CronTab", "v1"))
	controllertest.Eventually(t, o, "first accepted", func() bool { return accepted(t, o, "crontabs.example.com") == "True" })
	controllertest.MustCreate(t, o, gvr.Definitions, controllertest.CRDTree("others", "CronTab", "v1"))
	controllertest.Eventually(t, o, "second refused", func() bool { return accepted(t, o, "others.example.com") == "False" })

	if err := o.Delete(context.Background(), gvr.Definitions, "", "crontabs.example.com", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	controllertest.RemoveFinalizer(t, o, gvr.Definitions, "", "crontabs.example.com", "customresourcecleanup.apiextensions.k8s.io")
	controllertest.Eventually(t, o, "second accepted", func() bool { return accepted(t, o, "others.example.com") == "True" })
}

func TestCRDStatus_namesAreFreedByAChange(t *testing.T) {
	o := controllertest.New()
	controllertest.MustCreate(t, o, gvr.Definitions, controllertest.CRDTree("crontabs", "CronTab", "v1"))
	controllertest.Start(t, o, definition.NewStatus(o, firstComeFirstServed))
	controllertest.Eventually(t, o, "first accepted", func() bool { return accepted(t, o, "crontabs.example.com") == "True" })
	controllertest.MustCreate(t, o, gvr.Definitions, controllertest.CRDTree("others", "CronTab", "v1"))
	controllertest.Eventually(t, o, "second refused", func() bool { return accepted(t, o, "others.example.com") == "False" })
	controllertest.MustChange(t, o, gvr.Definitions, "", "", "crontabs.example.com", func(obj *unstructured.Unstructured) {
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
			return apierrors.NewConflict(gvr.Definitions, key.Name, errors.New("injected"))
		}
		return nil
	})
	controllertest.Start(t, o, definition.NewStatus(o, firstComeFirstServed))
	controllertest.MustCreate(t, o, gvr.Definitions, controllertest.CRDTree("crontabs", "CronTab", "v1"))
	controllertest.Eventually(t, o, "accepted", func() bool { return accepted(t, o, "crontabs.example.com") == "True" })
}

// A hundred definitions take one status write each, not one for each pair.
func TestCRDStatus_writesOncePerDefinition(t *testing.T) {
	o := controllertest.New()
	const n = 100
	controllertest.Start(t, o, definition.NewStatus(o, firstComeFirstServed))
	for i := range n {
		controllertest.MustCreate(t, o, gvr.Definitions, controllertest.CRDTree(fmt.Sprintf("kinds%d", i), fmt.Sprintf("Kind%d", i), "v1"))
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

// firstComeFirstServed accepts a definition whose kind nobody of the group has.
func firstComeFirstServed(c *apiextensionsv1.CustomResourceDefinition, group []*apiextensionsv1.CustomResourceDefinition,
	now metav1.Time) (apiextensionsv1.CustomResourceDefinitionStatus, bool) {
	status := *c.Status.DeepCopy()
	taken := slices.ContainsFunc(group, func(other *apiextensionsv1.CustomResourceDefinition) bool {
		return other.Status.AcceptedNames.Kind == c.Spec.Names.Kind
	})
	want := apiextensionsv1.ConditionTrue
	if taken {
		want = apiextensionsv1.ConditionFalse
	} else {
		status.AcceptedNames = c.Spec.Names
	}
	if len(status.Conditions) == 1 && status.Conditions[0].Status == want && status.AcceptedNames.Kind == c.Status.AcceptedNames.Kind {
		return status, false
	}
	status.Conditions = []apiextensionsv1.CustomResourceDefinitionCondition{{
		Type: apiextensionsv1.NamesAccepted, Status: want, Reason: "Test", LastTransitionTime: now,
	}}
	return status, true
}

// What the controller wrote itself it need not look at again, but what it finds
// when it begins it does, whatever that says of itself.
func TestCRDStatus_looksAtAStateOnce(t *testing.T) {
	o := controllertest.New()
	var looks sync.Map // of each definition, how often it was looked at
	counting := func(c *apiextensionsv1.CustomResourceDefinition, group []*apiextensionsv1.CustomResourceDefinition, now metav1.Time) (apiextensionsv1.CustomResourceDefinitionStatus, bool) {
		n, _ := looks.LoadOrStore(c.Name, new(atomic.Int32))
		n.(*atomic.Int32).Add(1)
		return firstComeFirstServed(c, group, now)
	}
	seen := func(name string) int32 {
		n, ok := looks.Load(name)
		if !ok {
			return 0
		}
		return n.(*atomic.Int32).Load()
	}
	found := controllertest.CRDTree("founds", "Found", "v1")
	found["status"] = map[string]any{"acceptedNames": map[string]any{"kind": "Found", "plural": "founds"}, "conditions": []any{
		map[string]any{"type": "NamesAccepted", "status": "True", "lastTransitionTime": "2026-01-02T03:04:05Z", "reason": "", "message": ""},
	}}
	controllertest.MustCreate(t, o, gvr.Definitions, found)
	controllertest.Start(t, o, definition.NewStatus(o, counting))
	controllertest.MustCreate(t, o, gvr.Definitions, controllertest.CRDTree("crontabs", "CronTab", "v1"))
	controllertest.Eventually(t, o, "accepted", func() bool { return accepted(t, o, "crontabs.example.com") == "True" })
	// There is one worker: what comes later is looked at later.
	controllertest.MustCreate(t, o, gvr.Definitions, controllertest.CRDTree("others", "Other", "v1"))
	controllertest.Eventually(t, o, "the other accepted", func() bool { return accepted(t, o, "others.example.com") == "True" })
	if n := seen("crontabs.example.com"); n != 1 {
		t.Errorf("looked at %d times", n)
	}
	if n := seen("founds.example.com"); n != 1 {
		t.Errorf("what was there is looked at %d times", n)
	}
	controllertest.MustChange(t, o, gvr.Definitions, "", "", "crontabs.example.com", func(obj *unstructured.Unstructured) {
		obj.SetLabels(map[string]string{"a": "b"})
	})
	controllertest.MustCreate(t, o, gvr.Definitions, controllertest.CRDTree("thirds", "Third", "v1"))
	controllertest.Eventually(t, o, "the third accepted", func() bool { return accepted(t, o, "thirds.example.com") == "True" })
	if n := seen("crontabs.example.com"); n != 2 {
		t.Errorf("after a change, looked at %d times", n)
	}
}

// A controller that begins while its cache is behind gives away no name that a
// definition has which it does not see yet.
func TestCRDStatus_namesThatTheCacheDoesNotShowYetAreTaken(t *testing.T) {
	o := controllertest.New()
	controllertest.MustCreate(t, o, gvr.Definitions, controllertest.CRDTree("others", "CronTab", "v1"))
	o.Hold(gvr.Definitions)
	first := controllertest.CRDTree("crontabs", "CronTab", "v1")
	first["status"] = map[string]any{"acceptedNames": first["spec"].(map[string]any)["names"], "conditions": []any{
		map[string]any{"type": "NamesAccepted", "status": "True", "lastTransitionTime": "2026-01-02T03:04:05Z", "reason": "", "message": ""},
	}}
	controllertest.MustCreate(t, o, gvr.Definitions, first)
	judged := make(chan struct{})
	once := sync.OnceFunc(func() { close(judged) })
	o.Fail(func(op string, key controller.Key) error {
		if op == "update/status" && key.Name == "others.example.com" {
			once()
		}
		return nil
	})
	controllertest.Start(t, o, definition.NewStatus(o, firstComeFirstServed))
	<-judged // until then nothing but the controller lets the cache catch up
	controllertest.Eventually(t, o, "the other is written", func() bool {
		return o.Fresh(t.Context()) == nil && accepted(t, o, "others.example.com") != ""
	})
	if a, b := accepted(t, o, "crontabs.example.com"), accepted(t, o, "others.example.com"); a != "True" || b != "False" {
		t.Errorf("the first has its names: %s, the other: %s", a, b)
	}
}
