package rbac

import (
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/component-helpers/auth/rbac/reconciliation"

	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
)

// owners are the objects of a kind that has rules. It implements
// [reconciliation.RuleOwnerModifier].
type owners struct {
	client
	gr    schema.GroupResource
	empty func() reconciliation.RuleOwner
}

func (c client) roles() owners {
	return owners{c, gvr.Roles, func() reconciliation.RuleOwner { return reconciliation.RoleRuleOwner{Role: &rbacv1.Role{}} }}
}

func (c client) clusterRoles() owners {
	return owners{c, gvr.ClusterRoles, func() reconciliation.RuleOwner {
		return reconciliation.ClusterRoleRuleOwner{ClusterRole: &rbacv1.ClusterRole{}}
	}}
}

// Get reads one from the cache.
func (o owners) Get(namespace, name string) (reconciliation.RuleOwner, error) {
	out := o.empty()
	return out, o.get(o.gr, namespace, name, out.GetObject())
}

// Create creates one.
func (o owners) Create(in reconciliation.RuleOwner) (reconciliation.RuleOwner, error) {
	out := o.empty()
	return out, o.create(o.gr, in.GetObject(), out.GetObject())
}

// Update replaces one.
func (o owners) Update(in reconciliation.RuleOwner) (reconciliation.RuleOwner, error) {
	out := o.empty()
	return out, o.update(o.gr, in.GetObject(), out.GetObject())
}

// bindings are the objects of a kind that has subjects. It implements
// [reconciliation.RoleBindingModifier].
type bindings struct {
	client
	gr    schema.GroupResource
	empty func() reconciliation.RoleBinding
}

func (c client) roleBindings() bindings {
	return bindings{c, gvr.RoleBindings, func() reconciliation.RoleBinding {
		return reconciliation.RoleBindingAdapter{RoleBinding: &rbacv1.RoleBinding{}}
	}}
}

func (c client) clusterRoleBindings() bindings {
	return bindings{c, gvr.ClusterRoleBindings, func() reconciliation.RoleBinding {
		return reconciliation.ClusterRoleBindingAdapter{ClusterRoleBinding: &rbacv1.ClusterRoleBinding{}}
	}}
}

// Get reads one from the cache.
func (b bindings) Get(namespace, name string) (reconciliation.RoleBinding, error) {
	out := b.empty()
	return out, b.get(b.gr, namespace, name, out.GetObject())
}

// Create creates one.
func (b bindings) Create(in reconciliation.RoleBinding) (reconciliation.RoleBinding, error) {
	out := b.empty()
	return out, b.create(b.gr, in.GetObject(), out.GetObject())
}

// Update replaces one.
func (b bindings) Update(in reconciliation.RoleBinding) (reconciliation.RoleBinding, error) {
	out := b.empty()
	return out, b.update(b.gr, in.GetObject(), out.GetObject())
}

// Delete deletes one: what a binding refers to cannot be changed.
func (b bindings) Delete(namespace, name string, uid types.UID) error {
	return b.delete(b.gr, namespace, name, uid)
}
