package e2e

import (
	"encoding/json"
	"fmt"
	"sync"
	"testing"

	"github.com/wasmgate/wasmgate/test/harness"
)

const (
	mergePatch     = "application/merge-patch+json"
	jsonPatch      = "application/json-patch+json"
	strategicPatch = "application/strategic-merge-patch+json"
)

func (c *cronTabs) patch(path, kind, body string) *harness.Reply {
	c.t.Helper()
	return c.api.Do("PATCH", path, body, "Content-Type", kind)
}

func TestUpdates(t *testing.T) {
	c := newCronTabs(t, harness.Shared(t), nil)
	c.create("one")
	one := c.path("v1", "one")

	updatesByRevision(c, one)
	patchesByType(c, one)
	patchesByMerging(c, one)
}

// updatesByRevision shows which writes depend on the revision that is there.
func updatesByRevision(c *cronTabs, one string) {
	c.run("UPD-01 PUT needs the current revision", func(t *testing.T, c *cronTabs) {
		old := c.api.Get(one).Want(200).Object()
		changed := c.api.Put(one, old.Set("spec.port", "1")).Want(200).Object()
		if changed.RV() == old.RV() || changed.Str("metadata.generation") != "2" {
			t.Errorf("revision %s then %s, generation %s", old.RV(), changed.RV(), changed.Str("metadata.generation"))
		}
		c.api.Put(one, old.Set("spec.port", "2")).WantStatus(409, "Conflict", "the object has been modified; please apply your changes to the latest version and try again")
		c.api.Get(one).Want(200).Equal("spec.port", "1").Equal("metadata.resourceVersion", changed.RV())
		// Nothing changed, nothing is written.
		c.api.Put(one, changed).Want(200).Equal("metadata.resourceVersion", changed.RV())
		moved := c.api.Get(one).Object().Set("metadata.name", "other")
		c.api.Put(one, moved).WantStatus(400, "BadRequest", "the name of the object (other) does not match the name on the URL (one)")
		moved = c.api.Get(one).Object().Set("metadata.uid", "0000")
		c.api.Put(one, moved).WantStatus(409, "Conflict", "Precondition failed: UID in precondition: 0000")
	})
	c.run("UPD-02 PUT without a revision", func(t *testing.T, c *cronTabs) {
		c.api.Put(one, c.object("v1", "one", `{}`)).WantStatus(422, "Invalid", "metadata.resourceVersion: Invalid value", "must be specified for an update")
		c.api.Post(configMaps(c.ns), configMap(t, c.ns, "one", `{"a":"1"}`)).Want(201)
		c.api.Put(configMaps(c.ns)+"/one", configMap(t, c.ns, "one", `{"a":"2"}`)).Want(200).Equal("data.a", "2")
	})
	c.run("UPD-03 PATCH is conditional only when asked to be", func(t *testing.T, c *cronTabs) {
		c.patch(one, mergePatch, `{"spec":{"port":"3"}}`).Want(200)
		c.patch(one, mergePatch, `{"metadata":{"resourceVersion":"1"},"spec":{"port":"4"}}`).WantStatus(409, "Conflict", "the object has been modified")
		rv := c.api.Get(one).Equal("spec.port", "3").Object().RV()
		c.patch(one, mergePatch, `{"metadata":{"resourceVersion":"`+rv+`"},"spec":{"port":"4"}}`).Want(200).Equal("spec.port", "4")
		var wg sync.WaitGroup
		for w := range 4 {
			wg.Add(1)
			go func() {
				defer wg.Done()
				for i := range 10 {
					body := fmt.Sprintf(`{"metadata":{"labels":{"w%d":"v%d"}}}`, w, i)
					if r, err := c.api.Try("PATCH", one, body, "Content-Type", mergePatch); err != nil || r.Code != 200 {
						t.Errorf("concurrent patch: %v %v", r, err)
					}
				}
			}()
		}
		wg.Wait()
		c.api.Get(one).Equal("metadata.labels", `{"w0":"v9","w1":"v9","w2":"v9","w3":"v9"}`)
	})
}

// patchesByType shows what the Content-Type makes of a patch, and what JSON patches do.
func patchesByType(c *cronTabs, one string) {
	c.run("UPD-04 the Content-Type chooses the patch", func(t *testing.T, c *cronTabs) {
		for _, kind := range []string{"application/json", "text/plain", "application/merge-patch+yaml"} {
			c.patch(one, kind, `{}`).WantStatus(415, "UnsupportedMediaType", mergePatch, jsonPatch)
		}
		// The same words are another patch to each kind.
		c.api.Post(configMaps(c.ns), configMap(t, c.ns, "four", `{"a":"1"}`)).Want(201)
		four := configMaps(c.ns) + "/four"
		const words = `{"metadata":{"finalizers":["example.com/%s"]}}`
		c.patch(four, mergePatch, fmt.Sprintf(words, "a")).Want(200).Equal("metadata.finalizers", `["example.com/a"]`)
		c.patch(four, strategicPatch+"; charset=utf-8", fmt.Sprintf(words, "b")).Want(200)
		if got := c.api.Get(four).Object().At("metadata.finalizers"); len(got.([]any)) != 2 {
			t.Errorf("finalizers after a strategic patch: %v", got)
		}
		c.patch(four, mergePatch, fmt.Sprintf(words, "c")).Want(200).Equal("metadata.finalizers", `["example.com/c"]`)
		c.patch(four, jsonPatch, fmt.Sprintf(words, "d")).WantStatus(400, "BadRequest")
		c.patch(four, mergePatch, `[{"op":"remove","path":"/metadata/finalizers"}]`).WantStatus(400, "BadRequest")
		c.patch(four, jsonPatch, `[{"op":"remove","path":"/metadata/finalizers"}]`).Want(200).Equal("metadata.finalizers", "")
	})
	c.run("UPD-05 JSON patch", func(t *testing.T, c *cronTabs) {
		before := c.api.Get(one).Want(200).Object()
		for _, failing := range []string{
			`{"op":"move","from":"/spec/hostPort","path":"/spec/env/x"}`, // nothing to move into
			`{"op":"move","from":"/spec/nothing","path":"/spec/hostPort"}`,
			`{"op":"test","path":"/spec/host","value":"wrong"}`,
			`{"op":"test","path":"/spec/nothing","value":"x"}`,
			`{"op":"replace","path":"/spec/nothing/there","value":"x"}`,
			`{"op":"remove","path":"/spec/nothing"}`,
			`{"op":"add","path":"/spec/nothing/there","value":"x"}`,
		} {
			r := c.patch(one, jsonPatch, `[{"op":"replace","path":"/spec/port","value":"lost"},`+failing+`]`)
			if r.Code != 422 {
				t.Fatalf("%s: %d", failing, r.Code)
			}
			r.WantStatus(422, "Invalid", "the server rejected our request due to an error in our request")
			c.api.Get(one).Equal("metadata.resourceVersion", before.RV()).Equal("spec.port", before.Str("spec.port"))
		}
		c.patch(one, jsonPatch, `[{"op":"add","path":"/spec/env","value":{}},{"op":"add","path":"/spec/env/a","value":"1"},{"op":"move","from":"/spec/env/a","path":"/spec/env/b"},
			{"op":"test","path":"/spec/env","value":{"b":"1"}},{"op":"remove","path":"/spec/env"}]`).Want(200).Equal("spec.env", "").Equal("spec.port", before.Str("spec.port"))
		c.patch(one, jsonPatch, `[{"op":"add","path":"/spec/tags","value":["a"]},{"op":"add","path":"/spec/tags/-","value":"b"},
			{"op":"copy","from":"/spec/host","path":"/spec/hostPort"},{"op":"replace","path":"/spec/port","value":"5"},
			{"op":"test","path":"/spec/tags/1","value":"b"},{"op":"remove","path":"/spec/tags/0"}]`).
			Want(200).Equal("spec.tags", `["b"]`).Equal("spec.hostPort", "one").Equal("spec.port", "5")
		rv := c.api.Get(one).Object().RV()
		c.patch(one, jsonPatch, `[{"op":"replace","path":"/spec/port","value":"6"},{"op":"test","path":"/spec/host","value":"wrong"}]`).WantStatus(422, "Invalid")
		c.patch(one, jsonPatch, `[{"op":"remove","path":"/spec/nothing"}]`).WantStatus(422, "Invalid")
		c.patch(one, jsonPatch, `[{"op":"replace","path":"/kind","value":"Other"}]`).WantStatus(422, "Invalid", "must be CronTab")
		c.patch(one, jsonPatch, `{"op":"add"}`).WantStatus(400, "BadRequest")
		c.api.Get(one).Equal("metadata.resourceVersion", rv)
	})
}

// patchesByMerging shows merge patches, strategic ones, and patches of nothing.
func patchesByMerging(c *cronTabs, one string) {
	c.run("UPD-06 merge patch", func(t *testing.T, c *cronTabs) {
		c.patch(one, mergePatch, `{"spec":{"tags":["x","y"],"hostPort":null,"env":{"A":"1","B":"2"}}}`).Want(200).
			Equal("spec.tags", `["x","y"]`).Equal("spec.hostPort", "")
		c.patch(one, mergePatch, `{"spec":{"tags":["z"],"env":{"A":null}}}`).Want(200).Equal("spec.tags", `["z"]`).Equal("spec.env", `{"B":"2"}`)
		c.patch(one, mergePatch, `{"spec":{"replicas":-1}}`).WantStatus(422, "Invalid", "spec.replicas")
		c.patch(one, mergePatch, `{"spec":`).WantStatus(400, "BadRequest")
	})
	c.run("UPD-07 strategic merge patch is for built-in kinds", func(t *testing.T, c *cronTabs) {
		c.patch(one, strategicPatch, `{"spec":{"port":"7"}}`).WantStatus(415, "UnsupportedMediaType")
		m := configMap(t, c.ns, "seven", `{"a":"1","b":"2"}`)
		m.Set("metadata.finalizers", []any{"example.com/a"})
		c.api.Post(configMaps(c.ns), m).Want(201)
		c.patch(configMaps(c.ns)+"/seven", strategicPatch, `{"metadata":{"finalizers":["example.com/b"]},"data":{"a":null,"c":"3"}}`).Want(200).Equal("data", `{"b":"2","c":"3"}`)
		got := c.api.Get(configMaps(c.ns) + "/seven").Object()
		if list, _ := json.Marshal(got.At("metadata.finalizers")); sorted(string(list)) != sorted(`["example.com/a","example.com/b"]`) {
			t.Errorf("finalizers %s: the list is merged, not replaced", list)
		}
		c.patch(configMaps(c.ns)+"/seven", strategicPatch, `{"data":{"$patch":"replace","z":"1"},"metadata":{"$deleteFromPrimitiveList/finalizers":["example.com/a","example.com/b"]}}`).
			Want(200).Equal("data", `{"z":"1"}`).Equal("metadata.finalizers", "")
	})
	c.run("UPD-08 a missing object is 404", func(t *testing.T, c *cronTabs) {
		for kind, body := range map[string]string{mergePatch: `{"spec":{"port":"1"}}`, jsonPatch: `[{"op":"add","path":"/spec","value":{}}]`} {
			c.patch(c.path("v1", "nothing"), kind, body).WantStatus(404, "NotFound", `crontabs.`+c.group+` "nothing" not found`).
				Equal("details.name", "nothing").Equal("details.kind", "crontabs").Equal("details.group", c.group)
			c.patch(c.path("v1", "nothing")+"/status", kind, body).WantStatus(404, "NotFound")
		}
		for kind, body := range map[string]string{mergePatch: `{"data":{"a":"1"}}`, jsonPatch: `[{"op":"add","path":"/data","value":{}}]`, strategicPatch: `{"data":{"a":"1"}}`} {
			c.patch(configMaps(c.ns)+"/nothing", kind, body).WantStatus(404, "NotFound", `configmaps "nothing" not found`)
		}
		c.api.Get(c.path("v1", "nothing")).Want(404)
		c.api.Get(configMaps(c.ns) + "/nothing").Want(404)
	})
	c.run("UPD-08 an apply creates what is missing", func(t *testing.T, c *cronTabs) {
		made := c.object("v1", "applied", `{"port":"1"}`)
		c.api.Do("PATCH", c.path("v1", "applied")+"?fieldManager=m", made, "Content-Type", "application/apply-patch+yaml").Want(201).Equal("spec.port", "1")
		c.api.Do("PATCH", c.path("v1", "applied")+"?fieldManager=m", made, "Content-Type", "application/apply-patch+yaml").Want(200)
		c.api.Delete(c.path("v1", "applied")).Want(200)
	})
}
