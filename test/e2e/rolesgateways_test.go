package e2e

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/wasmgate/wasmgate/test/harness"
)

const rbacPath = "/apis/rbac.authorization.k8s.io/v1"

// TestRolesAreInForceOnBothGateways_RBAC has two gateways share an etcd: what is written
// through one is in force there once the write is answered, and on the other soon after;
// in the end both answer every question alike.
func TestRolesAreInForceOnBothGateways_RBAC(t *testing.T) {
	harness.SkipExternal(t)
	t.Parallel()
	tokens := filepath.Join(t.TempDir(), "tokens.csv")
	if err := os.WriteFile(tokens, []byte("anntoken,ann,1,\"staff\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"--token-auth-file", tokens}
	first := harness.Start(t, harness.Options{Args: args})
	second := harness.Start(t, harness.Options{Args: args, EtcdServers: first.EtcdURL})
	boss := []*harness.API{first.API(t), second.API(t)}
	ann := []*harness.API{first.API(t), second.API(t)}
	for _, a := range ann {
		a.Token = "anntoken"
	}
	path := configMaps("default")
	boss[0].Post(rbacPath+"/clusterroles", object{"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": object{"name": "reads"}, "rules": []any{}}).Want(201)
	boss[0].Post(rbacPath+"/clusterrolebindings", object{
		"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": object{"name": "reads"},
		"roleRef":  object{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "reads"},
		"subjects": []any{object{"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": "staff"}},
	}).Want(201)
	for i := range 10 { // each gateway in turn writes, and both have it
		here, there := i%2, 1-i%2
		want := 200
		rules := []any{object{"apiGroups": []any{""}, "resources": []any{"configmaps"}, "verbs": []any{"list"}}}
		if i%4 > 1 {
			want, rules = 403, []any{}
		}
		boss[here].Merge(rbacPath+"/clusterroles/reads", object{"rules": rules}).Want(200)
		ann[here].Get(path).Want(want)
		ann[there].Eventually(path, func(r *harness.Reply) bool { return r.Code == want })
	}
	bothAnswerAlike(t, boss)
}

// bothAnswerAlike writes roles and bindings at random through both gateways, and compares
// what they then say of every user.
func bothAnswerAlike(t *testing.T, boss []*harness.API) {
	t.Helper()
	r := rand.New(rand.NewPCG(9, 9))
	verbs, kinds := []string{"get", "list", "create"}, []string{"pods", "secrets", "configmaps"}
	for i := range 120 {
		via := boss[r.IntN(2)]
		name := fmt.Sprintf("some%d", r.IntN(8))
		role := object{"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": object{"name": name}, "rules": []any{
			object{"apiGroups": []any{""}, "resources": []any{kinds[r.IntN(3)]}, "verbs": []any{verbs[r.IntN(3)]}},
		}}
		binding := object{
			"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding", "metadata": object{"name": name},
			"roleRef":  object{"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": name},
			"subjects": []any{object{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": fmt.Sprintf("user%d", r.IntN(4))}},
		}
		plural, what := "/roles", role
		if i%2 == 0 {
			plural, what = "/rolebindings", binding
		}
		at := rbacPath + "/namespaces/default" + plural
		if code := via.Post(at, what).Code; code == 409 {
			via.Delete(at + "/" + name) // which the other may have done
		} else if code != 201 {
			t.Fatalf("POST %s: %d", at, code)
		}
	}
	for _, api := range boss { // so that each has read what the other wrote
		api.Get(rbacPath + "/namespaces/default/roles").Want(200)
		api.Get(rbacPath + "/namespaces/default/rolebindings").Want(200)
	}
	allowed := 0
	for user := range 4 {
		for i := range 9 {
			review := object{"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "spec": object{
				"user": fmt.Sprintf("user%d", user), "resourceAttributes": object{"namespace": "default", "verb": verbs[i/3], "resource": kinds[i%3]},
			}}
			var said []bool
			for _, api := range boss {
				said = append(said, api.Post("/apis/authorization.k8s.io/v1/subjectaccessreviews", review).Want(201).Contains(`"allowed":true`))
			}
			if said[0] != said[1] {
				t.Errorf("user%d may %s %s: %v through one, %v through the other", user, verbs[i/3], kinds[i%3], said[0], said[1])
			}
			if said[0] {
				allowed++
			}
		}
	}
	if allowed == 0 || allowed == 36 {
		t.Errorf("%d of 36 are allowed", allowed)
	}
}
