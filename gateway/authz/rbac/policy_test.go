package rbac

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wasmgate/wasmgate/gateway/authn"
	"github.com/wasmgate/wasmgate/gateway/authz"
)

// rule is a rule of resources in words: verbs, groups, resources, names, each a list
// that commas separate; two words are of paths.
func rule(text string) rbacv1.PolicyRule {
	words := strings.Split(text, " ")
	list := func(i int) []string {
		if i >= len(words) {
			return nil
		}
		return strings.Split(strings.ReplaceAll(words[i], "core", ""), ",")
	}
	if len(words) == 2 {
		return rbacv1.PolicyRule{Verbs: list(0), NonResourceURLs: list(1)}
	}
	return rbacv1.PolicyRule{Verbs: list(0), APIGroups: list(1), Resources: list(2), ResourceNames: list(3)}
}

func clusterRole(name string, rules ...string) *rbacv1.ClusterRole {
	r := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}}
	for _, text := range rules {
		r.Rules = append(r.Rules, rule(text))
	}
	return r
}

func role(namespace, name string, rules ...string) *rbacv1.Role {
	return &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace}, Rules: clusterRole(name, rules...).Rules}
}

// subjects are some in words: "User ann", "ServiceAccount ns/robot".
func subjects(texts ...string) (out []rbacv1.Subject) {
	for _, text := range texts {
		kind, name, _ := strings.Cut(text, " ")
		s := rbacv1.Subject{Kind: kind, Name: name}
		if namespace, account, ok := strings.Cut(name, "/"); ok {
			s.Namespace, s.Name = namespace, account
		}
		out = append(out, s)
	}
	return out
}

func clusterBinding(name, role string, to ...string) *rbacv1.ClusterRoleBinding {
	return &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: name}, RoleRef: rbacv1.RoleRef{Kind: "ClusterRole", Name: role}, Subjects: subjects(to...)}
}

func roleBinding(namespace, name, kind, role string, to ...string) *rbacv1.RoleBinding {
	return &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace}, RoleRef: rbacv1.RoleRef{Kind: kind, Name: role}, Subjects: subjects(to...),
	}
}

// asked is a request in words: a verb and "group/resource[/subresource] [namespace/][name]",
// or a verb and a path.
func asked(user *authn.User, text string) authz.Attributes {
	words := strings.Split(text, " ")
	a := authz.Attributes{User: user, Verb: words[0]}
	if strings.HasPrefix(words[1], "/") {
		a.Path = words[1]
		return a
	}
	a.ResourceRequest = true
	parts := append(strings.Split(words[1], "/"), "")
	a.Group, a.Resource, a.Subresource = strings.ReplaceAll(parts[0], "core", ""), parts[1], parts[2]
	if len(words) > 2 {
		a.Namespace, a.Name, _ = strings.Cut(words[2], "/")
	}
	return a
}

func shop() Objects {
	return Objects{
		ClusterRoles: []*rbacv1.ClusterRole{
			clusterRole("all", "* * *", "* *"), clusterRole("empty"),
			clusterRole("reads", "get,list core pods,pods/log", "get apps *"), clusterRole("scales", "update apps */scale"),
			clusterRole("pages", "get /api,/apis/*,/docs*"), clusterRole("one", "get,update core configmaps one,other"),
		},
		Roles: []*rbacv1.Role{role("shop", "reads", "get core secrets"), role("depot", "writes", "create core configmaps")},
		ClusterRoleBindings: []*rbacv1.ClusterRoleBinding{
			clusterBinding("admins", "all", "Group admins"), clusterBinding("docs", "pages", "Group staff", "User visitor"),
			clusterBinding("gone", "gone", "User ann", "Group staff"), clusterBinding("none", "empty", "User ann"),
			clusterBinding("robots", "scales", "ServiceAccount shop/robot"), clusterBinding("lost", "all", "ServiceAccount robot", "Robot ann"),
		},
		RoleBindings: []*rbacv1.RoleBinding{
			roleBinding("shop", "a", "ClusterRole", "reads", "User ann", "Group staff"), roleBinding("shop", "b", "Role", "reads", "ServiceAccount robot"),
			roleBinding("shop", "c", "ClusterRole", "one", "User ann"), roleBinding("shop", "d", "Role", "writes", "User ann"),
			roleBinding("depot", "a", "Role", "writes", "Group system:serviceaccounts:shop"),
		},
	}
}

var (
	ann   = &authn.User{Name: "ann", Groups: []string{"staff"}}
	boss  = &authn.User{Name: "boss", Groups: []string{"admins"}}
	robot = &authn.User{Name: "system:serviceaccount:shop:robot", Groups: []string{"system:serviceaccounts", "system:serviceaccounts:shop"}}
)

func TestAuthorize_RBAC(t *testing.T) {
	p := Compile(shop())
	const nothing = `RBAC: clusterrole.rbac.authorization.k8s.io "gone" not found`
	const inShop = `RBAC: [clusterrole.rbac.authorization.k8s.io "gone" not found, role.rbac.authorization.k8s.io "writes" not found]`
	const reads = `RBAC: allowed by RoleBinding "a/shop" of ClusterRole "reads" to User "ann"`
	const one = `RBAC: allowed by RoleBinding "c/shop" of ClusterRole "one" to User "ann"`
	for _, c := range []struct {
		user   *authn.User
		text   string
		want   bool
		reason string
	}{
		{boss, "delete apps/deployments any/thing", true, `RBAC: allowed by ClusterRoleBinding "admins" of ClusterRole "all" to Group "admins"`},
		{boss, "post /anything", true, `RBAC: allowed by ClusterRoleBinding "admins" of ClusterRole "all" to Group "admins"`},
		{ann, "get core/pods shop/p", true, reads},
		{ann, "get core/pods/log shop/p", true, reads},
		{ann, "get core/pods/exec shop/p", false, inShop},
		{ann, "get core/pods depot/p", false, nothing},
		{ann, "list core/pods", false, nothing},
		{ann, "get apps/deployments/status shop/d", true, reads},
		{ann, "get core/configmaps shop/one", true, one},
		{ann, "get core/configmaps shop/two", false, inShop},
		{ann, "update core/configmaps shop/other", true, one},
		{ann, "list core/configmaps shop", false, inShop},
		{ann, "get core/secrets shop/s", false, inShop},
		{ann, "get /api", true, `RBAC: allowed by ClusterRoleBinding "docs" of ClusterRole "pages" to Group "staff"`},
		{ann, "get /apis", false, nothing},
		{ann, "get /apis/", true, `RBAC: allowed by ClusterRoleBinding "docs" of ClusterRole "pages" to Group "staff"`},
		{ann, "get /docsandmore/a", true, `RBAC: allowed by ClusterRoleBinding "docs" of ClusterRole "pages" to Group "staff"`},
		{ann, "get /api/v1", false, nothing},
		{ann, "post /api", false, nothing},
		{&authn.User{Name: "visitor"}, "get /api", true, `RBAC: allowed by ClusterRoleBinding "docs" of ClusterRole "pages" to User "visitor"`},
		{robot, "get core/secrets shop/s", true, `RBAC: allowed by RoleBinding "b/shop" of Role "reads" to ServiceAccount "robot/shop"`},
		{robot, "get core/secrets depot/s", false, ""},
		{robot, "update apps/deployments/scale depot/d", true, `RBAC: allowed by ClusterRoleBinding "robots" of ClusterRole "scales" to ServiceAccount "robot/shop"`},
		{robot, "update apps/deployments depot/d", false, ""},
		{robot, "update core/things/scale depot/d", false, ""},
		{robot, "create core/configmaps depot", true, `RBAC: allowed by RoleBinding "a/depot" of Role "writes" to Group "system:serviceaccounts:shop"`},
		{&authn.User{Name: "system:serviceaccount:depot:robot"}, "get core/secrets shop/s", false, ""},
		{nil, "get core/pods shop/p", false, ""},
	} {
		got, reason := p.Authorize(asked(c.user, c.text))
		if got != c.want || reason != c.reason {
			t.Errorf("%+v %s: %v %q, want %v %q", c.user, c.text, got, reason, c.want, c.reason)
		}
	}
}

func TestRules_RBAC(t *testing.T) {
	p := Compile(shop())
	told := func(user *authn.User, namespace string) string {
		rules, err := p.Rules(user, namespace)
		var parts []string
		for _, r := range rules {
			parts = append(parts, strings.Join(slices.Concat(r.Verbs, r.APIGroups, r.Resources, r.ResourceNames, r.NonResourceURLs), " "))
		}
		return fmt.Sprintf("%s; %v", strings.Join(parts, " | "), err)
	}
	for _, c := range []struct {
		user            *authn.User
		namespace, want string
	}{
		{boss, "", "* * * | * *; <nil>"},
		{robot, "", "update apps */scale; <nil>"},
		{robot, "shop", "update apps */scale | get  secrets; <nil>"},
		{ann, "", `get /api /apis/* /docs*; clusterrole.rbac.authorization.k8s.io "gone" not found`},
		{ann, "shop", `get /api /apis/* /docs* | get list  pods pods/log | get apps * | get update  configmaps one other; [clusterrole.rbac.authorization.k8s.io "gone" not found, role.rbac.authorization.k8s.io "writes" not found]`},
		{nil, "shop", "; <nil>"},
	} {
		if got := told(c.user, c.namespace); got != c.want {
			t.Errorf("%+v in %q:\ngot  %s\nwant %s", c.user, c.namespace, got, c.want)
		}
	}
}

// A role that many bindings give is listed once, and of very many rules the first ones.
func TestRulesAreListedOnce_RBAC(t *testing.T) {
	const each = 1000
	texts := make([]string, each)
	for i := range texts {
		texts[i] = fmt.Sprintf("get core r%d", i)
	}
	o := Objects{ClusterRoles: []*rbacv1.ClusterRole{clusterRole("large", texts...), clusterRole("empty")}}
	for i := range 200 {
		name := fmt.Sprint("b", i)
		o.ClusterRoleBindings = append(o.ClusterRoleBindings, clusterBinding(name, "large", "User ann"), clusterBinding("e"+name, "empty", "User ann"))
		o.RoleBindings = append(o.RoleBindings, roleBinding("shop", name, "ClusterRole", "large", "Group staff"))
	}
	if rules, err := Compile(o).Rules(ann, "shop"); len(rules) != each || err != nil {
		t.Errorf("%d rules of one role of %d, %v", len(rules), each, err)
	}
	for i := range mostRules/each - 1 {
		name := fmt.Sprint("more", i)
		o.ClusterRoles = append(o.ClusterRoles, clusterRole(name, texts...))
		o.ClusterRoleBindings = append(o.ClusterRoleBindings, clusterBinding(name, name, "User ann"))
	}
	if rules, err := Compile(o).Rules(ann, "shop"); len(rules) != mostRules || err != nil {
		t.Errorf("%d rules of all of %d, %v", len(rules), mostRules, err)
	}
	o.ClusterRoles = append(o.ClusterRoles, clusterRole("one", "get core one"))
	o.ClusterRoleBindings = append(o.ClusterRoleBindings, clusterBinding("one", "one", "User ann"), clusterBinding("gone", "gone", "User ann"))
	rules, err := Compile(o).Rules(ann, "shop")
	if len(rules) != mostRules || !errors.Is(err, authz.ErrIncomplete) || !strings.Contains(err.Error(), "more than the 50000 rules") || !strings.Contains(err.Error(), `"gone" not found`) {
		t.Errorf("%d rules of one more, %v", len(rules), err)
	}
}

type fixed struct{ p *Policy }

func (f fixed) Policy() *Policy { return f.p }

func TestBeforeRolesAreKnownNothingIsAllowed_RBAC(t *testing.T) {
	var decider authz.Decider = Authorizer{fixed{}}
	if allowed, reason, err := decider.Authorize(context.Background(), asked(boss, "get core/pods shop/p")); allowed || err != nil || !strings.Contains(reason, "/readyz") {
		t.Errorf("%v %q %v", allowed, reason, err)
	}
	if allowed, _, _ := decider.Authorize(context.Background(), asked(authn.AnonymousUser(), "get /readyz")); !allowed {
		t.Error("nobody can ask whether the roles are known")
	}
	if rules, err := decider.Rules(boss, "shop"); rules != nil || err == nil {
		t.Errorf("%v %v", rules, err)
	}
	decider = Authorizer{fixed{Compile(shop())}}
	if allowed, _, err := decider.Authorize(context.Background(), asked(boss, "get core/pods shop/p")); !allowed || err != nil {
		t.Errorf("%v %v", allowed, err)
	}
	if rules, err := decider.Rules(boss, "shop"); len(rules) != 2 || err != nil {
		t.Errorf("%v %v", rules, err)
	}
}

// What is found by indexes is what reading every rule of every binding finds.
func TestIndexesFindWhatReadingAllFinds_RBAC(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for round := range 40 {
		o := many(r, 1+round*4, 1+round*12, 3+round/4, 4)
		p := Compile(o)
		allowed := 0
		for range 500 {
			a := anyRequest(r, 3+round/4, 4)
			want := readAll(o, a)
			if got, reason := p.Authorize(a); got != want {
				t.Fatalf("round %d: %+v %+v: %v %q, want %v", round, a, a.User, got, reason, want)
			}
			if want {
				allowed++
			}
		}
		if round > 5 && (allowed == 0 || allowed == 500) {
			t.Errorf("round %d: %d of 500 are allowed", round, allowed)
		}
	}
}

// readAll decides by reading everything.
func readAll(o Objects, a authz.Attributes) bool {
	rules := func(ref rbacv1.RoleRef, namespace string) []rbacv1.PolicyRule {
		for _, r := range o.ClusterRoles {
			if ref.Kind == "ClusterRole" && r.Name == ref.Name {
				return r.Rules
			}
		}
		for _, r := range o.Roles {
			if ref.Kind == "Role" && r.Name == ref.Name && r.Namespace == namespace {
				return r.Rules
			}
		}
		return nil
	}
	bound := func(all []rbacv1.Subject, namespace string) bool {
		return slices.ContainsFunc(all, func(s rbacv1.Subject) bool {
			switch s.Kind {
			case "User":
				return s.Name == a.User.Name
			case "Group":
				return a.User.In(s.Name)
			}
			if s.Namespace != "" {
				namespace = s.Namespace
			}
			return namespace != "" && a.User.Name == "system:serviceaccount:"+namespace+":"+s.Name
		})
	}
	for _, b := range o.ClusterRoleBindings {
		if bound(b.Subjects, "") && slices.ContainsFunc(rules(b.RoleRef, ""), func(r rbacv1.PolicyRule) bool { return matches(r, a) }) {
			return true
		}
	}
	for _, b := range o.RoleBindings {
		if b.Namespace == a.Namespace && bound(b.Subjects, b.Namespace) &&
			slices.ContainsFunc(rules(b.RoleRef, b.Namespace), func(r rbacv1.PolicyRule) bool { return matches(r, a) }) {
			return true
		}
	}
	return false
}

func matches(r rbacv1.PolicyRule, a authz.Attributes) bool {
	has := func(list []string, values ...string) bool {
		return slices.ContainsFunc(list, func(v string) bool { return slices.Contains(values, v) })
	}
	if !has(r.Verbs, "*", a.Verb) {
		return false
	}
	if !a.ResourceRequest {
		return slices.ContainsFunc(r.NonResourceURLs, func(u string) bool {
			prefix, open := strings.CutSuffix(u, "*")
			return u == a.Path || open && strings.HasPrefix(a.Path, prefix)
		})
	}
	what := []string{"*", a.Resource}
	if a.Subresource != "" {
		what = []string{"*", a.Resource + "/" + a.Subresource, "*/" + a.Subresource}
	}
	return has(r.APIGroups, "*", a.Group) && has(r.Resources, what...) && (len(r.ResourceNames) == 0 || has(r.ResourceNames, a.Name))
}
