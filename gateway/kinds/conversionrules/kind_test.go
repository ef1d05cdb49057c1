package conversionrules

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/rs/zerolog"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/gateway/catalog/catalogtest"
	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest/realengine"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
)

// extended is the definition of rules as the package extends it. No other is extended.
func extended(t *testing.T) (rules *crd.Definition) {
	t.Helper()
	for _, d := range catalogtest.Builtins(t) {
		had := d.Hooks
		New(zerolog.Nop()).Kind().Extend(d)
		if d.GroupResource() == gvr.Rules {
			rules = d
		} else if d.Hooks != had {
			t.Errorf("%s has other hooks", d.GroupResource())
		}
	}
	return rules
}

// What no schema can say of rules is said when they are written.
func TestRulesThatDoNotCompileAreRefused(t *testing.T) {
	d := extended(t)
	for more, want := range map[string]string{
		"":                                `[]`,
		`,{"rename":{"field":"x"}}`:       `rename.to`, // which the schema refuses
		`,{"keep":{"field":"zone"}}`:      `[]`,
		`,{"keep":{"field":"zone["}}`:     `spec.conversions[0].rules[1].keep`,
		`,{"move":{"from":"x","to":"x"}}`: `spec.conversions[0].rules[1].move`,
		`,{"keep":{"field":"zone"},"remove":{"field":"zone"}}`: `a rule does one thing`,
	} {
		obj := &unstructured.Unstructured{Object: tree(t, rulesObject+specOf(`"Report"`, more)[1:])}
		v := d.Version(d.StorageVersion).Strategy.Validate(t.Context(), obj, nil)
		if got := fmt.Sprint(v.Errors); !strings.Contains(got, want) || want == "[]" && len(v.Errors) > 0 {
			t.Errorf("%s: the errors are %s, want %s", more, got, want)
		}
	}
}

// shared are rules that keep two fields in one annotation, which was not always refused.
const shared = `,{"keep":{"field":"c","annotation":"e.com/k"}},{"keep":{"field":"d","annotation":"e.com/k"}}`

// Rules that were accepted before keep their labels changeable, with a warning; they are
// refused where they are written.
func TestSharedAnnotationsAreRefusedWhereRulesAreWritten(t *testing.T) {
	const refusal = `spec.conversions[0].rules[2].keep.annotation: Duplicate value: "e.com/k"`
	strategy := extended(t).Version("v1").Strategy
	object := func(more string) *unstructured.Unstructured {
		obj := &unstructured.Unstructured{Object: tree(t, rulesObject+specOf(`"Report"`, more)[1:])}
		obj.SetResourceVersion("7")
		return obj
	}
	labelled := object(shared)
	labelled.SetLabels(map[string]string{"a": "b"})
	for name, c := range map[string]struct {
		obj, old     *unstructured.Unstructured
		errs, warned string
	}{
		"a new object":         {object(shared), nil, refusal, ""},
		"another spec":         {object(shared), object(""), refusal, ""},
		"another spec of such": {object(shared + `,{"rename":{"field":"e","to":"f"}}`), object(shared), refusal, ""},
		"a label":              {labelled, object(shared), "", refusal},
		"what mends it":        {object(""), object(shared), "", ""},
	} {
		v := strategy.Validate(t.Context(), c.obj, c.old)
		errs, warned := v.Errors, strings.Join(v.Warnings, "; ")
		if !strings.Contains(fmt.Sprint(errs), c.errs) || c.errs == "" && len(errs) > 0 || !strings.Contains(warned, c.warned) || c.warned == "" && warned != "" {
			t.Errorf("%s: the errors are %v, the warnings %q", name, errs, warned)
		}
	}
}

// Rules that definitions refer to stay: the refusal names ten of them, in order.
func TestRulesInUseAreNotDeleted(t *testing.T) {
	d := extended(t)
	e := realengine.Start(t)
	deleted := func(want string) {
		t.Helper()
		err := d.Hooks.BeforeDelete(t.Context(), e, map[string]any{"metadata": map[string]any{"name": "ks"}})
		if got := fmt.Sprint(err); !strings.Contains(got, want) || err != nil && !apierrors.IsConflict(err) {
			t.Errorf("the answer is %s, want %s", got, want)
		}
	}
	named := func(plural, rules string) string {
		return strings.NewReplacer("wasm://rules/ks", "wasm://rules/"+rules, "ks.example.com", plural+".example.com", `"plural":"ks"`, `"plural":"`+plural+`"`).Replace(definition)
	}
	controllertest.MustCreate(t, e, gvr.Definitions, tree(t, named("ms", "others")))
	deleted("<nil>")
	var names []string
	for i := range 11 {
		plural := fmt.Sprintf("ks%c", 'a'+10-i)
		controllertest.MustCreate(t, e, gvr.Definitions, tree(t, named(plural, "ks")))
		names = append([]string{"customresourcedefinitions/" + plural + ".example.com"}, names...)
		deleted("the rules are in use by " + strings.Join(names[:min(len(names), 10)], ", ") + "; change or delete what refers to them first")
	}
	if d.Hooks.StillFinalizing(nil) {
		t.Error("rules wait for something when they are deleted")
	}
}

// blind cannot say which definitions there are.
type blind struct {
	objects
	fresh, list error
}

func (b blind) Fresh(context.Context) error { return b.fresh }

func (b blind) List(context.Context, schema.GroupResource, string) ([]*unstructured.Unstructured, error) {
	return nil, b.list
}

// Nothing is deleted of which nobody knows by what it is used, and what it loses is found out later.
func TestWhatIsNotKnownIsAnError(t *testing.T) {
	d := extended(t)
	e := ruled(t)
	for _, b := range []blind{{e, errors.New("not fresh"), nil}, {e, nil, errors.New("no list")}} {
		want := errors.Join(b.fresh, b.list).Error()
		if err := d.Hooks.BeforeDelete(t.Context(), b, map[string]any{"metadata": map[string]any{"name": "ks"}}); err == nil || err.Error() != want {
			t.Errorf("the answer is %v, want %s", err, want)
		}
		if err := e.Fresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		err := newController(b).Reconcile(t.Context(), nil, controller.Key{GroupResource: gvr.Rules, Name: "ks"})
		if !errors.Is(err, b.list) {
			t.Errorf("the controller's error is %v, want %v", err, b.list)
		}
	}
}
