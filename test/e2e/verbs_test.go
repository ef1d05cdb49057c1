package e2e

import (
	"regexp"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/test/harness"
)

func TestVerbs(t *testing.T) {
	s := harness.Shared(t)
	c := newCronTabs(t, s, nil)

	c.run("VERB-01 requests are classified", func(t *testing.T, _ *cronTabs) {
		c := newCronTabs(t, s, nil) // a group that nobody else uses
		c.create("classified")
		c.api.Get(c.path("v1", "classified"))
		c.api.Get(c.list("v1"))
		c.api.Get(c.all("v1") + "?limit=1")
		c.watch("timeoutSeconds=1").End()
		c.api.Put(c.path("v1", "classified"), c.api.Get(c.path("v1", "classified")).Object()).Want(200)
		c.touch("classified", "1")
		c.api.Delete(c.path("v1", "classified")).Want(200)
		c.api.Delete(c.list("v1")).Want(200)
		// A list and a deletion of many have the scope of the collection. The
		// watch is counted when its handler returns, which may be later.
		want := map[string]string{
			"POST resource": "1", "PUT resource": "1", "PATCH resource": "1", "DELETE resource": "1", "DELETE namespace": "1",
			"LIST cluster": "1", "WATCH namespace": "1",
		}
		metrics := c.api.Eventually("/metrics", func(r *harness.Reply) bool {
			return requestsOf(r, c.group)["WATCH namespace"] == want["WATCH namespace"]
		})
		got := requestsOf(metrics, c.group)
		for k, n := range want {
			if got[k] != n {
				t.Errorf("%s requests of %s are counted, want %s; all: %v", got[k], k, n, got)
			}
		}
		// These were also made to see that the definition is served.
		if got["GET resource"] != "2" || got["LIST namespace"] == "" || len(got) != len(want)+2 {
			t.Errorf("counted are %v", got)
		}
	})
	c.run("VERB-02 create answers 201 with the stored object", func(t *testing.T, c *cronTabs) {
		made := c.api.Post(c.list("v1"), c.object("v1", "made", `{"host":"h","unknown":true}`)).Want(201).
			Equal("spec.host", "h").Equal("spec.suspend", "false").Equal("spec.unknown", "").Equal("metadata.generation", "1").Object()
		for _, field := range []string{"uid", "resourceVersion", "creationTimestamp"} {
			if made.Str("metadata."+field) == "" {
				t.Errorf("the reply has no metadata.%s", field)
			}
		}
		if got := c.api.Get(c.path("v1", "made")).Want(200).Object(); got.Str("metadata") != made.Str("metadata") || got.Str("spec") != made.Str("spec") {
			t.Errorf("created %v, then read %v", made, got)
		}
		generated := c.object("v1", "", `{}`)
		generated["metadata"] = map[string]any{"generateName": "made-"}
		if name := c.api.Post(c.list("v1"), generated).Want(201).Str("metadata.name"); !regexp.MustCompile(`^made-[a-z0-9]{5}$`).MatchString(name) {
			t.Errorf("generated name %q", name)
		}
	})
	verbsOfOneAndOfMany(s, c)
}

// verbsOfOneAndOfMany shows what PUT creates, and verbs of objects and of collections.
func verbsOfOneAndOfMany(s *harness.Server, c *cronTabs) {
	c.run("VERB-03 PUT creates only where the type permits", func(t *testing.T, c *cronTabs) {
		c.api.Put(c.path("v1", "missing"), c.object("v1", "missing", `{}`)).WantStatus(404, "NotFound", `"missing" not found`)
		c.api.Put(configMaps(c.ns)+"/missing", configMap(t, c.ns, "missing", `{}`)).WantStatus(404, "NotFound", `"missing" not found`)
		lease := object{"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": map[string]any{"name": "new", "namespace": c.ns}, "spec": map[string]any{"holderIdentity": "me"}}
		path := "/apis/coordination.k8s.io/v1/namespaces/" + c.ns + "/leases/new"
		c.api.Put(path+"?dryRun=All", lease).Want(201)
		c.api.Get(path).Want(404)
		made := c.api.Put(path, lease).Want(201).Equal("spec.holderIdentity", "me").Object()
		c.api.Put(path, made.Set("spec.holderIdentity", "you")).Want(200).Equal("spec.holderIdentity", "you").Equal("metadata.uid", made.Str("metadata.uid"))
	})
	c.run("VERB-04 single-object verbs take one object", func(t *testing.T, c *cronTabs) {
		item := c.object("v1", "a", `{}`)
		list := object{"apiVersion": c.group + "/v1", "kind": "CronTabList", "metadata": map[string]any{"name": "a"}, "items": []any{item}}
		c.api.Post(c.list("v1"), list).WantStatus(422, "Invalid", "must be CronTab")
		c.api.Post(c.list("v1"), []any{item}).WantStatus(400, "BadRequest", "cannot unmarshal array")
		c.api.Post(configMaps(c.ns), object{"apiVersion": "v1", "kind": "ConfigMapList", "items": []any{configMap(t, c.ns, "a", `{}`)}}).WantStatus(400, "BadRequest")
		c.api.Put(configMaps(c.ns), item).WantStatus(405, "MethodNotAllowed")
		c.api.Put(c.list("v1"), item).WantStatus(400, "BadRequest", "name must be provided")
		c.api.Merge(configMaps(c.ns), `{}`).WantStatus(405, "MethodNotAllowed")
		c.api.Merge(c.list("v1"), `{}`).WantStatus(400, "BadRequest", "name must be provided")
		c.api.Post(configMaps(c.ns)+"/a", item).WantStatus(405, "MethodNotAllowed")
		c.api.Get(c.path("v1", "a")).Want(404)
		if s.External { // kube-apiserver takes the first document and drops the rest
			return
		}
		two := ""
		for _, name := range []string{"a", "b"} {
			two += "---\napiVersion: " + c.group + "/v1\nkind: CronTab\nmetadata: {name: " + name + "}\n"
		}
		c.api.Post(c.list("v1"), two, "Content-Type", "application/yaml").WantStatus(400, "BadRequest", "document")
		c.api.Post(configMaps(c.ns), "kind: ConfigMap\napiVersion: v1\nmetadata: {name: a}\n---\n{}\n", "Content-Type", "application/yaml").WantStatus(400, "BadRequest", "document")
		c.api.Get(c.path("v1", "a")).Want(404)
		c.api.Get(configMaps(c.ns) + "/a").Want(404)
		// One document may have its marks.
		c.api.Post(c.list("v1"), "---\napiVersion: "+c.group+"/v1\nkind: CronTab\nmetadata: {name: marked}\n...\n", "Content-Type", "application/yaml").Want(201)
	})
	c.run("VERB-04 deletecollection honours selectors", func(t *testing.T, c *cronTabs) {
		own := newCronTabs(t, s, nil)
		own.createLabelled("a", `{"app":"x"}`)
		own.createLabelled("b", `{"app":"y"}`)
		own.createLabelled("c", `{"app":"x"}`)
		own.api.Delete(own.list("v1") + "?labelSelector=app%3Dx").Want(200)
		if got := own.api.Get(own.list("v1")).Want(200).Object().Names(); got != "b" {
			t.Errorf("left: %q", got)
		}
		own.create("d")
		own.api.Delete(own.list("v1") + "?fieldSelector=metadata.name%3Db").Want(200)
		if got := own.api.Get(own.list("v1")).Want(200).Object().Names(); got != "d" {
			t.Errorf("left: %q", got)
		}
	})
}

var (
	requestTotal = regexp.MustCompile(`(?m)^apiserver_request_total\{([^}]*)\} ([0-9.e+]+)$`)
	verbLabel    = regexp.MustCompile(`verb="([^"]*)"`)
	scopeLabel   = regexp.MustCompile(`scope="([^"]*)"`)
)

// requestsOf returns how many successful requests of a group
// apiserver_request_total counted, by verb and scope.
func requestsOf(metrics *harness.Reply, group string) map[string]string {
	counted := map[string]string{}
	for _, m := range requestTotal.FindAllStringSubmatch(string(metrics.Body), -1) {
		if strings.Contains(m[1], `group="`+group+`"`) && strings.Contains(m[1], `code="20`) {
			counted[verbLabel.FindStringSubmatch(m[1])[1]+" "+scopeLabel.FindStringSubmatch(m[1])[1]] = m[2]
		}
	}
	return counted
}
