package rbac

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/wasmgate/wasmgate/gateway/authz"
)

// store is roles and bindings that are written and deleted, by kind and key.
type store map[string]any

func (s store) key(o any) string {
	switch o := o.(type) {
	case *rbacv1.Role:
		return "role/" + o.Namespace + "/" + o.Name
	case *rbacv1.ClusterRole:
		return "clusterrole/" + o.Name
	case *rbacv1.RoleBinding:
		return "rolebinding/" + o.Namespace + "/" + o.Name
	case *rbacv1.ClusterRoleBinding:
		return "clusterrolebinding/" + o.Name
	}
	panic(fmt.Sprintf("%T", o))
}

func (o *Objects) add(one any) {
	switch one := one.(type) {
	case *rbacv1.Role:
		o.Roles = append(o.Roles, one)
	case *rbacv1.ClusterRole:
		o.ClusterRoles = append(o.ClusterRoles, one)
	case *rbacv1.RoleBinding:
		o.RoleBindings = append(o.RoleBindings, one)
	case *rbacv1.ClusterRoleBinding:
		o.ClusterRoleBindings = append(o.ClusterRoleBindings, one)
	}
}

func (o Objects) each(visit func(any)) {
	for _, one := range o.Roles {
		visit(one)
	}
	for _, one := range o.ClusterRoles {
		visit(one)
	}
	for _, one := range o.RoleBindings {
		visit(one)
	}
	for _, one := range o.ClusterRoleBindings {
		visit(one)
	}
}

// objects are what is stored, in the order of the store.
func (s store) objects() (o Objects) {
	var keys []string
	for k := range s {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		o.add(s[k])
	}
	return o
}

// change writes and deletes a few objects at random, of those that [many] makes.
func (s store) change(r *rand.Rand, pool []any) (written, gone Objects) {
	touched := map[string]bool{}
	for range 1 + r.IntN(4) {
		one := pool[r.IntN(len(pool))]
		k := s.key(one)
		if touched[k] {
			continue
		}
		touched[k] = true
		switch was, there := s[k]; {
		case there && r.IntN(2) == 0:
			gone.add(was)
			delete(s, k)
		default:
			written.add(one)
			s[k] = one
		}
	}
	return written, gone
}

// Whatever is written and deleted, the policy decides as one that is compiled of what
// there is then, tells the same rules in the same order, and the same roles that are
// missing; and the policies before it keep saying what they said.
func TestUpdatesDecideAsACompilationOfAll_RBAC(t *testing.T) {
	for round := range 12 {
		r := rand.New(rand.NewPCG(7, uint64(round)))
		roles, bindings, users := 2+round*8, 4+round*24, 3+round
		var pool []any
		for range 3 { // so that there are others of the same name
			many(r, roles, bindings, users, 3).each(func(o any) { pool = append(pool, o) })
		}
		s, c := store{}, new(Compiler)
		var before *Policy
		var asked authz.Attributes
		var said string
		for step := range 200 {
			written, gone := s.change(r, pool)
			p := c.Update(written, gone)
			if before != nil {
				if now := fmt.Sprint(before.Authorize(asked)); now != said {
					t.Fatalf("round %d step %d: a policy that said %s says %s after an update", round, step, said, now)
				}
			}
			fresh := Compile(s.objects())
			for range 20 {
				asked = anyRequest(r, users, 3)
				sameDecision(t, fmt.Sprintf("round %d step %d", round, step), s.objects(), p, fresh, asked)
			}
			before, said = p, fmt.Sprint(p.Authorize(asked))
		}
	}
}

// sameDecision compares what two policies of the same objects say.
func sameDecision(t *testing.T, where string, o Objects, p, fresh *Policy, a authz.Attributes) {
	t.Helper()
	got, reason := p.Authorize(a)
	want, wants := fresh.Authorize(a)
	if got != want || !got && reason != wants {
		t.Fatalf("%s: %+v %+v: %v %q, want %v %q", where, a, a.User, got, reason, want, wants)
	}
	if got && reason != wants && !justified(o, a, reason) {
		t.Fatalf("%s: %+v %+v is allowed by what does not allow it: %q", where, a, a.User, reason)
	}
	rules, err := p.Rules(a.User, a.Namespace)
	wanted, wantErr := fresh.Rules(a.User, a.Namespace)
	if !reflect.DeepEqual(rules, wanted) || fmt.Sprint(err) != fmt.Sprint(wantErr) {
		t.Fatalf("%s: the rules of %+v in %q are\n%v %v, want\n%v %v", where, a.User, a.Namespace, rules, err, wanted, wantErr)
	}
}

// justified tells whether the binding that a reason names allows a request, alone.
func justified(o Objects, a authz.Attributes, reason string) bool {
	alone := Objects{Roles: o.Roles, ClusterRoles: o.ClusterRoles}
	for _, b := range o.ClusterRoleBindings {
		if strings.Contains(reason, fmt.Sprintf("ClusterRoleBinding %q of", b.Name)) {
			alone.ClusterRoleBindings = append(alone.ClusterRoleBindings, b)
		}
	}
	for _, b := range o.RoleBindings {
		if strings.Contains(reason, fmt.Sprintf(" RoleBinding %q of", b.Name+"/"+b.Namespace)) {
			alone.RoleBindings = append(alone.RoleBindings, b)
		}
	}
	return len(alone.ClusterRoleBindings)+len(alone.RoleBindings) == 1 && readAll(alone, a)
}

// What is written again and again takes no more and more memory: numbers that no role
// has any more are taken away.
func TestNumbersOfRulesAreTakenBack_RBAC(t *testing.T) {
	c := new(Compiler)
	p := c.Update(shop(), Objects{})
	for i := range 5000 {
		r := clusterRole("changes", fmt.Sprintf("get core things%d", i%7))
		p = c.Update(Objects{ClusterRoles: []*rbacv1.ClusterRole{r}}, Objects{})
	}
	if n := p.rules.n; n > 2*c.live+unused {
		t.Errorf("%d numbers for %d rules", n, c.live)
	}
	if yes, reason := p.Authorize(asked(ann, "get core/pods shop/p")); !yes {
		t.Error(reason)
	}
	gone := c.Update(Objects{}, shop())
	if n := gone.cluster; n != nil || gone.within.n != 0 || len(c.bindings)+len(c.bound) != 0 {
		t.Errorf("once all is gone there are still %+v, %d namespaces, %d bindings", n, gone.within.n, len(c.bindings))
	}
}

func TestTables_RBAC(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	want := map[string]int{}
	var at table[int]
	for step := range 600 {
		changed := map[string]*int{}
		for range r.IntN(20) {
			name := fmt.Sprint("n", r.IntN(2000))
			if r.IntN(4) == 0 {
				changed[name] = nil
				continue
			}
			v := r.Int()
			changed[name] = &v
		}
		was, wasN := at, len(want)
		at = at.with(changed)
		if was.n != wasN {
			t.Fatalf("step %d: the table before has %d, not %d", step, was.n, wasN)
		}
		for name, v := range changed {
			if old, had := want[name]; had != (was.get(name) != nil) || had && *was.get(name) != old {
				t.Fatalf("step %d: the table before says otherwise of %s", step, name)
			}
			delete(want, name)
			if v != nil {
				want[name] = *v
			}
		}
		if at.n != len(want) {
			t.Fatalf("step %d: %d names, want %d", step, at.n, len(want))
		}
		for range 30 {
			name := fmt.Sprint("n", r.IntN(2000))
			v, has := want[name]
			if got := at.get(name); has != (got != nil) || has && *got != v || at.joined([]byte(name)) != got {
				t.Fatalf("step %d: %s is wrong", step, name)
			}
		}
	}
}
