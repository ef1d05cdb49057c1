package escalation_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/gateway/authn"
	"github.com/wasmgate/wasmgate/gateway/authz"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest/realengine"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/kinds/rbac/escalation"
	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/gateway/resource/engine"
	"github.com/wasmgate/wasmgate/gateway/resource/local"
)

// authority lets bob read config maps, in the namespace default alone pods too, and do
// what else is in its list.
type authority []string

func (l authority) Authorize(_ context.Context, a authz.Attributes) (bool, string, error) {
	return slices.Contains(l, strings.Join([]string{a.User.Name, a.Verb, a.Resource, a.Namespace, a.Name}, " ")), "", nil
}

func (authority) Rules(user *authn.User, namespace string) (rules []rbacv1.PolicyRule, _ error) {
	if user.Name != "bob" {
		return nil, fmt.Errorf("no role of %s is there", user.Name)
	}
	rules = append(rules, rule("get", "configmaps"))
	if namespace == "default" {
		rules = append(rules, rule("*", "pods"))
	}
	return rules, nil
}

func rule(verb string, resources ...string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{Verbs: []string{verb}, APIGroups: []string{""}, Resources: resources}
}

type world struct {
	*realengine.Engine
	t *testing.T
}

func newWorld(t *testing.T, may ...string) world {
	e := realengine.With(t, func(e *engine.Engine) admission.Chain {
		return admission.Chain{Mutators: []admission.Mutator{escalation.Guard{May: authority(may), Roles: local.New(e, resource.Component("rbac"))}}}
	})
	controllertest.MustCreate(t, e, gvr.Namespaces, controllertest.NamespaceTree("default"))
	return world{e, t}
}

// create has a user create an object.
func (w world) create(gr schema.GroupResource, user string, object any, groups ...string) error {
	w.t.Helper()
	data, err := json.Marshal(object)
	if err != nil {
		w.t.Fatal(err)
	}
	r := w.Catalog.Snapshot().Resource(gr)
	t := resource.Target{Resource: r, Version: r.Def.Version("v1")}
	if r.Def.Namespaced {
		t.Namespace = "default"
	}
	_, err = w.Verbs.Create(w.t.Context(), t, data, resource.WriteOptions{Caller: resource.Caller{User: &authn.User{Name: user, Groups: groups}}})
	return err
}

func role(kind, name string, rules ...rbacv1.PolicyRule) rbacv1.ClusterRole {
	return rbacv1.ClusterRole{TypeMeta: metav1.TypeMeta{APIVersion: "rbac.authorization.k8s.io/v1", Kind: kind}, ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: rules}
}

func binding(kind, name, ofKind, of string) rbacv1.RoleBinding {
	return rbacv1.RoleBinding{TypeMeta: metav1.TypeMeta{APIVersion: "rbac.authorization.k8s.io/v1", Kind: kind}, ObjectMeta: metav1.ObjectMeta{Name: name},
		RoleRef: rbacv1.RoleRef{APIGroup: "rbac.authorization.k8s.io", Kind: ofKind, Name: of}}
}

// refused checks that an error is a refusal with a text; "" is no error.
func refused(t *testing.T, what string, err error, text string) {
	t.Helper()
	if text == "" && err != nil || text != "" && (!apierrors.IsForbidden(err) || !strings.Contains(err.Error(), text)) {
		t.Errorf("%s: %v, want %q", what, err, text)
	}
}

func TestGuard_NobodyGrantsWhatTheyDoNotHave(t *testing.T) {
	w := newWorld(t, "carol escalate roles default mine", "dora escalate roles default ", "carol bind clusterroles default strong")
	secrets, some := rule("get", "secrets"), []rbacv1.PolicyRule{rule("get", "configmaps")}
	const missing = "attempting to grant RBAC permissions not currently held:\n{APIGroups:[\"\"], Resources:[\"secrets\"], Verbs:[\"get\"]}"
	refused(t, "what bob has", w.create(gvr.Roles, "bob", role("Role", "a", append(some, rule("watch", "pods"))...)), "")
	refused(t, "what bob has not", w.create(gvr.Roles, "bob", role("Role", "b", append(some, secrets)...)), missing)
	refused(t, "what bob has there alone", w.create(gvr.ClusterRoles, "bob", role("ClusterRole", "c", rule("get", "pods"))), `Resources:["pods"]`)
	refused(t, "master", w.create(gvr.ClusterRoles, "bob", role("ClusterRole", "strong", secrets), authn.Masters), "")
	refused(t, "who may escalate", w.create(gvr.Roles, "dora", role("Role", "hers", secrets)), "")
	refused(t, "who may escalate by a name, which no path of a POST has", w.create(gvr.Roles, "carol", role("Role", "mine", secrets)), "resolution errors: [no role of carol is there]")
	refused(t, "who may escalate another", w.create(gvr.Roles, "carol", role("Role", "other", secrets)), "resolution errors: [no role of carol is there]")

	refused(t, "binding", w.create(gvr.RoleBindings, "bob", binding("RoleBinding", "a", "Role", "a")), "")
	refused(t, "binding to more", w.create(gvr.RoleBindings, "bob", binding("RoleBinding", "b", "ClusterRole", "strong")), missing)
	refused(t, "binding in the cluster", w.create(gvr.ClusterRoleBindings, "bob", binding("ClusterRoleBinding", "b", "ClusterRole", "strong")), missing)
	refused(t, "who may bind", w.create(gvr.RoleBindings, "carol", binding("RoleBinding", "c", "ClusterRole", "strong")), "")
	refused(t, "who may bind in another place", w.create(gvr.ClusterRoleBindings, "carol", binding("ClusterRoleBinding", "c", "ClusterRole", "strong")), missing)
	if err := w.create(gvr.RoleBindings, "bob", binding("RoleBinding", "d", "Role", "nowhere")); !apierrors.IsNotFound(err) {
		t.Errorf("binding to what is not there: %v", err)
	}
	if err := w.create(gvr.RoleBindings, "bob", binding("RoleBinding", "d", "Sheep", "a")); !apierrors.IsInvalid(err) {
		t.Errorf("binding to what cannot be bound: %v", err)
	}
}

// Rules are combinations: a small body may hold more of them than there is memory.
func TestGuard_TooManyRights(t *testing.T) {
	w := newWorld(t)
	many := make([]string, 100)
	for i := range many {
		many[i] = fmt.Sprint("x", i)
	}
	huge := rbacv1.PolicyRule{Verbs: many, APIGroups: many, Resources: many, ResourceNames: many}
	refused(t, "huge", w.create(gvr.Roles, "bob", role("Role", "a", huge)), "more than 50000 rights")
	refused(t, "paths", w.create(gvr.ClusterRoles, "bob", role("ClusterRole", "a", rbacv1.PolicyRule{Verbs: slices.Repeat(many, 10), NonResourceURLs: slices.Repeat(many, 10)})), "more than 50000 rights")
	most := rbacv1.PolicyRule{Verbs: many, APIGroups: many, Resources: many[:5]}
	refused(t, "as many as may be", w.create(gvr.Roles, "bob", role("Role", "a", most)), "not currently held")
	refused(t, "one more", w.create(gvr.Roles, "bob", role("Role", "a", most, rbacv1.PolicyRule{Verbs: many[:1], APIGroups: many[:1], Resources: many[:1]})), "more than 50000 rights")
	refused(t, "huge, by a master", w.create(gvr.Roles, "bob", role("Role", "a", huge), authn.Masters), "")
}

// patch has a user change an object.
func (w world) patch(gr schema.GroupResource, user, name, change string, groups ...string) error {
	w.t.Helper()
	r := w.Catalog.Snapshot().Resource(gr)
	t := resource.Target{Resource: r, Version: r.Def.Version("v1"), Name: name}
	if r.Def.Namespaced {
		t.Namespace = "default"
	}
	_, err := w.Verbs.Patch(w.t.Context(), t, types.MergePatchType, []byte(change), resource.WriteOptions{Caller: resource.Caller{User: &authn.User{Name: user, Groups: groups}}})
	return err
}

// Who changes a role or a binding has to have what it grants then, as who makes one; what
// holds its deletion up is free, as the garbage collector changes it.
func TestGuard_ChangesGrantNoMore(t *testing.T) {
	w := newWorld(t, "carol escalate roles default mine")
	secrets := rule("get", "secrets")
	gathered := role("ClusterRole", "gathered")
	gathered.AggregationRule = &rbacv1.AggregationRule{ClusterRoleSelectors: []metav1.LabelSelector{{MatchLabels: map[string]string{"a": "b"}}}}
	refused(t, "a role of bob's", w.create(gvr.Roles, "bob", role("Role", "mine", rule("get", "configmaps"))), "")
	refused(t, "a strong role", w.create(gvr.ClusterRoles, "root", role("ClusterRole", "strong", secrets), authn.Masters), "")
	refused(t, "a role that gathers, by bob", w.create(gvr.ClusterRoles, "bob", gathered), "must have cluster-admin privileges to use the aggregationRule")
	refused(t, "a role that gathers", w.create(gvr.ClusterRoles, "root", gathered, authn.Masters), "")
	refused(t, "a strong binding", w.create(gvr.ClusterRoleBindings, "root", binding("ClusterRoleBinding", "strong", "ClusterRole", "strong"), authn.Masters), "")
	refused(t, "a binding of bob's", w.create(gvr.RoleBindings, "bob", binding("RoleBinding", "mine", "Role", "mine")), "")

	const more = `{"rules":[{"verbs":["get"],"apiGroups":[""],"resources":["secrets"]}]}`
	const missing = "attempting to grant RBAC permissions not currently held:\n{APIGroups:[\"\"], Resources:[\"secrets\"], Verbs:[\"get\"]}"
	const bob = `{"subjects":[{"kind":"User","apiGroup":"rbac.authorization.k8s.io","name":"bob"}]}`
	const held = `{"metadata":{"finalizers":["example.com/f"],"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"c","uid":"u"}]}}`
	for _, c := range []struct {
		what     string
		gr       schema.GroupResource
		user     string
		name     string
		change   string
		want     string
		asMaster bool
	}{
		{"a label of what bob has", gvr.Roles, "bob", "mine", `{"metadata":{"labels":{"a":"b"}}}`, "", false},
		{"more than bob has", gvr.Roles, "bob", "mine", more, missing, false},
		{"a label of what bob has not", gvr.ClusterRoles, "bob", "strong", `{"metadata":{"labels":{"a":"b"}}}`, missing, false},
		{"what holds it up", gvr.ClusterRoles, "bob", "strong", held, "", false},
		{"a master", gvr.ClusterRoles, "root", "strong", `{"metadata":{"labels":{"a":"b"}}}`, "", true},
		{"who may escalate that one", gvr.Roles, "carol", "mine", more, "", false},
		{"who may escalate another one", gvr.ClusterRoles, "carol", "strong", strings.Replace(more, "secrets", "pods", 1), "resolution errors", false},
		{"a role gathers no more", gvr.ClusterRoles, "bob", "gathered", `{"aggregationRule":null}`, "must have cluster-admin privileges to use the aggregationRule", false},
		{"it grants what bob has", gvr.ClusterRoles, "bob", "gathered", `{"aggregationRule":null,"rules":[{"verbs":["get"],"apiGroups":[""],"resources":["configmaps"]}]}`, "must have cluster-admin", false},
		{"a master has it gather no more", gvr.ClusterRoles, "root", "gathered", `{"aggregationRule":null}`, "", true},
		{"then bob may change it", gvr.ClusterRoles, "bob", "gathered", `{"metadata":{"labels":{"a":"b"}}}`, "", false},
		{"bound to more", gvr.ClusterRoleBindings, "bob", "strong", bob, missing, false},
		{"bound to what carol may have made of his role", gvr.RoleBindings, "bob", "mine", bob, missing, false},
	} {
		var groups []string
		if c.asMaster {
			groups = append(groups, authn.Masters)
		}
		refused(t, c.what, w.patch(c.gr, c.user, c.name, c.change, groups...), c.want)
	}
}
