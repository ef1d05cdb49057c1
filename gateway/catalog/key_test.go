package catalog

import (
	"strings"
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

// FuzzKeys: whatever somebody else wrote into the store, a key is below the bucket that
// is found for it, which is the resource's that it belongs to, and what it is cut into
// makes it again.
func FuzzKeys(f *testing.F) {
	builtins := map[string]bool{"leases": true, "services/specs": true}
	k := Keys{Prefix: "/registry/", Builtins: map[string]schema.GroupResource{
		"leases":         {Group: "coordination.k8s.io", Resource: "leases"},
		"services/specs": {Resource: "services"},
	}}
	for _, key := range []string{"leases/ns/a", "services/specs/ns/a", "example.com/crontabs/ns/a", "example.com/crontabs//a", "", "/", "leases", "services/specs", "a.b//", "./x/y/z", "leases//"} {
		f.Add(key)
	}
	f.Fuzz(func(t *testing.T, key string) {
		bucket := bucketOf(builtins, key)
		gr := k.ResourceOf(k.Prefix + key)
		if bucket == "" {
			return
		}
		rest, below := strings.CutPrefix(key, bucket+"/")
		if !below || gr == (schema.GroupResource{}) {
			t.Errorf("%q: bucket %q, resource %v", key, bucket, gr)
		}
		if ns, name := SplitKey(rest); ns != "" && JoinKey(ns, name) != rest || strings.Contains(ns, "/") {
			t.Errorf("%q: namespace %q, name %q", rest, ns, name)
		}
	})
}
