package conversionrules

import (
	"context"
	"errors"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest/realengine"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
)

// ruled is an engine that has rules called ks.
func ruled(t *testing.T) *realengine.Engine {
	t.Helper()
	e := realengine.Start(t)
	controllertest.MustCreate(t, e, gvr.Rules, tree(t, rulesObject+specOf(`"Report"`, "")[1:]))
	if err := e.Fresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	return e
}

func tree(t *testing.T, text string) map[string]any {
	t.Helper()
	obj := &unstructured.Unstructured{}
	if err := obj.UnmarshalJSON([]byte(text)); err != nil {
		t.Fatal(err)
	}
	return obj.Object
}

const rulesObject = `{"apiVersion":"wasmgate.dev/v1","kind":"ConversionRules","metadata":{"name":"ks"},`

// What the status tells follows the rules, and the definitions that they are bound to.
func TestStatusFollowsRulesAndDefinitions(t *testing.T) {
	e := ruled(t)
	controllertest.Start(t, e, newController(e))
	tells := func(condition, wantStatus, wantReason, wantMessage string) {
		t.Helper()
		var status, reason, message string
		defer func() {
			if t.Failed() {
				t.Logf("%s is %q, %q, %q", condition, status, reason, message)
			}
		}()
		controllertest.Eventually(t, e, condition+" is "+wantStatus, func() bool {
			status, reason, message = controllertest.Condition(controllertest.MustGet(t, e, gvr.Rules, "", "ks"), condition)
			return status == wantStatus && reason == wantReason && strings.Contains(message, wantMessage)
		})
	}
	written := func(spec string) {
		t.Helper()
		controllertest.MustChange(t, e, gvr.Rules, "", "", "ks", func(obj *unstructured.Unstructured) {
			obj.Object["spec"] = tree(t, rulesObject+spec[1:])["spec"]
		})
	}
	tells("Ready", "True", "Compiled", "")
	tells("Lossless", "", "", "") // as nothing is converted
	controllertest.MustCreate(t, e, gvr.Definitions, tree(t, definition))
	tells("Lossless", "False", "FieldsLost", "zone")
	written(specOf(`"Report"`, `,{"keep":{"field":"zone"}}`))
	tells("Lossless", "True", "NothingLost", "")
	written(specOf(`"Report"`, `,{"keep":{"field":"zone"},"remove":{"field":"zone"}}`)) // by somebody who does not check it
	tells("Ready", "False", "Invalid", "a rule does one thing")
	tells("Lossless", "", "", "")
	written(specOf(`"Report"`, shared))
	tells("Ready", "True", "Compiled", "would be refused if they were written now: spec.conversions[0].rules[2].keep.annotation: Duplicate")
	tells("Lossless", "False", "FieldsLost", "zone")
	written(specOf(`"Report"`, ""))
	tells("Ready", "True", "Compiled", "the rules convert")
	tells("Lossless", "False", "FieldsLost", "zone")
	controllertest.MustChange(t, e, gvr.Definitions, "", "", "ks.example.com", func(obj *unstructured.Unstructured) {
		unstructured.RemoveNestedField(obj.Object, "spec", "conversion")
	})
	tells("Lossless", "", "", "")
	tells("Ready", "True", "Compiled", "")
}

// full refuses to keep what a status says.
type full struct{ objects }

var errFull = errors.New("the store is full")

func (full) Update(context.Context, schema.GroupResource, string, *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	return nil, errFull
}

// What could not be told is tried again, and what was told already is not told again.
func TestWhatIsNotToldIsAnError(t *testing.T) {
	e := ruled(t)
	key := controller.Key{GroupResource: gvr.Rules, Name: "ks"}
	if err := newController(full{e}).Reconcile(t.Context(), nil, key); !errors.Is(err, errFull) {
		t.Errorf("the error is %v", err)
	}
	if err := newController(e).Reconcile(t.Context(), nil, key); err != nil {
		t.Fatal(err)
	}
	if err := e.Fresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := newController(full{e}).Reconcile(t.Context(), nil, key); err != nil {
		t.Errorf("told again: %v", err)
	}
	if err := newController(e).Reconcile(t.Context(), nil, controller.Key{GroupResource: gvr.Rules, Name: "gone"}); err != nil {
		t.Errorf("of rules that are not there: %v", err)
	}
}
