package typed_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wasmgate/wasmgate/gateway/catalog/typed"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest/realengine"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
)

type tree = map[string]any

// roles are those of an engine, as Go values.
type roles struct {
	*testing.T
	*realengine.Engine
	typed.Kind[rbacv1.Role]
}

func start(t *testing.T) *roles {
	e := realengine.Start(t)
	controllertest.MustCreate(t, e, gvr.Namespaces, controllertest.NamespaceTree("shop"))
	return &roles{t, e, typed.Kind[rbacv1.Role]{Resource: e.Catalog.Snapshot().Resource(gvr.Roles)}}
}

func role(name, verb string) tree {
	return tree{"metadata": tree{"name": name, "namespace": "shop"}, "rules": []any{tree{"apiGroups": []any{""}, "resources": []any{"pods"}, "verbs": []any{verb}}}}
}

// told are roles as text, in the order of their names.
func told(of []*rbacv1.Role) string {
	var all []string
	for _, r := range of {
		all = append(all, r.Name+" "+strings.Join(r.Rules[0].Verbs, ","))
	}
	slices.Sort(all)
	return strings.Join(all, "; ")
}

// changed compares what was written, what is gone, what cannot be read, and what is there.
func (r *roles) changed(written, gone, unreadable, all string) {
	r.Helper()
	if err := r.Fresh(r.Context()); err != nil {
		r.Fatal(err)
	}
	var w, g []*rbacv1.Role
	bad := ""
	r.Changed(r.Now(), func(kind, name string, err error) { bad += fmt.Sprintf("%s %s: %v", kind, name, err) }, &w, &g)
	if told(w) != written || told(g) != gone || told(r.All()) != all {
		r.Errorf("written are %q, gone %q, there %q; want %q, %q, %q", told(w), told(g), told(r.All()), written, gone, all)
	}
	if !strings.Contains(bad, unreadable) || unreadable == "" && bad != "" {
		r.Errorf("unreadable is %q, want %q", bad, unreadable)
	}
}

// put has somebody else write to the store what no request could.
func (r *roles) put(name, text string) {
	r.Helper()
	key := "/registry/roles/shop/" + name
	kv, err := r.Store.Get(r.Context(), key)
	if err != nil {
		r.Fatal(err)
	}
	if _, err := r.Store.Update(r.Context(), key, []byte(text), kv.Revision, 0); err != nil {
		r.Fatal(err)
	}
}

func TestChangesAreToldOnce(t *testing.T) {
	r := start(t)
	r.changed("", "", "", "")
	controllertest.MustCreate(t, r, gvr.Roles, role("a", "get"))
	controllertest.MustCreate(t, r, gvr.Roles, role("b", "list"))
	r.changed("a get; b list", "", "", "a get; b list")
	before := r.All()
	r.changed("", "", "", "a get; b list")
	controllertest.MustChange(t, r, gvr.Roles, "", "shop", "b", func(o *unstructured.Unstructured) { o.Object["rules"] = role("b", "watch")["rules"] })
	r.changed("b watch", "", "", "a get; b watch")
	if told(before) != "a get; b list" {
		t.Errorf("what somebody still has became %q", told(before))
	}
	if err := r.Delete(t.Context(), gvr.Roles, "shop", "a", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	r.changed("", "a get", "", "b watch")
}

// What cannot be read is gone, once, and there again when it can be.
func TestWhatCannotBeReadIsGone(t *testing.T) {
	r := start(t)
	controllertest.MustCreate(t, r, gvr.Roles, role("a", "get"))
	controllertest.MustCreate(t, r, gvr.Roles, role("b", "list"))
	r.changed("a get; b list", "", "", "a get; b list")
	const of = `{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"Role","metadata":{"name":%q,"namespace":%q},"rules":%s}`
	const verbs = `[{"apiGroups":[""],"resources":["pods"],"verbs":["watch"]}]`
	r.put("a", "nonsense")
	r.changed("", "a get", "Role shop/a: ", "b list")
	r.put("a", fmt.Sprintf(of, "a", "shop", `"none"`))
	r.changed("", "", "Role shop/a: ", "b list") // it was gone before
	r.put("a", fmt.Sprintf(of, "a", "shop", verbs))
	r.changed("a watch", "", "", "a watch; b list")
	r.put("a", fmt.Sprintf(of, "a", "attic", verbs))
	r.changed("", "a watch", `Role shop/a: it says that it is "a" of namespace "attic"`, "b list")
	if err := r.Delete(t.Context(), gvr.Roles, "shop", "a", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	r.changed("", "", "", "b list") // nothing more
}

// A kind that is not served has no objects, and nothing happens to it.
func TestAKindThatIsNotServedHasNoObjects(t *testing.T) {
	var k typed.Kind[rbacv1.Role]
	var written, gone []*rbacv1.Role
	k.Changed(k.Now(), func(kind, name string, err error) { t.Errorf("%s %s: %v", kind, name, err) }, &written, &gone)
	if len(written)+len(gone)+len(k.All()) > 0 {
		t.Errorf("there are %v, %v, %v", written, gone, k.All())
	}
}
