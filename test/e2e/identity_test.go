package e2e

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/wasmgate/wasmgate/test/harness"
)

// TestIdentities starts a gateway that knows three users from a token file.
func TestIdentities(t *testing.T) {
	harness.SkipExternal(t)
	t.Parallel()
	tokens := filepath.Join(t.TempDir(), "tokens.csv")
	if err := os.WriteFile(tokens, []byte("mastertoken,master,1,\"system:masters\"\nusertoken,user,2,\"people,others\"\nplaintoken,plain,3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	g := harness.Start(t, harness.Options{Args: []string{"--token-auth-file", tokens}})
	as := func(t *testing.T, token string) *harness.API {
		api := g.API(t)
		api.Token = token
		return api
	}
	t.Run("who is unknown is 401, and who shows nothing 403, except for health and version", func(t *testing.T) {
		for _, path := range []string{namespacePath, "/apis", "/metrics", crdPath, "/openapi/v2", "/nothing"} {
			as(t, "wrong").Get(path).WantStatus(401, "Unauthorized", "Unauthorized")
			as(t, "-").Get(path).WantStatus(403, "Forbidden", `User "system:anonymous" cannot`)
		}
		as(t, "wrong").Post(namespacePath, `{}`).WantStatus(401, "Unauthorized")
		as(t, "-").Post(namespacePath, `{}`).WantStatus(403, "Forbidden")
		for _, path := range []string{"/livez", "/readyz", "/healthz", "/version"} {
			as(t, "-").Get(path).Want(200)
		}
	})
	t.Run("only masters may act", func(t *testing.T) {
		as(t, "mastertoken").Get(namespacePath).Want(200)
		for token, user := range map[string]string{"usertoken": "user", "plaintoken": "plain"} {
			as(t, token).Get(namespacePath).
				WantStatus(403, "Forbidden", `namespaces is forbidden: User "`+user+`" cannot list resource "namespaces" in API group "" at the cluster scope`)
			as(t, token).Delete(configMaps("default")+"/x").
				WantStatus(403, "Forbidden", `configmaps "x" is forbidden: User "`+user+`" cannot delete resource "configmaps" in API group "" in the namespace "default"`)
		}
	})
	t.Run("a review is answered whatever its metadata, which nobody owns", func(t *testing.T) {
		const managed = `{"managedFields":[{"manager":"m","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{}}}]}`
		for token, want := range map[string]string{"plaintoken": "", "wrong": "invalid bearer token"} {
			as(t, "mastertoken").Post("/apis/authentication.k8s.io/v1/tokenreviews", `{"metadata":`+managed+`,"spec":{"token":"`+token+`"}}`).Want(201).Equal("status.error", want)
		}
		master := as(t, "mastertoken")
		master.Post("/apis/authentication.k8s.io/v1/tokenreviews", `{"metadata":{"name":"No Name"},"spec":{"token":"x"}}`).Want(201)
		master.Post("/apis/authorization.k8s.io/v1/subjectaccessreviews", `{"spec":{"user":"u","nonResourceAttributes":{"path":"/","verb":"get"}}}`).Want(201)
		master.Post("/apis/authorization.k8s.io/v1/subjectaccessreviews", `{"metadata":{"name":"n"},"spec":{"user":"u","nonResourceAttributes":{"path":"/","verb":"get"}}}`).
			WantStatus(422, "Invalid", `metadata: Invalid value: {"name":"n"}: must be empty`)
	})
	t.Run("the kubeconfig is the owner's alone", func(t *testing.T) {
		info, err := os.Stat(g.Kubeconfig)
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("mode %v: %v", info.Mode(), err)
		}
	})
}

// TestSecondGateway runs two gateways over one etcd: the first one's.
func TestSecondGateway(t *testing.T) {
	harness.SkipExternal(t)
	t.Parallel()
	t.Run("PER-01 RV-05 another gateway over the same etcd shows the same", func(t *testing.T) {
		first := harness.Start(t, harness.Options{})
		c := newCronTabs(t, &first.Server, nil)
		c.create("one")
		second := harness.Start(t, harness.Options{EtcdServers: first.EtcdURL})
		there := *c
		there.s, there.api = &second.Server, second.API(t)
		there.awaitServed("v1")
		for _, path := range []string{c.path("v1", "one"), c.crdPath(), namespacePath + "/" + c.ns} {
			if a, b := c.api.Get(path).Want(200).Str(""), there.api.Get(path).Want(200).Str(""); a != b {
				t.Errorf("%s is\n%s\nand\n%s", path, a, b)
			}
		}
		// A write to one is in the next consistent list of the other.
		for _, name := range []string{"a", "b", "c", "d", "e"} {
			c.create(name)
			if !there.api.Get(c.list("v1")).Want(200).Contains(`"` + name + `"`) {
				t.Fatalf("%s is not in the other gateway's list", name)
			}
			there.touch(name, "9")
			c.api.Get(c.path("v1", name)).Want(200).Equal("spec.port", "9")
		}
		w := there.watch("resourceVersion=" + there.rv())
		c.create("watched")
		w.Expect("ADDED", "watched")
	})
}

// TestAnonymousMayBeTurnedOff_RBAC: without it, and where everybody may do everything,
// nothing is answered to who shows nothing.
func TestAnonymousMayBeTurnedOff_RBAC(t *testing.T) {
	t.Parallel()
	harness.SkipExternal(t)
	for _, args := range [][]string{{"--anonymous-auth=false"}, {"--authorization-mode=AlwaysAllow"}, {"--authorization-mode=RBAC,AlwaysAllow"}} {
		g := harness.Start(t, harness.Options{Args: args})
		nobody := g.API(t)
		nobody.Token = "-"
		for _, path := range []string{"/livez", "/version", "/api", namespacePath, "/nothing"} {
			nobody.Get(path).WantStatus(401, "Unauthorized", "Unauthorized")
		}
		nobody.Post(namespacePath, `{}`).WantStatus(401, "Unauthorized")
		g.API(t).Get("/livez").Want(200)
	}
}
