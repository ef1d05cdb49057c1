package rbac

import (
	"context"
	"fmt"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/component-helpers/auth/rbac/reconciliation"

	controllers "github.com/wasmgate/wasmgate/gateway/controller/client"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
)

// Objects reads and writes roles and bindings.
type Objects interface {
	controllers.Getter
	controllers.Lister
	controllers.Creator
	controllers.Updater
	controllers.Deleter
	controllers.Freshener
}

// client is Objects as reconciliation asks for them.
type client struct {
	ctx     context.Context
	objects Objects
}

// attempts bounds how often one object is tried while others write it.
const attempts = 10

func (c client) role(role reconciliation.RuleOwner, in reconciliation.RuleOwnerModifier) error {
	return again(role.GetNamespace(), role.GetName(), func() error {
		_, err := (&reconciliation.ReconcileRoleOptions{Role: role, Client: in, Confirm: true}).Run()
		return err
	})
}

func (c client) binding(binding reconciliation.RoleBinding, in reconciliation.RoleBindingModifier) error {
	return again(binding.GetNamespace(), binding.GetName(), func() error {
		_, err := (&reconciliation.ReconcileRoleBindingOptions{RoleBinding: binding, Client: in, Confirm: true}).Run()
		return err
	})
}

// again repeats what met another writer.
func again(namespace, name string, try func() error) (err error) {
	for range attempts {
		if err = try(); !apierrors.IsConflict(err) && !apierrors.IsAlreadyExists(err) {
			break
		}
	}
	if err != nil {
		return fmt.Errorf("%s: %w", types.NamespacedName{Namespace: namespace, Name: name}, err)
	}
	return nil
}

func (c client) get(gr schema.GroupResource, namespace, name string, into any) error {
	obj, err := c.objects.Get(c.ctx, gr, namespace, name)
	if err != nil {
		return err
	}
	return gvr.Decode(obj, into)
}

func (c client) create(gr schema.GroupResource, in, out any) error {
	obj, err := encode(gr, in)
	if err == nil {
		obj, err = c.objects.Create(c.ctx, gr, obj)
	}
	return c.written(obj, err, out)
}

func (c client) update(gr schema.GroupResource, in, out any) error {
	obj, err := encode(gr, in)
	if err == nil {
		obj, err = c.objects.Update(c.ctx, gr, "", obj)
	}
	return c.written(obj, err, out)
}

func (c client) delete(gr schema.GroupResource, namespace, name string, uid types.UID) error {
	return c.objects.Delete(c.ctx, gr, namespace, name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}})
}

// written reads what has been written. Who met another writer sees what that one
// wrote when it looks again.
func (c client) written(obj *unstructured.Unstructured, err error, out any) error {
	if apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) || apierrors.IsNotFound(err) {
		if stale := c.objects.Fresh(c.ctx); stale != nil {
			return stale
		}
	}
	if err != nil {
		return err
	}
	return gvr.Decode(obj, out)
}

var kindOf = map[schema.GroupResource]string{
	gvr.ClusterRoles: "ClusterRole", gvr.Roles: "Role", gvr.ClusterRoleBindings: "ClusterRoleBinding", gvr.RoleBindings: "RoleBinding",
}

func encode(gr schema.GroupResource, in any) (*unstructured.Unstructured, error) {
	tree, err := runtime.DefaultUnstructuredConverter.ToUnstructured(in)
	if err != nil {
		return nil, err
	}
	tree["apiVersion"], tree["kind"] = rbacv1.SchemeGroupVersion.String(), kindOf[gr]
	return &unstructured.Unstructured{Object: tree}, nil
}
