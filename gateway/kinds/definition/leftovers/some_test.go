package leftovers

import (
	"errors"
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Whether there are objects, and the first of them, is about one resource; what cannot be
// read of them is left out, and a store that is away is told.
func TestTheFirstStoredObjects(t *testing.T) {
	m, o := stored(t, map[string]string{
		"example.com/crontabs/a/one": `{"metadata":{"name":"one"}}`, "example.com/crontabs/a/three": "not JSON", "example.com/crontabs/b/two": `{"metadata":{"name":"two"}}`,
		"example.com/crontabsx/a/x": `{"metadata":{"name":"x"}}`,
	})
	for n, want := range map[int]string{1: "[one]", 2: "[one]", 3: "[one two]", 10: "[one two]"} {
		all, err := o.Some(t.Context(), tabs, n)
		if err != nil {
			t.Fatal(err)
		}
		names := []any{}
		for _, one := range all {
			names = append(names, one["metadata"].(map[string]any)["name"])
		}
		if got := fmt.Sprint(names); got != want {
			t.Errorf("the first %d are %s, want %s", n, got, want)
		}
	}
	for resource, want := range map[string]bool{"crontabs": true, "crontabsx": true, "crontab": false} {
		if any, err := o.Any(t.Context(), schema.GroupResource{Group: "example.com", Resource: resource}); err != nil || any != want {
			t.Errorf("there are %s: %v, %v", resource, any, err)
		}
	}
	away := errors.New("away")
	m.Down(away)
	defer m.Down(nil)
	if any, err := o.Any(t.Context(), tabs); err == nil || any {
		t.Errorf("there are some in a store that is away: %v, %v", any, err)
	}
	if all, err := o.Some(t.Context(), tabs, 1); err == nil || all != nil {
		t.Errorf("there are %v in a store that is away: %v", all, err)
	}
}
