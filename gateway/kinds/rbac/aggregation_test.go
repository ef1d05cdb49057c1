package rbac_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest/realengine"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/kinds/rbac"
	"github.com/wasmgate/wasmgate/storage/storagetest"
)

// may lists a role's rules as "resource: verbs".
func may(r rbacv1.ClusterRole) (out []string) {
	for _, rule := range r.Rules {
		out = append(out, fmt.Sprint(rule.Resources[0], ": ", rule.Verbs[0]))
	}
	return out
}

// role is a ClusterRole that has a rule about each of resources, and with selects
// aggregates those with that label.
func role(name string, labels map[string]any, selects string, resources ...string) map[string]any {
	o := map[string]any{
		"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": map[string]any{"name": name, "labels": labels},
	}
	var rules []any
	for _, r := range resources {
		rules = append(rules, map[string]any{"apiGroups": []any{"example.com"}, "resources": []any{r}, "verbs": []any{"get"}})
	}
	if o["rules"] = rules; selects != "" {
		o["aggregationRule"] = map[string]any{"clusterRoleSelectors": []any{map[string]any{"matchLabels": map[string]any{selects: "true"}}}}
	}
	return o
}

// Of kube-apiserver's roles admin has what edit has, and that has what view has.
func TestAggregate_RolesOfTheBeginning(t *testing.T) {
	e := begin(t, storagetest.NewMemory())
	if err := rbac.Aggregate(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	rules := map[string][]string{}
	for _, name := range []string{"view", "edit", "admin", "system:aggregate-to-view", "wasmgate:viewer", "system:aggregate-to-edit", "wasmgate:module-author", "system:aggregate-to-admin", "wasmgate:crd-author"} {
		for _, rule := range get[rbacv1.ClusterRole](t, e, gvr.ClusterRoles, "", name).Rules {
			rules[name] = append(rules[name], rule.String())
		}
	}
	together := func(names ...string) (all []string) { // each rule once
		for _, name := range names {
			all = append(all, rules[name]...)
		}
		slices.Sort(all)
		return slices.Compact(all)
	}
	for name, from := range map[string][]string{
		"view": {"system:aggregate-to-view", "wasmgate:viewer"}, "edit": {"view", "system:aggregate-to-edit", "wasmgate:module-author"}, "admin": {"edit", "system:aggregate-to-admin", "wasmgate:crd-author"},
	} {
		if got, want := slices.Sorted(slices.Values(rules[name])), together(from...); !slices.Equal(got, want) {
			t.Errorf("%s has\n%s\nwant\n%s", name, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	before := revision(t, e.Store)
	if err := e.Fresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := rbac.Aggregate(t.Context(), e); err != nil || revision(t, e.Store) != before {
		t.Errorf("it is written again, %v", err)
	}
	ensure(t, e)
	if revision(t, e.Store) != before {
		t.Error("who starts again takes rules away")
	}
}

// A role that comes, changes or goes is in force in those that select it, by way of
// others as well; roles that select each other come to rest.
func TestAggregation_FollowsRoles(t *testing.T) {
	e := realengine.Start(t)
	for _, o := range []map[string]any{
		role("top", nil, "to-top"),
		role("middle", map[string]any{"to-top": "true"}, "to-middle", "mine"),
		role("one", map[string]any{"to-middle": "true"}, "", "ones"),
		role("a", map[string]any{"to-b": "true"}, "to-a"), role("b", map[string]any{"to-c": "true"}, "to-b"), role("c", map[string]any{"to-a": "true"}, "to-c", "lost"),
	} {
		controllertest.MustCreate(t, e, gvr.ClusterRoles, o)
	}
	controllertest.Start(t, e, rbac.NewAggregation(e))
	has := func(name string, want ...string) {
		t.Helper()
		controllertest.Eventually(t, e, fmt.Sprint(name, " has ", want), func() bool {
			return slices.Equal(may(get[rbacv1.ClusterRole](t, e, gvr.ClusterRoles, "", name)), want)
		})
	}
	has("top", "ones: get")
	has("middle", "ones: get")
	has("c")
	controllertest.MustCreate(t, e, gvr.ClusterRoles, role("another", map[string]any{"to-middle": "true", "to-top": "true"}, "", "others", "ones"))
	has("middle", "others: get", "ones: get")
	has("top", "others: get", "ones: get")
	change(t, e, gvr.ClusterRoles, "another", func(o *unstructured.Unstructured) { o.SetLabels(nil) })
	has("top", "ones: get")
}

// The rules are those that are selected, whatever happens to who writes them.
func TestAggregationWhateverHappens(t *testing.T) {
	served := &crd.Definition{Group: gvr.ClusterRoles.Group, Plural: "clusterroles", Kind: "ClusterRole", StorageVersion: "v1", KeyPrefix: "clusterroles"}
	controllertest.Story{
		World: func(t *testing.T) *controllertest.Objects {
			o := controllertest.New(served)
			controllertest.MustCreate(t, o, gvr.ClusterRoles, role("top", nil, "to-top"))
			controllertest.MustCreate(t, o, gvr.ClusterRoles, role("one", map[string]any{"to-top": "true"}, "", "ones"))
			return o
		},
		Lead: func(s *controllertest.Seat) []controller.Controller {
			return []controller.Controller{rbac.NewAggregation(s)}
		},
		Main: controller.Key{GroupResource: gvr.ClusterRoles, Name: "top"},
		Outcome: func(t *testing.T, o *controllertest.Objects) string {
			var r rbacv1.ClusterRole
			if err := gvr.Decode(controllertest.MustGet(t, o, gvr.ClusterRoles, "", "top"), &r); err != nil {
				t.Error(err)
			}
			return fmt.Sprint(may(r))
		},
		Want: "[ones: get]",
	}.Tell(t)
}
