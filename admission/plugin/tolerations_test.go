package plugin

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"

	"github.com/wasmgate/wasmgate/admission"
)

func TestTolerationsAreSaidOnce(t *testing.T) {
	all := func(text string) (out []corev1.Toleration) {
		if err := json.Unmarshal([]byte("["+text+"]"), &out); err != nil {
			t.Fatal(err)
		}
		return out
	}
	const a, b, every = `{"key":"a","operator":"Exists"}`, `{"key":"b","operator":"Exists"}`, `{"operator":"Exists"}`
	const long, short, ever = `{"key":"a","operator":"Exists","effect":"NoExecute","tolerationSeconds":9}`, `{"key":"a","operator":"Exists","effect":"NoExecute","tolerationSeconds":5}`, `{"key":"a","operator":"Exists","effect":"NoExecute"}`
	const one, two = `{"key":"a","operator":"Equal","value":"1"}`, `{"key":"a","operator":"Equal","value":"2"}`
	for _, c := range [][3]string{
		{a, b, a + "," + b}, {a, a, a}, {a + "," + b, every, every}, {every, a, every},
		{short, long, long}, {long, short, long}, {long, ever, ever}, {long, a, a}, {a, long, a},
		{one, two, one + "," + two}, {one, a, a}, {long + "," + long, "", long},
	} {
		if got, want := joined(all(c[0]), all(c[1])), all(c[2]); !reflect.DeepEqual(got, want) {
			t.Errorf("%s and %s: %v", c[0], c[1], got)
		}
	}
}

// A pod may have as many tolerations as are compared, with those that are added, and not
// one more.
func TestMostTolerations(t *testing.T) {
	last := []corev1.Toleration{{Key: "last"}}
	tolerating := func(n int) string {
		return `{"metadata":{"name":"x"},"spec":{"tolerations":[` + strings.TrimSuffix(strings.Repeat(`{"key":"k"},`, n), ",") + `]}}`
	}
	class := &nodev1.RuntimeClass{Scheduling: &nodev1.Scheduling{Tolerations: last}}
	for name, ask := range map[string]func(n int) error{
		"given": func(n int) error {
			a := asked(t, "pods", admission.Create, tolerating(n-1))
			_, err := PodTolerationRestriction{given: last}.Edit(t.Context(), spoken{a, nil}, a.After)
			return err
		},
		"allowed": func(n int) error {
			a := asked(t, "pods", admission.Create, tolerating(n))
			return PodTolerationRestriction{allowed: []corev1.Toleration{{Key: "k"}}}.Validate(t.Context(), spoken{a, nil})
		},
		"of the class": func(n int) error {
			return schedule(class, &corev1.PodSpec{Tolerations: make([]corev1.Toleration, n-1)}, fmt.Errorf)
		},
	} {
		if err := ask(mostTolerations); err != nil {
			t.Errorf("%s, as many as may be: %v", name, err)
		}
		if err := ask(mostTolerations + 1); err == nil {
			t.Errorf("%s, one more is not refused", name)
		}
	}
}
