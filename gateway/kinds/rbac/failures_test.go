package rbac_test

import (
	"errors"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/kinds/rbac"
)

// Whatever call fails while roles are aggregated, that is told, and another run gives them
// their rules; a change of one role has all looked at.
func TestFailuresOfAggregationAreTold(t *testing.T) {
	all := controller.Key{GroupResource: gvr.ClusterRoles}
	controllertest.EachCallFails(t, 3, func() controllertest.Engine {
		o := controllertest.New(&crd.Definition{Group: gvr.ClusterRoles.Group, Plural: gvr.ClusterRoles.Resource, Kind: "ClusterRole", StorageVersion: "v1", KeyPrefix: "clusterroles"})
		controllertest.MustCreate(t, o, gvr.ClusterRoles, role("part", map[string]any{"to-a": "true", "to-b": "true"}, "", "things"))
		controllertest.MustCreate(t, o, gvr.ClusterRoles, role("a", nil, "to-a"))
		controllertest.MustCreate(t, o, gvr.ClusterRoles, role("b", nil, "to-b"))
		return o
	}, func(f *controllertest.Failing) error {
		return rbac.NewAggregation(f).Reconcile(t.Context(), nil, all)
	}, func(f *controllertest.Failing) error {
		for _, name := range []string{"a", "b"} {
			if rules, _ := controllertest.MustGet(t, f.Engine, gvr.ClusterRoles, "", name).Object["rules"].([]any); len(rules) != 1 {
				return errors.New(name + " does not have its rules")
			}
		}
		return nil
	})
}

// serving is a fake with roles, and those that aggregate one.
func serving(t *testing.T) controllertest.Engine {
	t.Helper()
	o := controllertest.New()
	for gr, kind := range map[schema.GroupResource]string{gvr.ClusterRoles: "ClusterRole", gvr.ClusterRoleBindings: "ClusterRoleBinding"} {
		o.Serve(&crd.Definition{Group: gr.Group, Plural: gr.Resource, Kind: kind, StorageVersion: "v1", KeyPrefix: gr.Resource})
	}
	controllertest.MustCreate(t, o, gvr.ClusterRoles, role("part", map[string]any{"to-a": "true"}, "", "things"))
	controllertest.MustCreate(t, o, gvr.ClusterRoles, role("a", nil, "to-a"))
	return o
}

// What gateways aggregate as they start is what there is by then; who was faster is no
// failure, and anything else is.
func TestFailuresOfTheFirstAggregationAreTold(t *testing.T) {
	controllertest.EachCallFails(t, 3, func() controllertest.Engine { return serving(t) }, func(f *controllertest.Failing) error {
		return rbac.AggregateFresh(t.Context(), f)
	}, func(f *controllertest.Failing) error {
		if rules, _ := controllertest.MustGet(t, f.Engine, gvr.ClusterRoles, "", "a").Object["rules"].([]any); len(rules) != 1 {
			return errors.New("it does not have its rules")
		}
		return nil
	})
	f := &controllertest.Failing{Engine: serving(t), Number: 3, With: apierrors.NewConflict(gvr.ClusterRoles, "a", controllertest.ErrAway)}
	if err := rbac.AggregateFresh(t.Context(), f); err != nil || f.Calls != 2*3 {
		t.Errorf("after a conflict: %v, %d calls", err, f.Calls)
	}
}

// A role that is none is told; a selector that is none selects nothing, and keeps no other
// from selecting.
func TestRolesThatCannotBeRead(t *testing.T) {
	o := serving(t)
	aggregates := role("b", nil, "to-a")
	selectors := aggregates["aggregationRule"].(map[string]any)
	selectors["clusterRoleSelectors"] = append([]any{map[string]any{"matchLabels": map[string]any{"not a label!": "x"}}}, selectors["clusterRoleSelectors"].([]any)...)
	controllertest.MustCreate(t, o, gvr.ClusterRoles, aggregates)
	if err := rbac.Aggregate(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if rules, _ := controllertest.MustGet(t, o, gvr.ClusterRoles, "", "b").Object["rules"].([]any); len(rules) != 1 {
		t.Errorf("it has %v", rules)
	}
	odd := role("odd", nil, "")
	odd["rules"] = "none"
	controllertest.MustCreate(t, o, gvr.ClusterRoles, odd)
	if err := rbac.Aggregate(t.Context(), o); err == nil {
		t.Error("a role that is none is aggregated")
	}
}

// Whatever call fails while a binding is split, that is told, and another run splits it.
func TestFailuresOfSplittingAreTold(t *testing.T) {
	named := func(name, user string) rbacv1.ClusterRoleBinding {
		b := rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: name}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "a"}}
		b.Subjects = []rbacv1.Subject{{Kind: "User", APIGroup: rbacv1.GroupName, Name: user}}
		return b
	}
	policy := rbac.Policy{ClusterRoleBindings: []rbacv1.ClusterRoleBinding{named("new", "everybody"), named("other", "somebody")}, Split: map[string]string{"new": "old", "other": "none"}}
	controllertest.EachCallFails(t, 4, func() controllertest.Engine {
		o := serving(t)
		if err := rbac.Ensure(t.Context(), o, rbac.Policy{ClusterRoleBindings: []rbacv1.ClusterRoleBinding{named("old", "chosen")}}); err != nil {
			t.Fatal(err)
		}
		return o
	}, func(f *controllertest.Failing) error {
		return rbac.Ensure(t.Context(), f, policy)
	}, func(f *controllertest.Failing) error {
		var of rbacv1.ClusterRoleBinding
		if err := gvr.Decode(controllertest.MustGet(t, f.Engine, gvr.ClusterRoleBindings, "", "new"), &of); err != nil {
			return err
		}
		if of.Subjects[0].Name != "chosen" {
			return errors.New("it does not have the subjects that were chosen")
		}
		if err := gvr.Decode(controllertest.MustGet(t, f.Engine, gvr.ClusterRoleBindings, "", "other"), &of); err != nil || of.Subjects[0].Name != "somebody" {
			return errors.New("what is no part of another does not have its own subjects")
		}
		return nil
	})
}
