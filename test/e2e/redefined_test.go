package e2e

import (
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/test/harness"
)

// schemaOf gives one version of the definition another schema of its spec.
func (c *cronTabs) schemaOf(version, spec string) {
	c.t.Helper()
	c.updateDefinition(c.crdPath(), func(crd object) {
		for _, v := range crd.At("spec.versions").([]any) {
			if v := object(v.(map[string]any)); v["name"] == version {
				v.Set("schema.openAPIV3Schema", parse(c.t, `{"type":"object","properties":{"spec":{"type":"object","properties":{`+spec+`}}}}`))
			}
		}
	}).Want(200)
}

// TestSchemaChangesAtRunTime changes definitions under objects that were read,
// listed and watched before.
func TestSchemaChangesAtRunTime(t *testing.T) {
	c := newCronTabs(t, harness.Shared(t), nil)
	const before = `"host":{"type":"string"},"size":{"type":"integer"}`
	c.schemaOf("v1", before)
	c.api.Eventually(c.crdPath(), func(r *harness.Reply) bool { return r.Code == 200 })
	c.api.Eventually(c.list("v1")+"?dryRun=All", func(*harness.Reply) bool {
		return c.api.Do("POST", c.list("v1")+"?dryRun=All", c.object("v1", "x", `{"size":1}`)).Str("spec.size") == "1"
	})
	c.api.Post(c.list("v1"), c.object("v1", "one", `{"host":"h","size":3}`)).Want(201)
	c.api.Get(c.list("v1")).Want(200).Equal("items.0.spec.size", "3")

	c.run("CRD-05 what is cached gets the new defaults and loses what the schema lacks", func(t *testing.T, c *cronTabs) {
		c.schemaOf("v1", `"host":{"type":"string"},"colour":{"type":"string","default":"red"}`)
		c.api.Eventually(c.path("v1", "one"), func(r *harness.Reply) bool { return r.Str("spec.colour") == "red" && r.Str("spec.size") == "" })
		c.api.Get(c.list("v1")).Want(200).Equal("items.0.spec.colour", "red").Equal("items.0.spec.size", "")
		w := c.api.Watch(c.list("v1") + "?watch=1")
		if e := w.Expect("ADDED", "one"); e.Object.Str("spec.colour") != "red" || e.Object.Str("spec.size") != "" {
			t.Errorf("a watch begins with %v", e.Object)
		}
	})
	c.run("CRD-26 nothing was rewritten, so a field that returns is there again", func(t *testing.T, c *cronTabs) {
		c.schemaOf("v1", before)
		c.api.Eventually(c.path("v1", "one"), func(r *harness.Reply) bool { return r.Str("spec.size") == "3" && r.Str("spec.colour") == "" })
	})
	c.run("CRD-01 a change is published in discovery and in both OpenAPI documents", func(t *testing.T, c *cronTabs) {
		mark := "mark" + unique()
		c.updateDefinition(c.crdPath(), func(crd object) {
			crd.Set("spec.names.categories", []any{mark})
			for _, v := range crd.At("spec.versions").([]any) {
				object(v.(map[string]any)).Set("schema.openAPIV3Schema.description", mark)
			}
		}).Want(200)
		for _, path := range []string{"/apis/" + c.group + "/v1", "/openapi/v3/apis/" + c.group + "/v1", "/openapi/v2"} {
			c.api.Eventually(path, func(r *harness.Reply) bool { return r.Code == 200 && r.Contains(mark) })
		}
	})
	c.run("CRD-04 watches of a version that is taken away end", func(t *testing.T, c *cronTabs) {
		w := c.api.Watch(c.list("v1beta1") + "?watch=1")
		w.Expect("ADDED", "one")
		c.serve(map[string]bool{"v1": true})
		w.End()
		c.api.Eventually(c.list("v1beta1"), func(r *harness.Reply) bool { return r.Code == 404 })
		c.api.Get(c.path("v1", "one")).Want(200).Equal("spec.size", "3")
	})
}

// TestDefinitionMadeAgain deletes a definition and makes it again, with another
// scope and another schema: nothing of the first is left.
func TestDefinitionMadeAgain(t *testing.T) {
	c := newCronTabs(t, harness.Shared(t), nil)
	c.create("one")
	crd := c.api.Get(c.crdPath()).Want(200).Object()
	c.run("WATCH-02 watchers are told of what goes with its definition", func(t *testing.T, c *cronTabs) {
		watches := []*harness.Stream{c.api.Watch(c.list("v1") + "?watch=1"), c.api.Watch(c.all("v1beta1") + "?watch=1&labelSelector=!x")}
		for _, w := range watches {
			w.Expect("ADDED", "one")
		}
		c.api.Delete(c.crdPath()).Want(200)
		for _, w := range watches {
			w.Expect("DELETED", "one")
			w.End()
		}
	})
	c.api.Eventually(c.crdPath(), func(r *harness.Reply) bool { return r.Code == 404 })
	again := object{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": map[string]any{"name": crd.Str("metadata.name")}, "spec": crd.At("spec")}
	again.Set("spec.scope", "Cluster")
	for _, v := range again.At("spec.versions").([]any) {
		object(v.(map[string]any)).Set("schema.openAPIV3Schema", parse(t, `{"type":"object","properties":{"size":{"type":"integer","default":7}}}`))
	}
	c.api.Post(crdPath, again).Want(201)

	c.run("CRD-02 it is served at its new scope, and only there", func(t *testing.T, c *cronTabs) {
		c.api.Eventually(c.all("v1"), func(r *harness.Reply) bool { return r.Code == 200 })
		c.api.Get(c.list("v1")).Want(404)
		c.api.Get(c.all("v1")).Want(200).Equal("items", `[]`)
		o := object{"apiVersion": c.group + "/v1", "kind": "CronTab", "metadata": map[string]any{"name": "one"}, "spec": map[string]any{"host": "h"}}
		c.api.Post(c.all("v1"), o).Want(201).Equal("size", "7").Equal("spec", "")
		c.api.Get(c.all("v1beta1")+"/one").Want(200).Equal("size", "7")
		c.api.Delete(c.all("v1") + "/one").Want(200)
	})
	c.run("CRD-01 and described at it", func(t *testing.T, c *cronTabs) {
		c.api.Eventually("/apis/"+c.group+"/v1", func(r *harness.Reply) bool { return r.Code == 200 && r.Str("resources.0.namespaced") == "false" })
		c.api.Eventually("/openapi/v3/apis/"+c.group+"/v1", func(r *harness.Reply) bool {
			return r.Code == 200 && r.Contains("/v1/crontabs/{name}") && !r.Contains("/namespaces/{namespace}/crontabs")
		})
	})
}

// TestNamesReleasedAndTakenOver has two definitions that want the same names.
func TestNamesReleasedAndTakenOver(t *testing.T) {
	s := harness.Shared(t)
	api, group := s.API(t), "g"+unique()+".example.com"
	define := func(plural, kind, short string) string {
		text := `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"PLURAL.GROUP"},"spec":{"group":"GROUP","scope":"Cluster",
		 "names":{"plural":"PLURAL","kind":"KIND","shortNames":["SHORT"]},"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}}`
		api.Post(crdPath, parse(t, strings.NewReplacer("PLURAL", plural, "GROUP", group, "KIND", kind, "SHORT", short).Replace(text))).Want(201)
		path := crdPath + "/" + plural + "." + group
		t.Cleanup(func() { _, _ = api.Try("DELETE", path, nil) })
		return path
	}
	condition := func(r *harness.Reply, name string) string {
		list, _ := r.Object().At("status.conditions").([]any)
		for _, c := range list {
			if c := object(c.(map[string]any)); c.Str("type") == name {
				return c.Str("status") + " " + c.Str("reason")
			}
		}
		return ""
	}
	served := func(r *harness.Reply) bool { return r.Code == 200 && r.Contains("List") }
	first := define("ones", "Thing", "th")
	api.Eventually("/apis/"+group+"/v1/ones", served)

	t.Run("CRD-02 a kind that is taken is refused, and its definition not served", func(t *testing.T) {
		second := define("twos", "Thing", "tw")
		api.Eventually(second, func(r *harness.Reply) bool {
			return condition(r, "NamesAccepted") == "False ListKindConflict" && condition(r, "Established") == "False NotAccepted"
		})
		api.Get("/apis/" + group + "/v1/twos").Want(404)
	})
	t.Run("CRD-02 a short name that is taken is not given, and then it is", func(t *testing.T) {
		third := define("threes", "Other", "th")
		api.Eventually(third, func(r *harness.Reply) bool { return condition(r, "NamesAccepted") == "False ShortNamesConflict" })
		for { // until nobody else wrote it meanwhile
			crd := api.Get(first).Want(200).Object()
			if api.Put(first, crd.Set("spec.names.shortNames", []any{"released"})).Code == 200 {
				break
			}
		}
		api.Eventually(third, func(r *harness.Reply) bool {
			return condition(r, "NamesAccepted") == "True NoConflicts" && condition(r, "Established") == "True InitialNamesAccepted"
		})
		api.Eventually("/apis/"+group+"/v1/threes", served)
	})
	t.Run("CRD-02 who waits takes over the names of one that is deleted", func(t *testing.T) {
		api.Delete(first).Want(200)
		api.Eventually("/apis/"+group+"/v1/twos", served)
		api.Eventually("/apis/"+group+"/v1/ones", func(r *harness.Reply) bool { return r.Code == 404 })
	})
}
