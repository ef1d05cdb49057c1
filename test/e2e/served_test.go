package e2e

import (
	"testing"

	"github.com/wasmgate/wasmgate/test/harness"
)

// serve says which versions of the definition are served.
func (c *cronTabs) serve(served map[string]bool) {
	c.t.Helper()
	c.updateDefinition(c.crdPath(), func(crd object) {
		for _, v := range crd.At("spec.versions").([]any) {
			v := v.(map[string]any)
			v["served"] = served[v["name"].(string)]
		}
	}).Want(200)
}

// TestUnservedVersion takes the version away that objects are stored at.
func TestUnservedVersion(t *testing.T) {
	c := newCronTabs(t, harness.Shared(t), nil)
	c.create("one")
	c.serve(map[string]bool{"v1beta1": true})
	c.api.Eventually(c.list("v1"), func(r *harness.Reply) bool { return r.Code == 404 })

	c.run("CRD-04 the version answers 404 and leaves discovery", func(t *testing.T, c *cronTabs) {
		for _, path := range []string{c.path("v1", "one"), c.path("v1", "one") + "/status", c.all("v1"), c.list("v1") + "?watch=1"} {
			c.api.Get(path).Want(404)
		}
		c.api.Post(c.list("v1"), c.object("v1", "two", `{}`)).Want(404)
		c.patch(c.path("v1", "one"), mergePatch, `{}`).Want(404)
		c.api.Delete(c.path("v1", "one")).Want(404)
		c.api.Eventually("/apis/"+c.group+"/v1", func(r *harness.Reply) bool { return r.Code == 404 })
		c.api.Eventually("/apis/"+c.group, func(r *harness.Reply) bool {
			return r.Code == 200 && r.Str("preferredVersion.version") == "v1beta1" && r.Str("versions.1") == ""
		})
	})
	c.run("CRD-28 what is stored at it is read and written at the others", func(t *testing.T, c *cronTabs) {
		c.api.Get(c.path("v1beta1", "one")).Want(200).Equal("spec.host", "one").Equal("apiVersion", c.group+"/v1beta1")
		c.api.Get(c.list("v1beta1")).Want(200).Equal("items.0.spec.host", "one")
		start := c.api.Get(c.list("v1beta1")).Want(200).Object().RV()
		o := c.api.Get(c.path("v1beta1", "one")).Object()
		c.api.Put(c.path("v1beta1", "one"), o.Set("spec.port", "81")).Want(200).Equal("spec.port", "81")
		c.patch(c.path("v1beta1", "one"), mergePatch, `{"spec":{"replicas":3}}`).Want(200).Equal("spec.replicas", "3")
		c.api.Post(c.list("v1beta1"), c.object("v1beta1", "two", `{"host":"two"}`)).Want(201)
		w := c.api.Watch(c.list("v1beta1") + "?watch=1&resourceVersion=" + start)
		w.Expect("MODIFIED", "one")
		if e := w.Expect("MODIFIED", "one"); e.Object.Str("apiVersion") != c.group+"/v1beta1" {
			t.Errorf("event %v", e.Object)
		}
		w.Expect("ADDED", "two")
		if c.s.EtcdURL != "" {
			if kept := stored(t, c.s.Etcd(t), c.storageKey("two")); kept.Str("apiVersion") != c.group+"/v1" {
				t.Errorf("stored at %s, and the storage version is v1", kept.Str("apiVersion"))
			}
		}
	})
	c.run("CRD-04 serving it again brings everything back", func(t *testing.T, c *cronTabs) {
		c.serve(map[string]bool{"v1": true, "v1beta1": true})
		c.awaitServed("v1")
		c.api.Get(c.path("v1", "one")).Want(200).Equal("spec.port", "81").Equal("spec.replicas", "3").Equal("apiVersion", c.group+"/v1")
		c.api.Get(c.path("v1", "two")).Want(200).Equal("spec.host", "two")
		c.api.Eventually("/apis/"+c.group, func(r *harness.Reply) bool { return r.Code == 200 && r.Str("preferredVersion.version") == "v1" })
		c.touch("one", "82")
	})
	c.run("CRD-04 no version served", func(t *testing.T, c *cronTabs) {
		c.serve(nil)
		c.api.Eventually(c.list("v1beta1"), func(r *harness.Reply) bool { return r.Code == 404 })
		c.api.Eventually("/apis/"+c.group, func(r *harness.Reply) bool { return r.Code == 404 })
		c.serve(map[string]bool{"v1": true})
		c.awaitServed("v1")
		c.api.Get(c.path("v1", "one")).Want(200).Equal("spec.port", "82")
	})
}

// TestVersionsDiffer has two versions with a schema, columns and subresources
// of their own.
func TestVersionsDiffer(t *testing.T) {
	c := newCronTabs(t, harness.Shared(t), func(crd object) {
		for _, v := range crd.At("spec.versions").([]any) {
			v := object(v.(map[string]any))
			if v["name"] == "v1beta1" {
				delete(v, "subresources")
				v.Set("schema.openAPIV3Schema", parse(t, `{"type":"object","properties":{"spec":{"type":"object","properties":{
					"size":{"type":"integer","maximum":5,"default":2},"old":{"type":"string"}}}}}`))
				v["additionalPrinterColumns"] = []any{map[string]any{"name": "Size", "type": "integer", "jsonPath": ".spec.size"}}
			} else {
				v.Set("schema.openAPIV3Schema", parse(t, `{"type":"object","properties":{"spec":{"type":"object","properties":{
					"size":{"type":"integer","maximum":9,"default":7},"new":{"type":"string"}}},"status":{"type":"object","properties":{"phase":{"type":"string"}}}}}`))
			}
		}
	})
	make := func(version, name, spec string) object { return c.object(version, name, spec) }
	c.run("CRD-05 the version of the request prunes, fills in and validates", func(t *testing.T, c *cronTabs) {
		// The field "new" is known where it is stored; "old" is not, so it goes too.
		c.api.Post(c.list("v1beta1"), make("v1beta1", "old", `{"old":"o","new":"n"}`)).Want(201).Equal("spec", `{"size":2}`)
		c.api.Post(c.list("v1"), make("v1", "new", `{"old":"o","new":"n"}`)).Want(201).Equal("spec", `{"new":"n","size":7}`)
		c.api.Post(c.list("v1beta1"), make("v1beta1", "bad", `{"size":6}`)).WantStatus(422, "Invalid", "spec.size in body should be less than or equal to 5")
		c.api.Post(c.list("v1"), make("v1", "six", `{"size":6}`)).Want(201).Equal("spec.size", "6")
		c.api.Post(c.list("v1"), make("v1", "bad", `{"size":10}`)).WantStatus(422, "Invalid", "less than or equal to 9")
		// What v1 allows is read at v1beta1, but not written.
		six := c.api.Get(c.path("v1beta1", "six")).Want(200).Equal("spec.size", "6").Object()
		six.Set("metadata.labels", map[string]any{"a": "b"}).Set("spec.size", 8)
		c.api.Put(c.path("v1beta1", "six"), six).WantStatus(422, "Invalid", "less than or equal to 5")
	})
	c.run("CRD-06 subresources and columns are a version's own", func(t *testing.T, c *cronTabs) {
		c.api.Get(c.path("v1beta1", "new") + "/status").Want(404)
		c.api.Get(c.path("v1", "new")+"/status").Want(200).Equal("kind", "CronTab")
		if got := columns(c.api.Get(c.list("v1beta1"), "Accept", tableAccept).Want(200).Object()); got != "Name:string:0 Size:integer:0" {
			t.Errorf("columns at v1beta1: %s", got)
		}
		if got := columns(c.api.Get(c.list("v1"), "Accept", tableAccept).Want(200).Object()); got != "Name:string:0 Host:string:0 Replicas:integer:1" {
			t.Errorf("columns at v1: %s", got)
		}
		for _, v := range []string{"v1", "v1beta1"} {
			doc := c.api.Get("/apis/" + c.group + "/" + v).Want(200)
			if got := doc.Contains("crontabs/status"); got != (v == "v1") {
				t.Errorf("%s has a status in discovery: %t", v, got)
			}
		}
	})
	c.run("CRD-06 the fields of the old form are unknown", func(t *testing.T, c *cronTabs) {
		crd := c.api.Get(c.crdPath()).Want(200).Object()
		crd = object{"apiVersion": crd["apiVersion"], "kind": crd["kind"], "metadata": map[string]any{"name": "others." + c.group}, "spec": crd["spec"]}
		crd.Set("spec.names", map[string]any{"plural": "others", "kind": "Other"})
		for field, value := range map[string]any{"version": "v1", "validation": map[string]any{}, "subresources": map[string]any{}, "additionalPrinterColumns": []any{}} {
			crd.Set("spec."+field, value)
			c.api.Post(crdPath+"?fieldValidation=Strict", crd).WantStatus(400, "BadRequest", `unknown field "spec.`+field+`"`)
			delete(crd["spec"].(map[string]any), field)
		}
		crd.Set("spec.preserveUnknownFields", true)
		c.api.Post(crdPath, crd).WantStatus(422, "Invalid", "spec.preserveUnknownFields: Invalid value: true")
	})
}
