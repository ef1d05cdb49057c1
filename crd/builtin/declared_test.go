package builtin

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/crd/builtin/declared"
)

// controller is the version of ReplicationControllers, with rules that count in a way.
func controller(t testing.TB, modes declared.Modes) *crd.Version {
	t.Helper()
	all, err := All(Options{Declared: modes})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range all {
		if d.Plural == "replicationcontrollers" {
			return d.Version("v1")
		}
	}
	t.Fatal("there are no ReplicationControllers")
	return nil
}

// replicated is a ReplicationController.
func replicated(t testing.TB, name string, replicas, seconds int) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	text, err := yaml.YAMLToJSON(fmt.Appendf(nil, `
apiVersion: v1
kind: ReplicationController
metadata: {name: %s, namespace: default, uid: x, resourceVersion: "1", creationTimestamp: "2026-01-01T00:00:00Z"}
spec:
  replicas: %d
  minReadySeconds: %d
  selector: {a: b}
  template:
    metadata: {labels: {a: b}}
    spec: {restartPolicy: Always, dnsPolicy: ClusterFirst, containers: [{name: c, image: i, imagePullPolicy: Always, terminationMessagePath: /l, terminationMessagePolicy: File}]}
status: {replicas: 0}
`, name, replicas, seconds))
	if err == nil {
		err = u.UnmarshalJSON(text)
	}
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// The rules of the kind's file and those that were generated agree, and so who decides
// makes no difference but for the words.
func TestRulesOfReplicationControllersAgree(t *testing.T) {
	differ := 0
	modes := declared.Modes{On: true, Differ: func(of, what string) { differ++; t.Log(of, what) }, Panicked: func(of string, cause any) { t.Error(of, cause) }}
	takeOver := modes
	takeOver.TakeOver = true
	shadow, decides, off := controller(t, modes), controller(t, takeOver), controller(t, declared.Modes{TakeOver: true})
	for _, test := range []struct {
		row, name         string
		replicas, seconds int
		wrong             int
	}{
		{"DV-01 valid", "a", 0, 0, 0},
		{"DV-02 too few replicas", "a", -1, 0, 1},
		{"DV-02 too few seconds", "a", 1, -1, 1},
		{"DV-01 a wrong name and more", "A", -1, -1, 3},
	} {
		t.Run(test.row, func(t *testing.T) {
			u := replicated(t, test.name, test.replicas, test.seconds)
			old := replicated(t, test.name, 7, 7)
			for _, v := range []*crd.Version{shadow, decides, off} {
				if got := v.Strategy.Validate(t.Context(), u, nil); len(got.Errors) != test.wrong {
					t.Errorf("create: %v", got.Errors)
				}
				if test.name == "a" {
					if got := v.Strategy.Validate(t.Context(), u, old); len(got.Errors) != test.wrong {
						t.Errorf("update: %v", got.Errors)
					}
					if got := v.Subresources["status"].Update.Validate(t.Context(), old, old); len(got.Errors) != 0 {
						t.Errorf("status: %v", got.Errors)
					}
				}
			}
		})
	}
	if differ > 0 {
		t.Errorf("%d differences", differ)
	}
}

// What differs is told with the kind and what was done, and rules learn which
// subresource it was.
func TestDifferencesAreTold_DV01(t *testing.T) {
	var told []string
	v := controller(t, declared.Modes{On: true, Differ: func(of, _ string) { told = append(told, of) }})
	s, ok := v.Strategy.(*strategy)
	if !ok {
		t.Fatalf("%T", v.Strategy)
	}
	s.kind.rules = &declared.Rules{Validate: func(_ context.Context, _, _ runtime.Object, subresource string) field.ErrorList {
		return field.ErrorList{field.Invalid(field.NewPath("at", "/"+subresource), 0, "")}
	}}
	u := replicated(t, "a", 1, 0)
	v.Strategy.Validate(t.Context(), u, nil)
	v.Strategy.Validate(t.Context(), u, u)
	s.kind.modes.TakeOver = true
	got := v.Subresources["status"].Update.Validate(t.Context(), u, u)
	if len(got.Errors) != 1 || got.Errors[0].Field != "at./status" {
		t.Error(got.Errors)
	}
	if want := []string{"replicationcontroller_create", "replicationcontroller_update", "replicationcontroller_status_update"}; !slices.Equal(told, want) {
		t.Errorf("%q", told)
	}
}

// What is no object of the type is the other rules' to refuse.
func TestWhatHasNoTypeIsNotJudged_DV01(t *testing.T) {
	differ := 0
	v := controller(t, declared.Modes{On: true, Differ: func(string, string) { differ++ }})
	u := replicated(t, "a", 1, 0)
	u.Object["spec"].(map[string]any)["template"].(map[string]any)["spec"].(map[string]any)["hostNetwork"] = "yes"
	off := controller(t, declared.Modes{}).Strategy.Validate(t.Context(), u, nil)
	if got := v.Strategy.Validate(t.Context(), u, nil); len(got.Errors) != len(off.Errors) || differ != 1 {
		t.Errorf("%v, without the rules %v; %d differences", got.Errors, off.Errors, differ)
	}
}

// An object that got in while the generated rules decided and allowed too much fails at
// its next update when they are turned off.
func TestWhatGotInIsRefusedLater_DV03(t *testing.T) {
	decides := controller(t, declared.Modes{On: true, TakeOver: true, Differ: func(string, string) {}})
	s, ok := decides.Strategy.(*strategy)
	if !ok {
		t.Fatalf("%T", decides.Strategy)
	}
	laxer := *s.kind.rules
	laxer.Validate = nothing
	s.kind.rules = &laxer
	u := replicated(t, "a", -1, 0)
	if got := decides.Strategy.Validate(t.Context(), u, nil); len(got.Errors) > 0 {
		t.Fatalf("it does not get in: %v", got.Errors)
	}
	changed := u.DeepCopy()
	changed.SetLabels(map[string]string{"a": "b"})
	if got := decides.Strategy.Validate(t.Context(), changed, u); len(got.Errors) > 0 {
		t.Errorf("it cannot be changed: %v", got.Errors)
	}
	off := controller(t, declared.Modes{})
	if got := off.Strategy.Validate(t.Context(), changed, u); len(got.Errors) != 1 || got.Errors[0].Field != "spec.replicas" {
		t.Errorf("it can be changed: %v", got.Errors)
	}
}

// nothing are rules that allow everything.
func nothing(context.Context, runtime.Object, runtime.Object, string) field.ErrorList { return nil }

// What generated rules cost a create, of a kind that has some and of one that has none.
func BenchmarkDeclaredRules(b *testing.B) {
	none := func(string, string) {}
	for name, modes := range map[string]declared.Modes{"off": {}, "on": {On: true, Differ: none}} {
		v, u := controller(b, modes), replicated(b, "a", 1, 0)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if got := v.Strategy.Validate(b.Context(), u, nil); len(got.Errors) > 0 {
					b.Fatal(got.Errors)
				}
			}
		})
	}
}
