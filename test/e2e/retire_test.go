package e2e

import (
	"regexp"
	"testing"

	"github.com/wasmgate/wasmgate/test/harness"
)

// updateDefinition changes the definition, again when it was changed meanwhile.
func (c *cronTabs) updateDefinition(path string, edit func(crd object)) *harness.Reply {
	c.t.Helper()
	for {
		crd := c.api.Get(c.crdPath()).Want(200).Object()
		edit(crd)
		if r := c.api.Put(path, crd); r.Code != 409 {
			return r
		}
	}
}

// dropVersion takes a version out of a definition.
func dropVersion(crd object, version string) {
	var left []any
	for _, v := range crd.At("spec.versions").([]any) {
		if v.(map[string]any)["name"] != version {
			left = append(left, v)
		}
	}
	crd.Set("spec.versions", left)
}

// TestRetireVersion takes an old version out of use by hand, in the order that
// the documentation asks for, while clients of both are there.
func TestRetireVersion(t *testing.T) {
	s := harness.Shared(t)
	hook := harness.NewWebhook(t)
	c := newWebhookCronTabs(t, s, hook)
	for _, name := range []string{"a", "b", "c"} {
		c.api.Post(c.list("v1beta1"), c.object("v1beta1", name, `{"hostPort":"`+name+`:1"}`)).Want(201)
	}
	drop := func(crd object) { dropVersion(crd, "v1beta1") }
	both := func(t *testing.T, port string) {
		t.Helper()
		c.api.Get(c.path("v1", "a")).Want(200).Equal("spec.host", "a").Equal("spec.port", port)
		c.api.Get(c.path("v1beta1", "a")).Want(200).Equal("spec.hostPort", "a:"+port)
	}

	c.run("CRD-25 CRD-30 CRD-33 a new storage version changes nothing for clients", func(t *testing.T, c *cronTabs) {
		both(t, "1")
		c.updateDefinition(c.crdPath(), func(crd object) { storeAt(crd, "v1") }).Want(200)
		c.api.Eventually(c.crdPath(), func(r *harness.Reply) bool { return r.Str("status.storedVersions") == `["v1beta1","v1"]` })
		both(t, "1")
		c.api.Merge(c.path("v1beta1", "b"), `{"spec":{"hostPort":"b:2"}}`).Want(200)
		c.api.Merge(c.path("v1", "c"), `{"spec":{"port":"3"}}`).Want(200)
	})
	c.run("CRD-31 a version that is stored cannot go", func(t *testing.T, c *cronTabs) {
		c.updateDefinition(c.crdPath(), drop).WantStatus(422, "Invalid", `status.storedVersions[0]: Invalid value: "v1beta1"`, "spec.versions")
		if !s.External { // kube-apiserver believes whatever it is told
			c.updateDefinition(c.crdPath()+"/status", func(crd object) { crd.Set("status.storedVersions", []any{"v1beta1"}) }).
				WantStatus(422, "Invalid", "must have the storage version v1")
		}
	})
	c.run("CRD-27 CRD-32 CRD-33 identical PUTs migrate, and both versions are there meanwhile", func(t *testing.T, c *cronTabs) {
		for _, o := range c.api.Get(c.list("v1")).Want(200).Object().Items() {
			c.api.Put(c.path("v1", o.Str("metadata.name")), o).Want(200)
		}
		both(t, "1")
		if s.EtcdURL != "" {
			if got := storedVersions(t, s.Etcd(t), "/registry/"+c.group+"/crontabs/"); got[c.group+"/v1"] != 3 || len(got) != 1 {
				t.Errorf("stored are %v", got)
			}
		}
		c.updateDefinition(c.crdPath()+"/status", func(crd object) { crd.Set("status.storedVersions", []any{"v1"}) }).Want(200).Equal("status.storedVersions", `["v1"]`)
	})
	c.run("CRD-33 metrics show who uses the old version", func(t *testing.T, c *cronTabs) {
		metrics := c.api.Get("/metrics").Want(200)
		for _, version := range []string{"v1", "v1beta1"} {
			used := regexp.MustCompile(`(?m)^apiserver_request_total\{[^}]*group="` + regexp.QuoteMeta(c.group) + `"[^}]*verb="GET"[^}]*version="` + version + `"[^}]*\} [1-9]`)
			if !used.Match(metrics.Body) {
				t.Errorf("no GET at %s is counted", version)
			}
		}
	})
	c.run("CRD-33 not served, then dropped, then without a converter", func(t *testing.T, c *cronTabs) {
		c.serve(map[string]bool{"v1": true})
		c.api.Eventually(c.list("v1beta1"), func(r *harness.Reply) bool { return r.Code == 404 })
		c.awaitServed("v1")
		c.updateDefinition(c.crdPath(), drop).Want(200)
		c.updateDefinition(c.crdPath(), func(crd object) { crd.Set("spec.conversion", map[string]any{"strategy": "None"}) }).Want(200)
		c.awaitServed("v1")
		asked := len(hook.Reviews())
		c.api.Get(c.path("v1", "b")).Want(200).Equal("spec.host", "b").Equal("spec.port", "2")
		c.api.Get(c.path("v1", "c")).Want(200).Equal("spec.port", "3")
		c.touch("a", "4")
		c.api.Get(c.list("v1")).Want(200).Equal("items.0.spec.port", "4").Equal("items.0.spec.hostPort", "")
		if now := len(hook.Reviews()); now != asked && !s.External { // kube-apiserver's caches end later
			t.Errorf("the converter was asked %d times more", now-asked)
		}
	})
}
