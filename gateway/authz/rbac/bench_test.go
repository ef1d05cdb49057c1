package rbac

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/wasmgate/wasmgate/gateway/authz"
)

// 1,000 roles and 5,000 bindings, to 500 users of 167 groups in 100 namespaces.
func large() (Objects, []authz.Attributes) {
	r := rand.New(rand.NewPCG(3, 4))
	o := many(r, 1000, 5000, 500, 100)
	requests := make([]authz.Attributes, 1024)
	for i := range requests {
		requests[i] = anyRequest(r, 500, 100)
	}
	return o, requests
}

func BenchmarkAuthorize(b *testing.B) {
	o, requests := large()
	p := Compile(o)
	type outcome struct{ allowed, missing bool }
	for name, want := range map[string]outcome{"allowed": {true, false}, "refused": {}, "refused-for-missing-roles": {false, true}} {
		var some []authz.Attributes
		for _, a := range requests {
			if yes, reason := p.Authorize(a); want == (outcome{yes, !yes && reason != ""}) {
				some = append(some, a)
			}
		}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				p.Authorize(some[i%len(some)])
			}
		})
	}
}

func BenchmarkCompile(b *testing.B) {
	o, _ := large()
	b.ReportAllocs()
	for b.Loop() {
		Compile(o)
	}
}

// What one write costs among 1,000 roles and 5,000 bindings.
func BenchmarkUpdate(b *testing.B) {
	o, _ := large()
	narrow, wide := o.ClusterRoles[0], clusterRole("wide", "get core things")
	other := *narrow
	other.Rules = append(slices.Clone(narrow.Rules), rule("list core things"))
	wider := clusterRole("wide", "get,list core things")
	o.ClusterRoles = append(o.ClusterRoles, wide)
	for i := range 1000 {
		o.RoleBindings = append(o.RoleBindings, roleBinding(fmt.Sprintf("ns%d", i%100), fmt.Sprintf("wide%d", i), "ClusterRole", "wide", fmt.Sprintf("User user%d", i%500)))
	}
	one := roleBinding("ns1", "one", "ClusterRole", narrow.Name, "User user1")
	for _, c := range []struct {
		name      string
		this, not Objects
		gone      bool
	}{
		{"a binding comes and goes", Objects{RoleBindings: []*rbacv1.RoleBinding{one}}, Objects{RoleBindings: []*rbacv1.RoleBinding{one}}, true},
		{"a role changes", Objects{ClusterRoles: []*rbacv1.ClusterRole{&other}}, Objects{ClusterRoles: []*rbacv1.ClusterRole{narrow}}, false},
		{"a role of 1000 bindings changes", Objects{ClusterRoles: []*rbacv1.ClusterRole{wider}}, Objects{ClusterRoles: []*rbacv1.ClusterRole{wide}}, false},
	} {
		b.Run(c.name, func(b *testing.B) {
			compiler := new(Compiler)
			compiler.Update(o, Objects{})
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				switch {
				case i%2 == 0:
					compiler.Update(c.this, Objects{})
				case c.gone:
					compiler.Update(Objects{}, c.not)
				default:
					compiler.Update(c.not, Objects{})
				}
			}
		})
	}
}
