package rbac_test

import (
	"slices"
	"testing"

	"golang.org/x/sync/errgroup"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest/realengine"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/kinds/namespace"
	"github.com/wasmgate/wasmgate/gateway/kinds/rbac"
	"github.com/wasmgate/wasmgate/storage/storagetest"
)

var kinds = []schema.GroupResource{gvr.ClusterRoles, gvr.ClusterRoleBindings, gvr.Roles, gvr.RoleBindings}

// begin starts an engine over a store and makes what there is from the beginning.
func begin(t *testing.T, store *storagetest.Memory) *realengine.Engine {
	t.Helper()
	e := realengine.Over(t, store, nil)
	if err := namespace.EnsureSystem(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	ensure(t, e)
	if err := e.Fresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	return e
}

func ensure(t *testing.T, e *realengine.Engine) {
	t.Helper()
	if err := rbac.Ensure(t.Context(), e, rbac.Bootstrap()); err != nil {
		t.Fatal(err)
	}
}

func revision(t *testing.T, store *storagetest.Memory) int64 {
	t.Helper()
	rev, err := store.Revision(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return rev
}

func get[T any](t *testing.T, e *realengine.Engine, gr schema.GroupResource, namespace, name string) (out T) {
	t.Helper()
	if err := e.Fresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := gvr.Decode(controllertest.MustGet(t, e, gr, namespace, name), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// change changes an object in the tree of its JSON.
func change(t *testing.T, e *realengine.Engine, gr schema.GroupResource, name string, set func(*unstructured.Unstructured)) {
	t.Helper()
	controllertest.MustChange(t, e, gr, "", "", name, set)
	if err := e.Fresh(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// How many there are was counted on kube-apiserver 1.36.3; four roles are about
// modules.
func TestBootstrap_IsThereAndMarked(t *testing.T) {
	e := begin(t, storagetest.NewMemory())
	for i, want := range []int{69 + 4, 50, 7, 7} {
		all, err := e.List(t.Context(), kinds[i], "")
		if err != nil || len(all) != want {
			t.Errorf("%d %s, want %d, %v", len(all), kinds[i].Resource, want, err)
		}
		for _, o := range all {
			if o.GetLabels()["kubernetes.io/bootstrapping"] != "rbac-defaults" || o.GetAnnotations()["rbac.authorization.kubernetes.io/autoupdate"] != "true" {
				t.Errorf("%s: %v %v", o.GetName(), o.GetLabels(), o.GetAnnotations())
			}
		}
	}
	b := get[rbacv1.ClusterRoleBinding](t, e, gvr.ClusterRoleBindings, "", "system:discovery")
	want := rbacv1.Subject{Kind: "Group", APIGroup: "rbac.authorization.k8s.io", Name: "system:authenticated"}
	if b.RoleRef.Name != "system:discovery" || !slices.Equal(b.Subjects, []rbacv1.Subject{want}) {
		t.Errorf("system:discovery is bound to %v", b.Subjects)
	}
}

// Who starts again writes nothing.
func TestEnsure_WritesNothingTwice(t *testing.T) {
	e := begin(t, storagetest.NewMemory())
	before := revision(t, e.Store)
	ensure(t, e)
	if after := revision(t, e.Store); after != before {
		t.Errorf("%d writes", after-before)
	}
}

// What is missing comes back; what users added stays, and so does what they keep to
// themselves.
func TestEnsure_AddsAndTakesNothingAway(t *testing.T) {
	e := begin(t, storagetest.NewMemory())
	own := map[string]any{"apiGroups": []any{"example.com"}, "resources": []any{"tabs"}, "verbs": []any{"get"}}
	change(t, e, gvr.ClusterRoles, "system:kube-dns", func(o *unstructured.Unstructured) { o.Object["rules"] = []any{own} })
	change(t, e, gvr.ClusterRoles, "system:discovery", func(o *unstructured.Unstructured) {
		o.SetAnnotations(map[string]string{rbacv1.AutoUpdateAnnotationKey: "false"})
		o.Object["rules"] = []any{own}
	})
	change(t, e, gvr.ClusterRoleBindings, "system:kube-dns", func(o *unstructured.Unstructured) {
		o.Object["subjects"] = []any{map[string]any{"kind": "User", "name": "u", "apiGroup": "rbac.authorization.k8s.io"}}
	})
	ensure(t, e)
	if r := get[rbacv1.ClusterRole](t, e, gvr.ClusterRoles, "", "system:kube-dns"); len(r.Rules) != 5 || r.Rules[0].Resources[0] != "tabs" || r.Rules[1].Resources[0] != "endpoints" {
		t.Errorf("rules %v", r.Rules)
	}
	if r := get[rbacv1.ClusterRole](t, e, gvr.ClusterRoles, "", "system:discovery"); len(r.Rules) != 1 {
		t.Errorf("of one that is left alone %v", r.Rules)
	}
	if b := get[rbacv1.ClusterRoleBinding](t, e, gvr.ClusterRoleBindings, "", "system:kube-dns"); len(b.Subjects) != 2 || b.Subjects[0].Name != "u" || b.Subjects[1].Name != "kube-dns" {
		t.Errorf("subjects %v", b.Subjects)
	}
}

// A binding that was a part of another has the subjects of that one, which an
// administrator may have changed before there was this one.
func TestEnsure_SplitsBindings(t *testing.T) {
	e := begin(t, storagetest.NewMemory())
	change(t, e, gvr.ClusterRoleBindings, "system:discovery", func(o *unstructured.Unstructured) {
		o.SetAnnotations(map[string]string{rbacv1.AutoUpdateAnnotationKey: "false"})
		o.SetLabels(map[string]string{"mine": "yes"})
		o.Object["subjects"] = []any{map[string]any{"kind": "User", "name": "u", "apiGroup": "rbac.authorization.k8s.io"}}
	})
	if err := e.Delete(t.Context(), gvr.ClusterRoleBindings, "", "system:public-info-viewer", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := e.Fresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		ensure(t, e)
	}
	b := get[rbacv1.ClusterRoleBinding](t, e, gvr.ClusterRoleBindings, "", "system:public-info-viewer")
	if len(b.Subjects) != 1 || b.Subjects[0].Name != "u" || b.RoleRef.Name != b.Name || b.Labels["mine"] != "yes" || b.Annotations[rbacv1.AutoUpdateAnnotationKey] != "false" {
		t.Errorf("%+v", b)
	}
}

// A binding to another role is made again.
func TestEnsure_BindsToWhatItSays(t *testing.T) {
	e := begin(t, storagetest.NewMemory())
	p := rbac.Bootstrap()
	i := slices.IndexFunc(p.ClusterRoleBindings, func(b rbacv1.ClusterRoleBinding) bool { return b.Name == "system:monitoring" })
	b := *p.ClusterRoleBindings[i].DeepCopy()
	b.RoleRef.Name = "view"
	if err := rbac.Ensure(t.Context(), e, rbac.Policy{ClusterRoleBindings: []rbacv1.ClusterRoleBinding{b}}); err != nil {
		t.Fatal(err)
	}
	if b := get[rbacv1.ClusterRoleBinding](t, e, gvr.ClusterRoleBindings, "", "system:monitoring"); b.RoleRef.Name != "view" {
		t.Errorf("bound to %s", b.RoleRef.Name)
	}
}

// Gateways that start at once make each object once.
func TestEnsure_ManyAtOnce(t *testing.T) {
	store := storagetest.NewMemory()
	var work errgroup.Group
	var gateways []*realengine.Engine
	for range 4 {
		gateways = append(gateways, realengine.Over(t, store, nil))
	}
	if err := namespace.EnsureSystem(t.Context(), gateways[0]); err != nil {
		t.Fatal(err)
	}
	for _, e := range gateways {
		work.Go(func() error { return rbac.Ensure(t.Context(), e, rbac.Bootstrap()) })
	}
	if err := work.Wait(); err != nil {
		t.Fatal(err)
	}
	before := revision(t, store)
	for _, e := range gateways {
		ensure(t, e)
	}
	if after := revision(t, store); after != before {
		t.Errorf("%d writes afterwards", after-before)
	}
}
