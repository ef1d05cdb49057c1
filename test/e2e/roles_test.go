package e2e

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/wasmgate/wasmgate/test/harness"
)

// TestRolesDecide_RBAC: what a role allows is allowed as soon as the binding is written,
// and refused as soon as either is gone.
func TestRolesDecide_RBAC(t *testing.T) {
	harness.SkipExternal(t)
	tokens := filepath.Join(t.TempDir(), "tokens.csv")
	if err := os.WriteFile(tokens, []byte("anntoken,ann,1,\"staff\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	g := harness.Start(t, harness.Options{Args: []string{"--token-auth-file", tokens}})
	k, ann := g.Kubectl(t), g.API(t)
	ann.Token = "anntoken"
	run := func(args ...string) {
		t.Helper()
		if _, said, err := k.Run(args...); err != nil || said != "" {
			t.Fatalf("kubectl %q: %v\n%s", args, err, said)
		}
	}
	path := configMaps("default")
	refused := func(path, where string) {
		t.Helper()
		ann.Get(path).WantStatus(403, "Forbidden", `configmaps is forbidden: User "ann" cannot list resource "configmaps" in API group "" `+where)
	}
	const inDefault, inCluster = `in the namespace "default"`, "at the cluster scope"
	refused(path, inDefault)
	run("create", "role", "reads", "--verb=get,list", "--resource=configmaps")
	for range 5 {
		run("create", "rolebinding", "reads", "--role=reads", "--group=staff")
		ann.Get(path).Want(200)
		ann.Delete(path+"/kube-root-ca.crt").WantStatus(403, "Forbidden")
		refused("/api/v1/configmaps", inCluster)
		run("delete", "rolebinding", "reads")
		refused(path, inDefault)
	}
	run("create", "clusterrole", "reads", "--verb=list", "--resource=configmaps")
	run("create", "clusterrolebinding", "reads", "--clusterrole=reads", "--user=ann")
	ann.Get("/api/v1/configmaps").Want(200)
	ann.Get(path).Want(200)
	run("patch", "clusterrole", "reads", "--type=json", `--patch=[{"op":"replace","path":"/rules/0/resources","value":["pods"]}]`)
	refused("/api/v1/configmaps", inCluster)
	run("delete", "clusterrole", "reads")
	refused("/api/v1/configmaps", inCluster+`: RBAC: clusterrole.rbac.authorization.k8s.io "reads" not found`)
}

// TestAuthorizationModes_RBAC: administrators may do everything in each of the modes.
func TestAuthorizationModes_RBAC(t *testing.T) {
	harness.SkipExternal(t)
	tokens := filepath.Join(t.TempDir(), "tokens.csv")
	if err := os.WriteFile(tokens, []byte("anntoken,ann,1,\"staff\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for mode, code := range map[string]int{"AlwaysAllow": 200, "RBAC,AlwaysAllow": 200, "AlwaysDeny": 403} {
		g := harness.Start(t, harness.Options{Args: []string{"--token-auth-file", tokens, "--authorization-mode", mode}})
		ann := g.API(t)
		ann.Get(namespacePath).Want(200)
		ann.Token = "anntoken"
		ann.Get(namespacePath).Want(code)
	}
}
