package declared

import (
	"context"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// one is an error about a field, by whom it was found.
func one(name, by string) *field.Error { return field.Invalid(field.NewPath(name), 0, by) }

// TestModes tries all modes with rules that agree with the others and that do not: which
// count, and what is told.
func TestModes(t *testing.T) {
	a, b := one("a", "written"), one("b", "written")
	mine := one("a", "generated")
	alpha := one("b", "generated").MarkAlpha()
	off, on, both, alone := Modes{}, Modes{On: true}, Modes{On: true, TakeOver: true}, Modes{TakeOver: true}
	list := func(all ...*field.Error) field.ErrorList { return all }
	for _, test := range []struct {
		name              string
		modes             Modes
		written, declared field.ErrorList
		want              field.ErrorList
		differ            int
	}{
		{"DV-01 nothing is wrong", on, nil, nil, nil, 0},
		{"DV-01 both find it", on, list(a, b), list(mine), list(a, b), 0},
		{"DV-01 only the written rules find it", on, list(a), nil, list(a), 1},
		{"DV-01 only the generated rules find it", on, nil, list(mine), nil, 1},
		{"DV-01 both find something", on, list(b), list(mine), list(b), 1},
		{"DV-01 what is alpha does not count", on, nil, list(alpha), nil, 0},
		{"DV-02 both find it", both, list(a, b), list(mine), list(mine, b), 0},
		{"DV-02 only the written rules find it", both, list(a), nil, nil, 1},
		{"DV-02 only the generated rules find it", both, nil, list(mine), list(mine), 1},
		{"DV-02 what is alpha does not count", both, list(b), list(alpha), list(b), 0},
		{"DV-03 off", off, list(a), list(mine), list(a), 0},
		{"DV-03 off, only the generated rules find it", off, nil, list(mine), nil, 0},
		{"DV-03 off has no use of taking over", alone, list(a), nil, list(a), 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			ran := false
			rules := &Rules{Stands: map[string][]field.ErrorType{"a": {field.ErrorTypeInvalid}}, Validate: func(context.Context, runtime.Object, runtime.Object, string) field.ErrorList {
				ran = true
				return test.declared
			}}
			var differ []string
			test.modes.Differ = func(of, what string) { differ = append(differ, of+": "+what) }
			got := rules.Judge(t.Context(), test.modes, "kind_create", "", nil, nil, test.written)
			if !slices.Equal(got, test.want) || len(differ) != test.differ || ran != test.modes.On {
				t.Errorf("%v, different are %q, it ran: %t", got, differ, ran)
			}
		})
	}
}

// Rules that panic are told of, and refuse an object only if they decide.
func TestPanics(t *testing.T) {
	rules := &Rules{Validate: func(context.Context, runtime.Object, runtime.Object, string) field.ErrorList { panic("so") }}
	for name, takeOver := range map[string]bool{"DV-01 beside others": false, "DV-02 alone": true} {
		t.Run(name, func(t *testing.T) {
			panicked := 0
			m := Modes{On: true, TakeOver: takeOver, Panicked: func(of string, cause any) {
				if panicked++; of != "kind_update" || cause != "so" {
					t.Error(of, cause)
				}
			}}
			errs := rules.Judge(t.Context(), m, "kind_update", "", nil, nil, nil)
			if panicked != 1 || (len(errs) == 1 && errs[0].Type == field.ErrorTypeInternal) != takeOver {
				t.Errorf("%d, %v", panicked, errs)
			}
		})
	}
}

// The rules of ReplicationControllers, as they were generated.
func TestReplicationControllers_DV01(t *testing.T) {
	rules := Of(corev1.SchemeGroupVersion.WithKind("ReplicationController"))
	make := func(name string, replicas, seconds int32) *corev1.ReplicationController {
		return &corev1.ReplicationController{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.ReplicationControllerSpec{Replicas: &replicas, MinReadySeconds: seconds}}
	}
	for _, test := range []struct {
		obj, old *corev1.ReplicationController
		want     []string
	}{
		{make("a.b", 0, 0), nil, nil},
		{make("a", -1, 0), nil, []string{"spec.replicas"}},
		{make("a", 1, -1), nil, []string{"spec.minReadySeconds"}},
		{make("A", -1, -1), nil, []string{"metadata.name", "spec.replicas", "spec.minReadySeconds"}},
		{make("a", -1, 0), make("a", -1, 1), nil}, // what did not change is as valid as it was
		{make("a", -2, 0), make("a", -1, 0), []string{"spec.replicas"}},
	} {
		for _, subresource := range []string{"", "scale", "status"} {
			var old runtime.Object
			if test.old != nil {
				old = test.old
			}
			var got []string
			for _, err := range rules.Validate(t.Context(), test.obj, old, subresource) {
				got = append(got, err.Field)
				if !rules.standsFor(err) {
					t.Errorf("%v is of no field that the rules stand for", err)
				}
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("%q: %v, want %v", subresource, got, test.want)
			}
		}
	}
	if Of(corev1.SchemeGroupVersion.WithKind("Pod")) != nil {
		t.Error("pods have rules")
	}
}
