package rbac

import (
	"fmt"
	"math/rand/v2"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/wasmgate/wasmgate/gateway/authn"
	"github.com/wasmgate/wasmgate/gateway/authz"
)

var (
	someVerbs     = []string{"get", "list", "watch", "create", "update", "patch", "delete", "*"}
	someGroups    = []string{"", "apps", "batch", "example.com", "*"}
	someResources = []string{"pods", "pods/log", "*/scale", "deployments", "deployments/scale", "configmaps", "crontabs", "crontabs/status", "*"}
	somePaths     = []string{"/api", "/api/*", "/apis*", "/healthz", "/metrics/*", "*"}
)

func pick(r *rand.Rand, from []string, most int) (out []string) {
	for range 1 + r.IntN(most) {
		out = append(out, from[r.IntN(len(from))])
	}
	return out
}

// many are random roles and bindings: 3 of 4 roles are the cluster's, half of the
// bindings are of namespaces, and a few roles are missing.
func many(r *rand.Rand, roles, bindings, users, namespaces int) (o Objects) {
	for i := range roles {
		var rules []rbacv1.PolicyRule
		for range 1 + r.IntN(4) {
			one := rbacv1.PolicyRule{Verbs: pick(r, someVerbs, 3), APIGroups: pick(r, someGroups, 2), Resources: pick(r, someResources, 2)}
			switch r.IntN(8) {
			case 0:
				one = rbacv1.PolicyRule{Verbs: pick(r, someVerbs, 2), NonResourceURLs: pick(r, somePaths, 2)}
			case 1, 2, 3:
				one.ResourceNames = []string{fmt.Sprintf("name%d", r.IntN(4))}
			}
			rules = append(rules, one)
		}
		name := fmt.Sprintf("role%d", i)
		if i%4 == 3 {
			rules = append(rules, rule("get core things"))
			in := role(fmt.Sprintf("ns%d", r.IntN(namespaces)), name)
			in.Rules = rules
			o.Roles = append(o.Roles, in)
			continue
		}
		c := clusterRole(name)
		c.Rules = rules
		o.ClusterRoles = append(o.ClusterRoles, c)
	}
	for i := range bindings {
		to := []string{fmt.Sprintf("User user%d", r.IntN(users)), fmt.Sprintf("Group group%d", r.IntN(1+users/3)), fmt.Sprintf("ServiceAccount ns%d/robot%d", r.IntN(namespaces), r.IntN(3))}[r.IntN(3):]
		number := r.IntN(roles + 1)
		of := fmt.Sprintf("role%d", number)
		if i%2 == 0 {
			o.ClusterRoleBindings = append(o.ClusterRoleBindings, clusterBinding(fmt.Sprintf("b%d", i), of, to[0]))
			continue
		}
		kind := "ClusterRole"
		if number%4 == 3 {
			kind = "Role"
		}
		o.RoleBindings = append(o.RoleBindings, roleBinding(fmt.Sprintf("ns%d", r.IntN(namespaces)), fmt.Sprintf("b%d", i), kind, of, to[0]))
	}
	return o
}

// anyRequest is a random request of somebody of whom [many] may know.
func anyRequest(r *rand.Rand, users, namespaces int) authz.Attributes {
	n := r.IntN(users)
	u := &authn.User{Name: fmt.Sprintf("user%d", n), Groups: []string{fmt.Sprintf("group%d", n/3), authn.AllAuthenticated}}
	if r.IntN(4) == 0 {
		in := fmt.Sprintf("ns%d", r.IntN(namespaces))
		u = &authn.User{Name: authn.ServiceAccountPrefix + in + ":" + fmt.Sprintf("robot%d", r.IntN(3)), Groups: append(authn.ServiceAccountGroups(in), authn.AllAuthenticated)}
	}
	a := authz.Attributes{User: u, Verb: someVerbs[r.IntN(7)], ResourceRequest: true}
	if r.IntN(6) == 0 {
		a.ResourceRequest, a.Path = false, []string{"/api", "/api/v1", "/apis/apps", "/healthz", "/metrics/x", "/other"}[r.IntN(6)]
		return a
	}
	a.Group = someGroups[r.IntN(4)]
	a.Resource = []string{"pods", "deployments", "configmaps", "crontabs", "things"}[r.IntN(5)]
	a.Subresource = []string{"", "", "", "log", "scale", "status"}[r.IntN(6)]
	if r.IntN(4) > 0 {
		a.Namespace = fmt.Sprintf("ns%d", r.IntN(namespaces))
	}
	if r.IntN(2) == 0 {
		a.Name = fmt.Sprintf("name%d", r.IntN(4))
	}
	return a
}
