package flowcontrol_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	fcv1 "k8s.io/api/flowcontrol/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wasmgate/wasmgate/crd/builtin/builtintest"
	"github.com/wasmgate/wasmgate/gateway/bounds/flowcontrol"
	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
)

type tree = map[string]any

func served(t *testing.T) *controllertest.Objects {
	t.Helper()
	all := builtintest.Definitions(t)
	return controllertest.New(all["flowschema"], all["prioritylevelconfiguration"])
}

func schemaOf(name, level string) tree {
	return tree{"apiVersion": "flowcontrol.apiserver.k8s.io/v1", "kind": "FlowSchema", "metadata": tree{"name": name},
		"spec": tree{"priorityLevelConfiguration": tree{"name": level}, "matchingPrecedence": int64(500)}}
}

// A schema says whether its level is there, and says so anew when the level comes and goes.
func TestSchemasSayWhetherTheirLevelIsThere(t *testing.T) {
	o := served(t)
	dangling := func(name, want string) {
		t.Helper()
		controllertest.Eventually(t, o, name+" is dangling: "+want, func() bool {
			obj, err := o.Get(t.Context(), gvr.FlowSchemas, "", name)
			if err != nil {
				return false
			}
			status, reason, _ := controllertest.Condition(obj, "Dangling")
			return status+" "+reason == want
		})
	}
	controllertest.Start(t, o, flowcontrol.NewKeeper(o))
	controllertest.MustCreate(t, o, gvr.FlowSchemas, schemaOf("mine", "late"))
	controllertest.MustCreate(t, o, gvr.FlowSchemas, schemaOf("other", "never"))
	dangling("mine", "True NotFound")
	dangling("other", "True NotFound")
	dangling("catch-all", "False Found")
	controllertest.MustCreate(t, o, gvr.PriorityLevels, tree{"apiVersion": "flowcontrol.apiserver.k8s.io/v1", "kind": "PriorityLevelConfiguration", "metadata": tree{"name": "late"}, "spec": tree{"type": "Exempt"}})
	dangling("mine", "False Found")
	dangling("other", "True NotFound")
	if err := o.Delete(t.Context(), gvr.PriorityLevels, "", "late", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	dangling("mine", "True NotFound")
}

// asked is a queue that tells what is to be looked at.
type asked struct {
	controller.Queue
	keys []string
}

func (a *asked) Add(key controller.Key) { a.keys = append(a.keys, key.Resource+"/"+key.Name) }

// A level that changes has the schemas looked at that name it, and no others.
func TestLevelsHaveTheirSchemasLookedAt(t *testing.T) {
	o := served(t)
	for name, level := range map[string]string{"a": "one", "b": "two", "c": "one"} {
		controllertest.MustCreate(t, o, gvr.FlowSchemas, schemaOf(name, level))
	}
	q := &asked{}
	if err := flowcontrol.NewKeeper(o).Reconcile(t.Context(), q, controller.Key{GroupResource: gvr.PriorityLevels, Name: "one"}); err != nil {
		t.Fatal(err)
	}
	slices.Sort(q.keys)
	if want := []string{"flowschemas/a", "flowschemas/c", "prioritylevelconfigurations/"}; !slices.Equal(q.keys, want) {
		t.Errorf("%q are looked at, want %q", q.keys, want)
	}
	o.Break(gvr.FlowSchemas)
	if err := flowcontrol.NewKeeper(o).Reconcile(t.Context(), q, controller.Key{GroupResource: gvr.PriorityLevels, Name: "one"}); err == nil {
		t.Error("that schemas cannot be read is not told")
	}
}

// A condition tells since when it is so: naming another level that is missing, too, is
// told without that it began anew.
func TestSinceWhenALevelIsMissing(t *testing.T) {
	o := served(t)
	const long = "2001-02-03T04:05:06Z"
	controllertest.MustCreate(t, o, gvr.FlowSchemas, schemaOf("mine", "one"))
	k := flowcontrol.NewKeeper(o)
	since := func() (at, message string) {
		t.Helper()
		if err := k.Reconcile(t.Context(), &asked{}, controller.Key{GroupResource: gvr.FlowSchemas, Name: "mine"}); err != nil {
			t.Fatal(err)
		}
		all, _, _ := unstructured.NestedSlice(controllertest.MustGet(t, o, gvr.FlowSchemas, "", "mine").Object, "status", "conditions")
		if len(all) != 1 {
			t.Fatal(all)
		}
		at, _ = all[0].(tree)["lastTransitionTime"].(string)
		message, _ = all[0].(tree)["message"].(string)
		return at, message
	}
	since()
	controllertest.MustChange(t, o, gvr.FlowSchemas, "status", "", "mine", func(obj *unstructured.Unstructured) {
		obj.Object["status"].(tree)["conditions"].([]any)[0].(tree)["lastTransitionTime"] = long
	})
	controllertest.MustChange(t, o, gvr.FlowSchemas, "", "", "mine", func(obj *unstructured.Unstructured) {
		obj.Object["spec"].(tree)["priorityLevelConfiguration"].(tree)["name"] = "two"
	})
	if at, message := since(); at != long || !strings.Contains(message, `"two"`) {
		t.Errorf("since %s: %s", at, message)
	}
	controllertest.MustCreate(t, o, gvr.PriorityLevels, tree{"apiVersion": "flowcontrol.apiserver.k8s.io/v1", "kind": "PriorityLevelConfiguration", "metadata": tree{"name": "two"}, "spec": tree{"type": "Exempt"}})
	if at, message := since(); at == long || !strings.Contains(message, "exists") {
		t.Errorf("since %s: %s", at, message)
	}
}

// Of what is kept, what is missing or was changed comes back, what is not suggested any
// more goes, and what somebody says he keeps himself stays. A write that fails is told.
func TestWhatIsKept(t *testing.T) {
	o := served(t)
	if err := flowcontrol.Keep(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	writes := o.Writes()
	if err := flowcontrol.Keep(t.Context(), o); err != nil || o.Writes() != writes {
		t.Errorf("%d writes of what is as it has to be, %v", o.Writes()-writes, err)
	}
	shares := func(name string, n int64, follow string) {
		t.Helper()
		controllertest.MustChange(t, o, gvr.PriorityLevels, "", "", name, func(obj *unstructured.Unstructured) {
			obj.Object["spec"].(tree)["limited"].(tree)["nominalConcurrencyShares"] = n
			obj.SetAnnotations(map[string]string{fcv1.AutoUpdateAnnotationKey: follow})
		})
	}
	shares("global-default", 7, "true")
	shares("workload-low", 7, "false")
	old := schemaOf("old", "exempt")
	old["metadata"] = tree{"name": "old", "annotations": tree{fcv1.AutoUpdateAnnotationKey: "true"}}
	controllertest.MustCreate(t, o, gvr.FlowSchemas, old)
	controllertest.MustCreate(t, o, gvr.FlowSchemas, schemaOf("mine", "exempt"))
	for _, op := range []string{"update", "delete"} {
		o.Fail(func(now string, _ controller.Key) error {
			if now == op {
				return apierrors.NewInternalError(errors.New("no " + op))
			}
			return nil
		})
		if err := flowcontrol.Keep(t.Context(), o); err == nil || !strings.Contains(err.Error(), "no "+op) {
			t.Errorf("that nothing can be written by %s is told as %v", op, err)
		}
	}
	o.Fail(nil)
	if err := flowcontrol.Keep(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]int64{"global-default": 20, "workload-low": 7} {
		got, _, _ := unstructured.NestedInt64(controllertest.MustGet(t, o, gvr.PriorityLevels, "", name).Object, "spec", "limited", "nominalConcurrencyShares")
		if got != want {
			t.Errorf("%s has %d shares, want %d", name, got, want)
		}
	}
	if !controllertest.Gone(o, gvr.FlowSchemas, "", "old") || controllertest.Gone(o, gvr.FlowSchemas, "", "mine") {
		t.Error("a schema that is not suggested any more stays, or one that nobody suggested is gone")
	}
}
