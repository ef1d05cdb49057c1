package translate

import (
	nodev1 "k8s.io/api/node/v1"
	nodev1alpha1 "k8s.io/api/node/v1alpha1"
	rbacv1 "k8s.io/api/rbac/v1"
	rbacv1alpha1 "k8s.io/api/rbac/v1alpha1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// ClusterRole is one of rbac.authorization.k8s.io/v1alpha1 at v1.
func ClusterRole(in *rbacv1alpha1.ClusterRole) (*rbacv1.ClusterRole, error) {
	return &rbacv1.ClusterRole{ObjectMeta: in.ObjectMeta, Rules: rules(in.Rules), AggregationRule: (*rbacv1.AggregationRule)(in.AggregationRule)}, nil
}

// Role is one of rbac.authorization.k8s.io/v1alpha1 at v1.
func Role(in *rbacv1alpha1.Role) (*rbacv1.Role, error) {
	return &rbacv1.Role{ObjectMeta: in.ObjectMeta, Rules: rules(in.Rules)}, nil
}

// ClusterRoleBinding is one of rbac.authorization.k8s.io/v1alpha1 at v1.
func ClusterRoleBinding(in *rbacv1alpha1.ClusterRoleBinding) (*rbacv1.ClusterRoleBinding, error) {
	return &rbacv1.ClusterRoleBinding{ObjectMeta: in.ObjectMeta, Subjects: subjects(in.Subjects), RoleRef: rbacv1.RoleRef(in.RoleRef)}, nil
}

// RoleBinding is one of rbac.authorization.k8s.io/v1alpha1 at v1.
func RoleBinding(in *rbacv1alpha1.RoleBinding) (*rbacv1.RoleBinding, error) {
	return &rbacv1.RoleBinding{ObjectMeta: in.ObjectMeta, Subjects: subjects(in.Subjects), RoleRef: rbacv1.RoleRef(in.RoleRef)}, nil
}

func rules(in []rbacv1alpha1.PolicyRule) (out []rbacv1.PolicyRule) {
	for _, r := range in {
		out = append(out, rbacv1.PolicyRule(r))
	}
	return out
}

// subjects had versions, and the user * was everybody who is known.
func subjects(in []rbacv1alpha1.Subject) (out []rbacv1.Subject) {
	for _, s := range in {
		now := rbacv1.Subject{Kind: s.Kind, Name: s.Name, Namespace: s.Namespace}
		switch s.Kind {
		case rbacv1.ServiceAccountKind:
		case rbacv1.UserKind, rbacv1.GroupKind:
			now.APIGroup = rbacv1.GroupName
		default:
			if gv, err := schema.ParseGroupVersion(s.APIVersion); err == nil {
				now.APIGroup = gv.Group
			}
		}
		if s.Kind == rbacv1.UserKind && s.Name == "*" {
			now.Kind, now.Name = rbacv1.GroupKind, "system:authenticated"
		}
		out = append(out, now)
	}
	return out
}

// RuntimeClass is one of node.k8s.io/v1alpha1 at v1.
func RuntimeClass(in *nodev1alpha1.RuntimeClass) (*nodev1.RuntimeClass, error) {
	return &nodev1.RuntimeClass{
		ObjectMeta: in.ObjectMeta, Handler: in.Spec.RuntimeHandler,
		Overhead: (*nodev1.Overhead)(in.Spec.Overhead), Scheduling: (*nodev1.Scheduling)(in.Spec.Scheduling),
	}, nil
}
