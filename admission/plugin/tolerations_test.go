package plugin

import (
	"encoding/json"
	"reflect"
	"testing"

	corev1 "k8s.io/api/core/v1"
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
