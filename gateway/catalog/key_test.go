package catalog

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestResourcesOfKeys(t *testing.T) {
	k := Keys{Prefix: "/registry/", Builtins: map[string]schema.GroupResource{
		"leases":         {Group: "coordination.k8s.io", Resource: "leases"},
		"services/specs": {Resource: "services"},
	}}
	for key, want := range map[string]schema.GroupResource{
		"/registry/leases/ns/a":               {Group: "coordination.k8s.io", Resource: "leases"},
		"/registry/services/specs/ns/a":       {Resource: "services"},
		"/registry/services/endpoints/ns/a":   {},
		"/registry/example.com/crontabs/ns/a": {Group: "example.com", Resource: "crontabs"},
		"/registry/example.com/crontabs/":     {Group: "example.com", Resource: "crontabs"},
		"/registry/":                          {},
		"/registry/claims/a":                  {},
		"":                                    {},
		"/wasmgate/example.com/crontabs/ns/a": {},
		"/registryexample.com/crontabs/ns/a":  {},
	} {
		if got := k.ResourceOf(key); got != want {
			t.Errorf("%s: %v, want %v", key, got, want)
		}
	}
}

func TestSplitAndJoinKeys(t *testing.T) {
	for key, want := range map[string][2]string{"a/b": {"a", "b"}, "b": {"", "b"}, "a/b/c": {"a", "b/c"}} {
		ns, name := SplitKey(key)
		if ns != want[0] || name != want[1] || JoinKey(ns, name) != key {
			t.Errorf("%s: %s %s", key, ns, name)
		}
	}
}
