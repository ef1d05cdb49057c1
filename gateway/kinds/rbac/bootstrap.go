package rbac

import (
	"context"
	_ "embed"
	"fmt"
	"maps"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/auth/rbac/reconciliation"
	"sigs.k8s.io/yaml"

	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
)

var (
	//go:embed kubernetes.yaml
	kubernetes []byte
	//go:embed wasmgate.yaml
	wasmgate []byte
)

// Policy is roles and bindings.
type Policy struct {
	ClusterRoles        []rbacv1.ClusterRole        `json:"clusterRoles"`
	ClusterRoleBindings []rbacv1.ClusterRoleBinding `json:"clusterRoleBindings"`
	Roles               []rbacv1.Role               `json:"roles"`
	RoleBindings        []rbacv1.RoleBinding        `json:"roleBindings"`
	// Split are ClusterRoleBindings, each by the one that it was a part of in older
	// releases: where only that one is there, it has the same subjects, which somebody
	// may have chosen.
	Split map[string]string `json:"split"`
}

// Bootstrap is what every cluster begins with: kube-apiserver's, and what is about
// modules. It is only to be read.
var Bootstrap = sync.OnceValue(func() Policy {
	var p Policy
	for _, file := range [][]byte{kubernetes, wasmgate} {
		var more Policy
		if err := yaml.UnmarshalStrict(file, &more); err != nil {
			panic(fmt.Errorf("the roles that there are from the beginning: %w", err))
		}
		p.ClusterRoles = append(p.ClusterRoles, more.ClusterRoles...)
		p.ClusterRoleBindings = append(p.ClusterRoleBindings, more.ClusterRoleBindings...)
		p.Roles = append(p.Roles, more.Roles...)
		p.RoleBindings = append(p.RoleBindings, more.RoleBindings...)
		if more.Split != nil {
			p.Split = more.Split
		}
	}
	for i := range p.ClusterRoles {
		mark(&p.ClusterRoles[i])
	}
	for i := range p.ClusterRoleBindings {
		mark(&p.ClusterRoleBindings[i])
	}
	for i := range p.Roles {
		mark(&p.Roles[i])
	}
	for i := range p.RoleBindings {
		mark(&p.RoleBindings[i])
	}
	return p
})

// mark tells where an object comes from, and that it is kept up to date.
func mark(o metav1.Object) {
	labels := map[string]string{"kubernetes.io/bootstrapping": "rbac-defaults"}
	maps.Copy(labels, o.GetLabels())
	o.SetLabels(labels)
	o.SetAnnotations(map[string]string{rbacv1.AutoUpdateAnnotationKey: "true"})
}

// Again is how long who failed to [Ensure] waits before trying again.
const Again = time.Second

// atOnce bounds how many objects are written at a time.
const atOnce = 16

// Ensure creates what is missing of p and adds the rules and subjects that objects
// lack. It takes nothing away, and leaves objects alone whose annotation says so.
// Several gateways may do so at once.
func Ensure(ctx context.Context, objects Objects, p Policy) error {
	if err := split(client{ctx, objects}, p); err != nil {
		return err
	}
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(atOnce)
	c := client{ctx, objects}
	for _, o := range p.ClusterRoles {
		work.Go(func() error {
			return c.role(reconciliation.ClusterRoleRuleOwner{ClusterRole: &o}, c.clusterRoles())
		})
	}
	for _, o := range p.Roles {
		work.Go(func() error { return c.role(reconciliation.RoleRuleOwner{Role: &o}, c.roles()) })
	}
	for _, o := range p.ClusterRoleBindings {
		work.Go(func() error {
			return c.binding(reconciliation.ClusterRoleBindingAdapter{ClusterRoleBinding: &o}, c.clusterRoleBindings())
		})
	}
	for _, o := range p.RoleBindings {
		work.Go(func() error { return c.binding(reconciliation.RoleBindingAdapter{RoleBinding: &o}, c.roleBindings()) })
	}
	return work.Wait()
}

// split makes those bindings that were parts of others and are not there.
func split(c client, p Policy) error {
	for _, b := range p.ClusterRoleBindings {
		whole, ok := p.Split[b.Name]
		if !ok {
			continue
		}
		var was, is rbacv1.ClusterRoleBinding
		switch err := c.get(gvr.ClusterRoleBindings, "", whole, &was); {
		case apierrors.IsNotFound(err):
			continue
		case err != nil:
			return err
		}
		if err := c.get(gvr.ClusterRoleBindings, "", b.Name, &is); !apierrors.IsNotFound(err) {
			if err != nil {
				return err
			}
			continue
		}
		part := b.DeepCopy()
		part.Subjects, part.Labels, part.Annotations = was.Subjects, was.Labels, was.Annotations
		if err := c.create(gvr.ClusterRoleBindings, part, &is); err != nil && !apierrors.IsAlreadyExists(err) {
			return err
		}
	}
	return nil
}
