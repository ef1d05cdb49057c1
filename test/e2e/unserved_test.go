package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/wasmgate/wasmgate/test/harness"
)

// TestUnservedVersions stops serving a version while a client uses it and objects are
// stored at it, and starts the gateway again.
func TestUnservedVersions(t *testing.T) {
	harness.SkipExternal(t)
	t.Parallel()
	dir := t.TempDir()
	log, tokens := filepath.Join(dir, "audit.log"), filepath.Join(dir, "tokens.csv")
	if err := os.WriteFile(tokens, []byte("oldtoken,oldclient,1,system:masters\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	g := harness.Start(t, harness.Options{Args: []string{"--token-auth-file", tokens, "--audit-log-path", log}})
	c := newWebhookCronTabs(t, &g.Server, harness.NewWebhook(t))
	old := g.API(t)
	old.Token = "oldtoken"
	old.Post(c.list("v1beta1"), c.object("v1beta1", "a", `{"hostPort":"a:1"}`)).Want(201)
	c.api.Post(c.list("v1"), c.object("v1", "b", `{"host":"b","port":"2"}`)).Want(201)

	c.run("CRD-33 the audit log shows who uses the old version", func(t *testing.T, c *cronTabs) {
		var users []string
		harness.Eventually(t, "the client in the audit log", func() bool {
			users = nil
			for _, e := range readAudit(t, log) {
				if e.Str("objectRef.apiGroup") == c.group && e.Str("objectRef.apiVersion") == "v1beta1" && e.Str("verb") == "create" {
					users = append(users, e.Str("user.username"))
				}
			}
			return len(users) > 0
		})
		if !slices.Equal(users, []string{"oldclient"}) {
			t.Errorf("%q", users)
		}
	})
	c.run("VER-12 what is stored at a version that is served no longer is read, after a restart too", func(t *testing.T, c *cronTabs) {
		c.updateDefinition(c.crdPath(), func(crd object) { storeAt(crd, "v1") }).Want(200)
		c.serve(map[string]bool{"v1": true})
		c.api.Eventually(c.list("v1beta1"), func(r *harness.Reply) bool { return r.Code == 404 })
		readable := func(api *harness.API) {
			t.Helper()
			api.Get(c.path("v1", "a")).Want(200).Equal("spec.host", "a").Equal("spec.port", "1")
			api.Get(c.list("v1")).Want(200).Equal("items.0.spec.host", "a").Equal("items.1.spec.host", "b")
			api.Get(c.path("v1beta1", "a")).Want(404)
			if got := storedVersions(t, g.Etcd(t), "/registry/"+c.group+"/crontabs/"); got[c.group+"/v1beta1"] != 2 || len(got) != 1 {
				t.Errorf("stored are %v", got)
			}
		}
		readable(c.api)
		g.Terminate(t)
		g.Restart(t)
		api := g.API(t)
		readable(api)
		api.Merge(c.path("v1", "b"), `{"spec":{"port":"3"}}`).Want(200).Equal("spec.host", "b").Equal("spec.port", "3")
	})
}
