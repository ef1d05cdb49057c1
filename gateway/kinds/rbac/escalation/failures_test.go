package escalation_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/gateway/authn"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest/realengine"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/kinds/rbac/escalation"
	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/gateway/resource/engine"
	"github.com/wasmgate/wasmgate/gateway/resource/local"
)

// damaged shows a role whose rules cannot be read.
type damaged struct{ escalation.Roles }

func (d damaged) Get(ctx context.Context, gr schema.GroupResource, namespace, name string) (*unstructured.Unstructured, error) {
	obj, err := d.Roles.Get(ctx, gr, namespace, name)
	if err == nil {
		obj.Object["rules"] = "text"
	}
	return obj, err
}

// Where it cannot be found out what a role grants, nobody is bound to it.
func TestGuard_NobodyIsBoundToWhatIsNotRead(t *testing.T) {
	var roles escalation.Roles
	e := realengine.With(t, func(e *engine.Engine) admission.Chain {
		return admission.Chain{Mutators: []admission.Mutator{late{func() escalation.Roles { return roles }}}}
	})
	w := world{e, t}
	controllertest.MustCreate(t, e, gvr.Namespaces, controllertest.NamespaceTree("default"))
	real := local.Part(e.Verbs, "rbac")
	roles = real
	refused(t, "a role", w.create(gvr.Roles, "bob", role("Role", "a", rule("get", "configmaps"))), "")
	for number := 1; number <= 2; number++ {
		roles = &controllertest.Failing{Engine: real, Number: number}
		if err := w.create(gvr.RoleBindings, "bob", binding("RoleBinding", "b", "Role", "a")); err == nil || !strings.Contains(err.Error(), controllertest.ErrAway.Error()) {
			t.Errorf("call %d fails and is not told: %v", number, err)
		}
	}
	roles = damaged{real}
	if err := w.create(gvr.RoleBindings, "bob", binding("RoleBinding", "b", "Role", "a")); err == nil {
		t.Error("bound to a role that cannot be read")
	}
	roles = real
	refused(t, "a binding", w.create(gvr.RoleBindings, "bob", binding("RoleBinding", "b", "Role", "a")), "")
}

// ending has requests end while it is looked up what bob may do.
type ending struct {
	authority
	end context.CancelFunc
}

func (e ending) Rules(user *authn.User, namespace string) ([]rbacv1.PolicyRule, error) {
	e.end()
	return e.authority.Rules(user, namespace)
}

// Whose time is over is told so, and not that something was not held.
func TestGuard_WhoComesTooLateIsToldSo(t *testing.T) {
	ctx, end := context.WithCancel(t.Context())
	defer end()
	e := realengine.With(t, func(*engine.Engine) admission.Chain {
		return admission.Chain{Mutators: []admission.Mutator{escalation.Guard{May: ending{end: end}}}}
	})
	r := e.Catalog.Snapshot().Resource(gvr.ClusterRoles)
	_, err := e.Verbs.Create(ctx, resource.Target{Resource: r, Version: r.Def.Version("v1")}, []byte(`{"metadata":{"name":"a"},"rules":[{"verbs":["get"],"apiGroups":[""],"resources":["secrets"]}]}`),
		resource.WriteOptions{Caller: resource.Caller{User: &authn.User{Name: "bob"}}})
	if !apierrors.IsTimeout(err) {
		t.Error(err)
	}
}

// late is a guard whose roles are known later.
type late struct{ roles func() escalation.Roles }

func (l late) Mutate(ctx context.Context, a admission.Attributes) error {
	return escalation.Guard{May: authority(nil), Roles: l.roles()}.Mutate(ctx, a)
}

// What is missing is told in as few lines as can be: rules that differ in their verbs
// alone are one, those of one name, of several resources or of none are not joined.
func TestGuard_WhatIsMissingIsTold(t *testing.T) {
	w := newWorld(t)
	named := rule("get", "secrets")
	named.ResourceNames = []string{"n"}
	path := rbacv1.PolicyRule{Verbs: []string{"get"}, NonResourceURLs: []string{"/metrics"}}
	err := w.create(gvr.ClusterRoles, "bob", role("ClusterRole", "c", rule("get", "secrets"), path, named, rule("list", "secrets"), rule("get", "nodes", "events")))
	refused(t, "all of it", err, "not currently held:\n"+
		`{APIGroups:[""], Resources:["events"], Verbs:["get"]}`+"\n"+`{APIGroups:[""], Resources:["nodes"], Verbs:["get"]}`+"\n"+
		`{APIGroups:[""], Resources:["secrets"], ResourceNames:["n"], Verbs:["get"]}`+"\n"+`{APIGroups:[""], Resources:["secrets"], Verbs:["get" "list"]}`+"\n"+
		`{NonResourceURLs:["/metrics"], Verbs:["get"]}`)
}

// unread is an update of an object whose state before cannot be read.
type unread struct{ admission.Attributes }

func (unread) GetResource() schema.GroupVersionResource { return configMaps.WithVersion("v1") }
func (unread) GetSubresource() string                   { return "" }
func (unread) GetOperation() admission.Operation        { return admission.Update }
func (unread) IsOwn() bool                              { return false }
func (unread) GetOldObject(context.Context) (*unstructured.Unstructured, error) {
	return nil, controllertest.ErrAway
}

// Where it cannot be found out what the owners were, nobody changes them.
func TestOwners_WhatTheyWereHasToBeKnown(t *testing.T) {
	if err := (escalation.Owners{May: authority(nil)}).Validate(t.Context(), unread{}); !errors.Is(err, controllertest.ErrAway) {
		t.Errorf("it is let through: %v", err)
	}
}
