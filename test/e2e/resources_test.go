package e2e

import (
	"slices"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/test/harness"
)

func TestResources(t *testing.T) {
	s := harness.Shared(t)
	c := newCronTabs(t, s, nil)
	c.create("one")

	findsResources(c)
	namesResources(c)
}

// findsResources shows the paths of groups, scopes and namespaces.
func findsResources(c *cronTabs) {
	c.run("RES-01 named groups are below apis, the core group below api", func(t *testing.T, c *cronTabs) {
		c.api.Post(configMaps(c.ns), configMap(t, c.ns, "core", `{}`)).Want(201)
		for path, want := range map[string][2]string{
			namespacePath:                         {"v1", "NamespaceList"},
			namespacePath + "/" + c.ns:            {"v1", "Namespace"},
			"/api/v1/configmaps":                  {"v1", "ConfigMapList"},
			configMaps(c.ns):                      {"v1", "ConfigMapList"},
			configMaps(c.ns) + "/core":            {"v1", "ConfigMap"},
			crdPath:                               {"apiextensions.k8s.io/v1", "CustomResourceDefinitionList"},
			c.crdPath():                           {"apiextensions.k8s.io/v1", "CustomResourceDefinition"},
			c.all("v1"):                           {c.group + "/v1", "CronTabList"},
			c.list("v1beta1"):                     {c.group + "/v1beta1", "CronTabList"},
			c.path("v1", "one"):                   {c.group + "/v1", "CronTab"},
			c.path("v1beta1", "one"):              {c.group + "/v1beta1", "CronTab"},
			c.path("v1", "one") + "?a=b":          {c.group + "/v1", "CronTab"},
			"/apis/coordination.k8s.io/v1/leases": {"coordination.k8s.io/v1", "LeaseList"},
		} {
			c.api.Get(path).Want(200).Equal("apiVersion", want[0]).Equal("kind", want[1])
		}
		for _, path := range []string{
			"/apis/v1/namespaces", "/apis/core/v1/namespaces", "/api/v2/namespaces", "/api/namespaces", "/apis/" + c.group + "/crontabs",
			"/apis/" + c.group + "/v1/CronTabs", "/apis/" + c.group + "/v1/crontab", "/apis/nothing." + c.group + "/v1/crontabs", c.path("v1", "one") + "/a/b",
		} {
			c.api.Get(path).Want(404)
		}
		c.api.Get("/api/" + c.group + "/v1/crontabs").Want(404)
		c.api.Get("/apis/" + c.group + "/v9/crontabs").Want(404)
	})
	c.run("RES-02 cluster-scoped types have no namespace segment", func(t *testing.T, c *cronTabs) {
		c.api.Get(crdPath).Want(200).Equal("kind", "CustomResourceDefinitionList")
		c.api.Get(c.crdPath()).Want(200).Equal("metadata.name", "crontabs."+c.group)
		c.api.Get(crdPath+"/nothings."+c.group).WantStatus(404, "NotFound", `"nothings.`+c.group+`" not found`).
			Equal("details.kind", "customresourcedefinitions").Equal("details.name", "nothings."+c.group)
		c.api.Get("/apis/apiextensions.k8s.io/v1/namespaces/" + c.ns + "/customresourcedefinitions").Want(404)
	})
	c.run("RES-03 namespaced types are listed in one and in all namespaces", func(t *testing.T, c *cronTabs) {
		other := *c
		other.ns = namespace(t, c.api)
		other.create("two")
		if got := c.api.Get(c.list("v1")).Want(200).Object().Names(); got != "one" {
			t.Errorf("in %s: %q", c.ns, got)
		}
		if got := c.api.Get(c.all("v1")).Want(200).Object().Items(); len(got) != 2 {
			t.Errorf("in all namespaces: %v", got)
		}
		c.api.Get(other.path("v1", "two")).Want(200).Equal("metadata.namespace", other.ns)
		c.api.Get(c.path("v1", "two")).WantStatus(404, "NotFound", `crontabs.`+c.group+` "two" not found`)
		c.api.Get("/apis/" + c.group + "/v1/namespaces/nowhere-at-all/crontabs").Want(200)
	})
	c.run("RES-04 namespaces are a type of their own", func(t *testing.T, c *cronTabs) {
		c.api.Get(namespacePath).Want(200).Equal("kind", "NamespaceList")
		c.api.Get(namespacePath+"/"+c.ns).Want(200).Equal("kind", "Namespace").Equal("status.phase", "Active").
			Equal("metadata.labels.kubernetes.io/metadata.name", c.ns)
		c.api.Get(namespacePath+"/nowhere-at-all").WantStatus(404, "NotFound", `namespaces "nowhere-at-all" not found`)
		c.api.Post("/apis/"+c.group+"/v1/namespaces/nowhere-at-all/crontabs", object{
			"apiVersion": c.group + "/v1", "kind": "CronTab", "metadata": map[string]any{"name": "x"},
		}).WantStatus(404, "NotFound", `namespaces "nowhere-at-all" not found`)
	})
}

// namesResources shows subresources, kinds and names.
func namesResources(c *cronTabs) {
	c.run("RES-06 subresources have paths and verbs of their own", func(t *testing.T, c *cronTabs) {
		status := c.path("v1", "one") + "/status"
		c.api.Get(status).Want(200).Equal("kind", "CronTab")
		c.api.Post(status, `{}`).WantStatus(405, "MethodNotAllowed")
		c.api.Delete(status).WantStatus(405, "MethodNotAllowed")
		c.api.Get(c.path("v1", "one") + "/nothing").Want(404)
		c.api.Get(c.list("v1")+"/status").WantStatus(404, "NotFound", `"status" not found`)
		c.api.Merge(status, `{"spec":{"host":"changed"},"status":{"phase":"Running"}}`).Want(200).
			Equal("status.phase", "Running").Equal("spec.host", "one")
		c.api.Merge(c.path("v1", "one"), `{"spec":{"port":"81"},"status":{"phase":"Changed"}}`).Want(200).
			Equal("status.phase", "Running").Equal("spec.port", "81")
		o := c.api.Get(c.path("v1", "one")).Want(200).Object()
		c.api.Put(status, o.Set("status.phase", "Put").Set("spec.port", "82")).Want(200).Equal("status.phase", "Put").Equal("spec.port", "81")
		// The verbs of a subresource are its own, in either scope.
		for path, allowed := range map[string]string{
			status:                                   "GET PUT PATCH",
			c.crdPath() + "/status":                  "GET PUT PATCH",
			namespacePath + "/" + c.ns + "/status":   "GET PUT PATCH",
			namespacePath + "/" + c.ns + "/finalize": "PUT",
		} {
			for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE"} {
				// An unknown media type is the next thing to be refused.
				r := c.api.Do(method, path, "x", "Content-Type", "text/csv")
				if got, want := r.Code != 405, strings.Contains(" "+allowed+" ", " "+method+" "); got != want {
					t.Errorf("%s %s: %d", method, path, r.Code)
				}
			}
		}
		doc := c.api.Get("/apis/" + c.group + "/v1").Want(200).Object()
		if got := resource(t, doc, "crontabs/status").Str("verbs"); sorted(got) != sorted(`["get","patch","update"]`) {
			t.Errorf("verbs of the status: %s", got)
		}
	})
	c.run("RES-07 kind, URL name and collection kind", func(t *testing.T, c *cronTabs) {
		c.api.Get(c.list("v1")).Want(200).Equal("kind", "CronTabList")
		r := resource(t, c.api.Get("/apis/"+c.group+"/v1").Want(200).Object(), "crontabs")
		for path, want := range map[string]string{
			"kind": "CronTab", "singularName": "crontab", "shortNames": `["ct"]`, "categories": `["all"]`, "namespaced": "true",
			"verbs": `["delete","deletecollection","get","list","patch","create","update","watch"]`,
		} {
			if got := r.Str(path); sorted(got) != sorted(want) {
				t.Errorf("%s is %s, want %s", path, got, want)
			}
		}
	})
	c.run("RES-09 a name is unique per type and namespace, and can be used again", func(t *testing.T, c *cronTabs) {
		first := c.api.Get(c.path("v1", "one")).Want(200).Object()
		c.api.Post(c.list("v1"), c.object("v1", "one", `{}`)).
			WantStatus(409, "AlreadyExists", `crontabs.`+c.group+` "one" already exists`)
		c.api.Post(configMaps(c.ns), configMap(t, c.ns, "one", `{}`)).Want(201)
		c.api.Delete(c.path("v1", "one")).Want(200).Equal("status", "Success").Equal("details.uid", first.Str("metadata.uid"))
		again := c.api.Post(c.list("v1"), c.object("v1", "one", `{}`)).Want(201).Object()
		if again.Str("metadata.uid") == first.Str("metadata.uid") {
			t.Error("the new object has the old one's uid")
		}
	})
}

func TestDiscovery(t *testing.T) {
	s := harness.Shared(t)
	t.Run("RES-10 discovery documents follow definitions without a restart", func(t *testing.T) {
		api := s.API(t)
		api.Get("/api").Want(200).Equal("kind", "APIVersions").Equal("versions", `["v1"]`)
		api.Get("/api/v1").Want(200).Equal("kind", "APIResourceList").Equal("groupVersion", "v1")
		if api.Get("/version").Want(200).Str("gitVersion") == "" {
			t.Error("no gitVersion")
		}
		c := newCronTabs(t, s, nil)
		awaitDocument(t, api, "/apis", c.group)
		api.Get("/apis/"+c.group).Want(200).Equal("kind", "APIGroup").
			Equal("preferredVersion.version", "v1").Equal("versions.0.version", "v1").Equal("versions.1.version", "v1beta1")
		awaitDocument(t, api, "/openapi/v2", c.group)
		index := awaitDocument(t, api, "/openapi/v3", "apis/"+c.group+"/v1")
		doc := api.Get(index.Object().At("paths").(map[string]any)["apis/"+c.group+"/v1"].(map[string]any)["serverRelativeURL"].(string)).Want(200)
		for _, part := range []string{"fieldValidation", "dryRun", "the host to run on", "x-kubernetes-group-version-kind"} {
			if !doc.Contains(part) {
				t.Errorf("the OpenAPI document lacks %q", part)
			}
		}
		api.Delete(c.crdPath()).Want(200)
		api.Eventually("/apis", func(r *harness.Reply) bool { return r.Code == 200 && !r.Contains(c.group) })
		api.Eventually(c.list("v1"), func(r *harness.Reply) bool { return r.Code == 404 })
		api.Eventually("/openapi/v3", func(r *harness.Reply) bool { return r.Code == 200 && !r.Contains(c.group) })
	})
	t.Run("RES-10 aggregated discovery lists every type in one document", func(t *testing.T) {
		c := newCronTabs(t, s, nil)
		const accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
		var doc object
		harness.Eventually(t, "the group is in aggregated discovery", func() bool {
			r := s.API(t).Get("/apis", "Accept", accept).Want(200)
			doc = r.Object()
			return r.Contains(c.group)
		})
		if doc.Str("kind") != "APIGroupDiscoveryList" || doc.Str("apiVersion") != "apidiscovery.k8s.io/v2" {
			t.Fatalf("kind %s, apiVersion %s", doc.Str("kind"), doc.Str("apiVersion"))
		}
		for _, g := range doc.Items() {
			if g.Str("metadata.name") != c.group {
				continue
			}
			if g.Str("versions.0.version") != "v1" || g.Str("versions.0.resources.0.resource") != "crontabs" ||
				g.Str("versions.0.resources.0.responseKind.kind") != "CronTab" || g.Str("versions.0.resources.0.scope") != "Namespaced" {
				t.Errorf("the group is described as %v", g)
			}
			return
		}
		t.Error("the group is not an item")
	})
}

// TestNamespaceDeletion needs the namespace controller, which is a part of
// wasmgate but not of kube-apiserver.
func TestNamespaceDeletion(t *testing.T) {
	harness.SkipExternal(t)
	s := harness.Shared(t)
	t.Run("RES-05 a deleted namespace goes when everything in it has gone", func(t *testing.T) {
		t.Parallel()
		c := newCronTabs(t, s, nil)
		api := s.API(t)
		held := c.object("v1", "held", `{}`)
		held.Set("metadata.finalizers", []any{"example.com/hold"})
		api.Post(c.list("v1"), held).Want(201)
		c.create("free")
		keep := configMap(t, c.ns, "keep", `{}`)
		keep.Set("metadata.finalizers", []any{"example.com/hold"})
		api.Post(configMaps(c.ns), keep).Want(201)
		api.Post(configMaps(c.ns), configMap(t, c.ns, "free", `{}`)).Want(201)

		api.Delete(namespacePath+"/"+c.ns).Want(200).Equal("status.phase", "Terminating")
		api.Eventually(c.path("v1", "free"), func(r *harness.Reply) bool { return r.Code == 404 })
		api.Eventually(configMaps(c.ns)+"/free", func(r *harness.Reply) bool { return r.Code == 404 })
		api.Eventually(c.path("v1", "held"), func(r *harness.Reply) bool { return r.Str("metadata.deletionTimestamp") != "" })
		api.Eventually(configMaps(c.ns)+"/keep", func(r *harness.Reply) bool { return r.Str("metadata.deletionTimestamp") != "" })
		api.Get(namespacePath+"/"+c.ns).Want(200).Equal("status.phase", "Terminating")
		api.Post(configMaps(c.ns), configMap(t, c.ns, "late", `{}`)).WantStatus(403, "Forbidden", "being terminated")

		api.Merge(c.path("v1", "held"), `{"metadata":{"finalizers":null}}`).Want(200)
		api.Merge(configMaps(c.ns)+"/keep", `{"metadata":{"finalizers":null}}`).Want(200)
		api.Eventually(namespacePath+"/"+c.ns, func(r *harness.Reply) bool { return r.Code == 404 })
	})
	t.Run("RES-05 a failing converter does not hold up a namespace", func(t *testing.T) {
		t.Parallel()
		hook := harness.NewWebhook(t)
		c := newWebhookCronTabs(t, s, hook)
		c.api.Post(c.list("v1beta1"), c.object("v1beta1", "one", `{"hostPort":"a:1"}`)).Want(201)
		hook.Inject(faults["it answers 500"])
		c.api.Delete(namespacePath + "/" + c.ns).Want(200)
		c.api.Eventually(namespacePath+"/"+c.ns, func(r *harness.Reply) bool { return r.Code == 404 })
	})
}

// resource returns one entry of an APIResourceList.
func resource(t testing.TB, list object, name string) object {
	t.Helper()
	all, _ := list["resources"].([]any)
	for _, r := range all {
		if r := object(r.(map[string]any)); r.Str("name") == name {
			return r
		}
	}
	t.Fatalf("no resource %q in %v", name, list)
	return nil
}

// sorted sorts the words of a printed list, so that order does not count.
func sorted(list string) string {
	words := strings.Split(strings.Trim(list, "[]"), ",")
	slices.Sort(words)
	return strings.Join(words, ",")
}

// awaitDocument waits until a document mentions text.
func awaitDocument(t testing.TB, api *harness.API, path, text string) *harness.Reply {
	t.Helper()
	return api.Eventually(path, func(r *harness.Reply) bool { return r.Code == 200 && r.Contains(text) })
}
