package rbac

import (
	"cmp"
	"context"
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/gateway/controller"
	controllers "github.com/wasmgate/wasmgate/gateway/controller/client"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
)

// Roles are what aggregation reads and writes.
type Roles interface {
	controllers.Lister
	controllers.Updater
}

// Aggregation gives ClusterRoles with an aggregationRule the rules of those that it
// selects. It runs in one gateway.
type Aggregation struct {
	objects Roles
}

// NewAggregation returns the controller.
func NewAggregation(objects Roles) *Aggregation { return &Aggregation{objects} }

// Name implements [controller.Controller].
func (c *Aggregation) Name() string { return "clusterrole-aggregation" }

// Watches implements [controller.Controller].
func (c *Aggregation) Watches() []schema.GroupResource {
	return []schema.GroupResource{gvr.ClusterRoles}
}

// all stands for every ClusterRole: which of them select a role is only known by
// looking at each.
var all = controller.Key{GroupResource: gvr.ClusterRoles}

// Reconcile implements [controller.Controller].
func (c *Aggregation) Reconcile(ctx context.Context, q controller.Queue, key controller.Key) error {
	if key != all {
		q.Add(all)
		return nil
	}
	return Aggregate(ctx, c.objects)
}

// AggregateFresh is [Aggregate] of what there is by now, while the controller of
// another gateway, or of this one, may write the same.
func AggregateFresh(ctx context.Context, objects Objects) error {
	return again("", "aggregated roles", func() error {
		if err := objects.Fresh(ctx); err != nil {
			return err
		}
		return Aggregate(ctx, objects)
	})
}

// Aggregate writes what aggregates have to have and do not.
func Aggregate(ctx context.Context, objects Roles) error {
	listed, err := objects.List(ctx, gvr.ClusterRoles, "")
	if err != nil {
		return err
	}
	roles := make([]rbacv1.ClusterRole, len(listed))
	for i, obj := range listed {
		if err := gvr.Decode(obj, &roles[i]); err != nil {
			return err
		}
	}
	slices.SortFunc(roles, func(a, b rbacv1.ClusterRole) int { return cmp.Compare(a.Name, b.Name) })
	for _, role := range aggregate(roles) {
		obj, err := encode(gvr.ClusterRoles, role)
		if err != nil {
			return err
		}
		if _, err := objects.Update(ctx, gvr.ClusterRoles, "", obj); gvr.IgnoreNotFound(err) != nil {
			return err
		}
	}
	return nil
}

// aggregate sets the rules of those of roles that aggregate, and returns those that
// had others. One may select another: it begins with none of them having any rules
// and goes on until nothing is added, so that those which select each other come to
// an end, too.
func aggregate(roles []rbacv1.ClusterRole) (changed []*rbacv1.ClusterRole) {
	had := map[*rbacv1.ClusterRole][]rbacv1.PolicyRule{}
	for i := range roles {
		if role := &roles[i]; role.AggregationRule != nil {
			had[role] = role.Rules
			role.Rules = nil
		}
	}
	for range len(had) + 1 {
		settled := true
		for i := range roles {
			if _, aggregates := had[&roles[i]]; aggregates {
				rules := selected(&roles[i], roles)
				settled = settled && equality.Semantic.DeepEqual(rules, roles[i].Rules)
				roles[i].Rules = rules
			}
		}
		if settled {
			break
		}
	}
	for i := range roles {
		if rules, aggregates := had[&roles[i]]; aggregates && !equality.Semantic.DeepEqual(rules, roles[i].Rules) {
			changed = append(changed, &roles[i])
		}
	}
	return changed
}

// selected are the rules of those that a role selects, by name, each once.
func selected(role *rbacv1.ClusterRole, roles []rbacv1.ClusterRole) (rules []rbacv1.PolicyRule) {
	for i := range role.AggregationRule.ClusterRoleSelectors {
		selector, err := metav1.LabelSelectorAsSelector(&role.AggregationRule.ClusterRoleSelectors[i])
		if err != nil { // validation lets none in
			continue
		}
		for _, other := range roles {
			if other.Name == role.Name || !selector.Matches(labels.Set(other.Labels)) {
				continue
			}
			for _, rule := range other.Rules {
				if !slices.ContainsFunc(rules, func(r rbacv1.PolicyRule) bool { return equality.Semantic.DeepEqual(r, rule) }) {
					rules = append(rules, rule)
				}
			}
		}
	}
	return rules
}
