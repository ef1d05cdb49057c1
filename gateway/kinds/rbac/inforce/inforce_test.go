package inforce

import (
	"bytes"
	"strings"
	"sync"
	"testing"

	"github.com/rs/zerolog"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wasmgate/wasmgate/gateway/authn"
	"github.com/wasmgate/wasmgate/gateway/authz"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest/realengine"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
)

type tree = map[string]any

func clusterRole(name, verb string) tree {
	return tree{"metadata": tree{"name": name}, "rules": []any{tree{"apiGroups": []any{""}, "resources": []any{"pods"}, "verbs": []any{verb}}}}
}

func clusterBinding(name, role string) tree {
	return tree{
		"metadata": tree{"name": name}, "roleRef": tree{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
		"subjects": []any{tree{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "ann"}},
	}
}

// world is an engine, and what is in force of its roles.
type world struct {
	*testing.T
	*realengine.Engine
	*Source
}

func start(t *testing.T, log zerolog.Logger) world {
	e := realengine.Start(t)
	controllertest.MustCreate(t, e, gvr.Namespaces, controllertest.NamespaceTree("shop"))
	return world{t, e, New(e.Catalog, log)}
}

// fresh has the cache hold what was written, as whoever wrote it waits for.
func (w world) fresh() {
	w.Helper()
	if err := w.Fresh(w.Context()); err != nil {
		w.Fatal(err)
	}
}

func (w world) ann(verb, namespace string, want bool) {
	w.Helper()
	a := authz.Attributes{User: &authn.User{Name: "ann"}, Verb: verb, Resource: "pods", Namespace: namespace, ResourceRequest: true}
	if got, reason := w.Policy().Authorize(a); got != want {
		w.Errorf("ann may %s pods in %q: %v %q", verb, namespace, got, reason)
	}
}

func TestWhatIsWrittenIsInForce_RBAC(t *testing.T) {
	w := start(t, zerolog.Nop())
	w.ann("get", "shop", false)
	if p := w.Policy(); p != w.Policy() {
		t.Error("compiled again without a change")
	}
	controllertest.MustCreate(t, w, gvr.ClusterRoleBindings, clusterBinding("b", "r"))
	w.fresh()
	w.ann("get", "shop", false)
	controllertest.MustCreate(t, w, gvr.ClusterRoles, clusterRole("r", "get"))
	w.fresh()
	w.ann("get", "shop", true)
	before := w.Policy()
	controllertest.MustChange(t, w, gvr.ClusterRoles, "", "", "r", func(o *unstructured.Unstructured) { o.Object["rules"] = clusterRole("r", "list")["rules"] })
	w.fresh()
	w.ann("get", "shop", false)
	w.ann("list", "shop", true)
	if yes, _ := before.Authorize(authz.Attributes{User: &authn.User{Name: "ann"}, Verb: "get", Resource: "pods", ResourceRequest: true}); !yes {
		t.Error("a policy changed that somebody still has")
	}
	if err := w.Delete(t.Context(), gvr.ClusterRoleBindings, "", "b", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	w.fresh()
	w.ann("list", "shop", false)
	role, binding := clusterRole("r", "watch"), clusterBinding("b", "r")
	role["metadata"], binding["metadata"] = tree{"name": "r", "namespace": "shop"}, tree{"name": "b", "namespace": "shop"}
	binding["roleRef"].(tree)["kind"] = "Role"
	controllertest.MustCreate(t, w, gvr.Roles, role)
	controllertest.MustCreate(t, w, gvr.RoleBindings, binding)
	w.fresh()
	w.ann("watch", "shop", true)
	w.ann("watch", "other", false)
	w.ann("watch", "", false)
}

// What cannot be read allows nothing, and neither what it allowed before; it is told.
func TestWhatCannotBeReadAllowsNothing_RBAC(t *testing.T) {
	var log bytes.Buffer
	w := start(t, zerolog.New(&log))
	controllertest.MustCreate(t, w, gvr.ClusterRoles, clusterRole("r", "get"))
	controllertest.MustCreate(t, w, gvr.ClusterRoleBindings, clusterBinding("b", "r"))
	w.fresh()
	w.ann("get", "", true)
	const prefix = "/registry/"
	stored := ""
	for _, kind := range []string{"clusterroles/", "rbac.authorization.k8s.io/clusterroles/"} {
		if kv, err := w.Store.Get(t.Context(), prefix+kind+"r"); err == nil && kv.Value != nil {
			stored = prefix + kind
		}
	}
	put := func(name, text string) {
		t.Helper()
		key, rev := stored+name, int64(0)
		if kv, err := w.Store.Get(t.Context(), key); err == nil {
			rev = kv.Revision
		}
		if _, err := w.Store.Update(t.Context(), key, []byte(text), rev, 0); err != nil {
			t.Fatal(err)
		}
		w.fresh()
	}
	put("r", "nonsense")
	w.ann("get", "", false)
	const rules = `"rules":[{"apiGroups":[""],"resources":["pods"],"verbs":["get"]}]}`
	put("r", `{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole","metadata":{"name":"r"},`+rules)
	w.ann("get", "", true)
	put("r", `{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole","metadata":{"name":"other"},`+rules)
	w.ann("get", "", false)
	if got := log.String(); strings.Count(got, "what it allows is not allowed") != 2 || !strings.Contains(got, `"name":"r"`) || !strings.Contains(got, `it is \"other\"`) {
		t.Errorf("logged %s", got)
	}
}

// Whoever asks while roles are written gets a policy that is one of those there were,
// and whoever asks after a write has it.
func TestManyAskWhileRolesAreWritten_RBAC(t *testing.T) {
	w := start(t, zerolog.Nop())
	controllertest.MustCreate(t, w, gvr.ClusterRoleBindings, clusterBinding("b", "r"))
	controllertest.MustCreate(t, w, gvr.ClusterRoles, clusterRole("r", "get"))
	w.fresh()
	stop := make(chan struct{})
	var asking sync.WaitGroup
	for range 4 {
		asking.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				p, may := w.Policy(), 0
				for _, verb := range []string{"get", "list"} {
					a := authz.Attributes{User: &authn.User{Name: "ann"}, Verb: verb, Resource: "pods", ResourceRequest: true}
					if yes, _ := p.Authorize(a); yes {
						may++
					}
				}
				if may != 1 {
					t.Errorf("ann may %d of two", may)
					return
				}
			}
		})
	}
	for i := range 50 {
		verb := []string{"list", "get"}[i%2]
		controllertest.MustChange(t, w, gvr.ClusterRoles, "", "", "r", func(o *unstructured.Unstructured) { o.Object["rules"] = clusterRole("r", verb)["rules"] })
		w.fresh()
		w.ann(verb, "", true)
	}
	close(stop)
	asking.Wait()
}
