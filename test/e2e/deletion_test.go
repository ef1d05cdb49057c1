package e2e

import (
	"strings"
	"testing"
	"time"

	"github.com/wasmgate/wasmgate/test/harness"
)

func TestDeletion(t *testing.T) {
	c := newCronTabs(t, harness.Shared(t), nil)
	held := func(c *cronTabs, name string, finalizers ...any) object {
		o := c.object("v1", name, `{}`)
		o.Set("metadata.finalizers", finalizers)
		return c.api.Post(c.list("v1"), o).Want(201).Object()
	}

	c.run("DEL-01 finalizers keep a deleted object", func(t *testing.T, c *cronTabs) {
		made := held(c, "one", "example.com/a")
		w := c.watch("resourceVersion=" + made.RV())
		gone := c.api.Delete(c.path("v1", "one")).Want(200).Equal("kind", "CronTab").Equal("metadata.finalizers", `["example.com/a"]`).Object()
		at, err := time.Parse(time.RFC3339, gone.Str("metadata.deletionTimestamp"))
		if err != nil || time.Since(at).Abs() > time.Minute {
			t.Errorf("deletionTimestamp %q: %v", gone.Str("metadata.deletionTimestamp"), err)
		}
		w.Expect("MODIFIED", "one")
		c.api.Get(c.path("v1", "one")).Want(200).Equal("metadata.deletionTimestamp", gone.Str("metadata.deletionTimestamp")).
			Equal("metadata.deletionGracePeriodSeconds", "0").Equal("metadata.generation", "2")
		m := configMap(t, c.ns, "one", `{}`)
		m.Set("metadata.finalizers", []any{"example.com/a"})
		c.api.Post(configMaps(c.ns), m).Want(201)
		if c.api.Delete(configMaps(c.ns)+"/one").Want(200).Str("metadata.deletionTimestamp") == "" {
			t.Error("the deleted ConfigMap has no deletionTimestamp")
		}
	})
	c.run("DEL-02 finalizers go in any order", func(t *testing.T, c *cronTabs) {
		held(c, "two", "example.com/a", "example.com/b", "example.com/c")
		c.api.Delete(c.path("v1", "two")).Want(200)
		for _, left := range []string{`["example.com/c","example.com/a","example.com/b"]`, `["example.com/c","example.com/b"]`, `["example.com/c"]`} {
			c.api.Merge(c.path("v1", "two"), `{"metadata":{"finalizers":`+left+`}}`).Want(200).Equal("metadata.finalizers", left)
		}
	})
	c.run("DEL-03 the last finalizer takes the object with it", func(t *testing.T, c *cronTabs) {
		made := held(c, "three", "example.com/a")
		w := c.watch("resourceVersion=" + made.RV())
		c.api.Delete(c.path("v1", "three")).Want(200)
		w.Expect("MODIFIED", "three")
		c.api.Merge(c.path("v1", "three"), `{"metadata":{"finalizers":[]}}`).Want(200)
		c.api.Get(c.path("v1", "three")).Want(404)
		w.Expect("DELETED", "three")
		made = c.create("plain")
		c.api.Delete(c.path("v1", "plain")).Want(200).Equal("kind", "Status").Equal("status", "Success").
			Equal("details.name", "plain").Equal("details.kind", "crontabs").Equal("details.group", c.group).Equal("details.uid", made.Str("metadata.uid"))
		c.api.Delete(c.path("v1", "plain")).WantStatus(404, "NotFound")
	})
	deletesForGood(c, held)
}

// deletesForGood shows that deletions are not undone, and their options.
func deletesForGood(c *cronTabs, held func(c *cronTabs, name string, finalizers ...any) object) {
	c.run("DEL-04 deletion cannot be undone", func(t *testing.T, c *cronTabs) {
		made := held(c, "four", "example.com/a")
		c.api.Merge(c.path("v1", "four"), `{"metadata":{"deletionTimestamp":"2020-01-01T00:00:00Z"}}`).Want(422)
		c.api.Get(c.path("v1", "four")).Want(200).Equal("metadata.deletionTimestamp", "")
		gone := c.api.Delete(c.path("v1", "four")).Want(200).Object()
		c.api.Merge(c.path("v1", "four"), `{"metadata":{"deletionTimestamp":null}}`).Want(200)
		c.api.Get(c.path("v1", "four")).Want(200).Equal("metadata.deletionTimestamp", gone.Str("metadata.deletionTimestamp"))
		c.api.Delete(c.path("v1", "four")).Want(200).Equal("metadata.uid", made.Str("metadata.uid"))
		c.api.Merge(c.path("v1", "four"), `{"metadata":{"finalizers":["example.com/a","example.com/late"]}}`).
			WantStatus(422, "Invalid", "no new finalizers can be added if the object is being deleted")
		born := c.object("v1", "four-b", `{}`)
		born.Set("metadata.deletionTimestamp", "2020-01-01T00:00:00Z")
		born.Set("metadata.deletionGracePeriodSeconds", 7)
		owned := c.api.Post(c.list("v1"), born).Want(201).Equal("metadata.deletionTimestamp", "").Equal("metadata.deletionGracePeriodSeconds", "").Object().Str("metadata.managedFields")
		if owned == "" || strings.Contains(owned, "f:deletion") {
			t.Errorf("who created it owns %s", owned)
		}
	})
	c.run("DEL-05 options", func(t *testing.T, c *cronTabs) {
		made := c.create("five")
		del := func(options string) *harness.Reply { return c.api.Do("DELETE", c.path("v1", "five"), options) }
		del(`{"preconditions":{"uid":"0000"}}`).WantStatus(409, "Conflict", "the UID in the precondition (0000) does not match the UID in record ("+made.Str("metadata.uid")+")")
		del(`{"preconditions":{"resourceVersion":"1"}}`).WantStatus(409, "Conflict", "the ResourceVersion in the precondition (1) does not match the ResourceVersion in record ("+made.RV()+")")
		del(`{"dryRun":["All"]}`).Want(200)
		del(`{"dryRun":[""]}`).WantStatus(422, "Invalid", `dryRun: Unsupported value: [""]`)
		del(`{"dryRun":["Some"]}`).WantStatus(422, "Invalid", "dryRun")
		del(`{"propagationPolicy":"Sideways"}`).WantStatus(422, "Invalid", "propagationPolicy")
		del(`{"propagationPolicy":"Orphan","orphanDependents":true}`).WantStatus(422, "Invalid", "orphanDependents")
		del(`{"gracePeriodSeconds":`).WantStatus(400, "BadRequest")
		del(`{"kind":"Foo"}`).WantStatus(400, "BadRequest", "Foo")
		for _, ok := range []string{`{"gracePeriodSeconds":5,"dryRun":["All"]}`, `{"orphanDependents":true,"dryRun":["All"]}`, `{"orphanDependents":false,"dryRun":["All"]}`,
			`{"propagationPolicy":"Foreground","dryRun":["All"]}`, `{"propagationPolicy":"Orphan","dryRun":["All"]}`,
			`{"preconditions":{"uid":"` + made.Str("metadata.uid") + `","resourceVersion":"` + made.RV() + `"},"dryRun":["All"]}`} {
			del(ok).Want(200)
		}
		for bad, code := range map[string]int{"gracePeriodSeconds=soon": 400, "propagationPolicy=Sideways": 422, "propagationPolicy=Orphan&orphanDependents=true": 422} {
			c.api.Delete(c.path("v1", "five") + "?" + bad).Want(code)
		}
		c.api.Get(c.path("v1", "five")).Want(200).Equal("metadata.resourceVersion", made.RV())
		// What waits for dependents keeps the object until the garbage collector is done.
		del(`{"kind":"DeleteOptions","apiVersion":"v1","gracePeriodSeconds":0,"propagationPolicy":"Background","preconditions":{"uid":"` + made.Str("metadata.uid") + `"}}`).Want(200)
		c.api.Get(c.path("v1", "five")).Want(404)
		c.create("six")
		c.api.Delete(c.path("v1", "six") + "?gracePeriodSeconds=0&propagationPolicy=Background").Want(200)
		c.api.Get(c.path("v1", "six")).Want(404)
	})
	c.run("DEL-06 unsafe deletion does nothing while its gate is off", func(t *testing.T, c *cronTabs) {
		held(c, "seven", "example.com/a")
		const unsafe = "ignoreStoreReadErrorWithClusterBreakingPotential"
		c.api.Do("DELETE", c.path("v1", "seven"), `{"`+unsafe+`":true,"dryRun":["All"],"propagationPolicy":"Background","preconditions":{"resourceVersion":"1"}}`).
			WantStatus(409, "Conflict", "the ResourceVersion in the precondition (1)")
		c.api.Do("DELETE", c.path("v1", "seven"), `{"`+unsafe+`":true}`).Want(200).Equal("metadata.finalizers", `["example.com/a"]`)
		c.api.Merge(c.path("v1", "seven"), `{"metadata":{"finalizers":[]}}`).Want(200)
		c.create("eight")
		c.api.Delete(c.path("v1", "eight") + "?" + unsafe + "=true").Want(200)
		c.api.Get(c.path("v1", "eight")).Want(404)
	})
}

func TestDryRun(t *testing.T) {
	c := newCronTabs(t, harness.Shared(t), nil)
	made := c.create("one")
	const merge = "application/merge-patch+json"

	c.run("DRY-01 nothing is kept", func(t *testing.T, c *cronTabs) {
		w := c.watch("resourceVersion=" + made.RV())
		new := c.api.Post(c.list("v1")+"?dryRun=All", c.object("v1", "two", `{"host":"h"}`)).Want(201).
			Equal("spec.suspend", "false").Equal("metadata.resourceVersion", "").Object()
		if new.Str("metadata.uid") == "" {
			t.Error("the new object has no uid")
		}
		c.api.Get(c.path("v1", "two")).Want(404)
		o := c.api.Get(c.path("v1", "one")).Want(200).Object()
		c.api.Put(c.path("v1", "one")+"?dryRun=All", o.Set("spec.port", "1")).Want(200).Equal("spec.port", "1").Equal("metadata.resourceVersion", made.RV())
		c.api.Do("PATCH", c.path("v1", "one")+"?dryRun=All", `{"spec":{"port":"2"}}`, "Content-Type", merge).Want(200).Equal("spec.port", "2")
		c.api.Delete(c.path("v1", "one") + "?dryRun=All").Want(200)
		c.api.Delete(c.list("v1") + "?dryRun=All").Want(200)
		c.api.Delete(namespacePath + "/" + c.ns + "?dryRun=All").Want(200)
		if got := c.api.Get(c.path("v1", "one")).Want(200).Object(); got.Str("metadata") != made.Str("metadata") || got.Str("spec") != made.Str("spec") {
			t.Errorf("was %v, is %v", made, got)
		}
		c.api.Get(namespacePath+"/"+c.ns).Want(200).Equal("status.phase", "Active")
		c.create("after")
		w.Expect("ADDED", "after")
	})
	dryRunsAreValidated(c)
	c.run("DRY-03 only All is known", func(t *testing.T, c *cronTabs) {
		c.api.Post(c.list("v1")+"?dryRun=Some", c.object("v1", "four", `{}`)).WantStatus(422, "Invalid", `dryRun: Unsupported value`)
		c.api.Post(c.list("v1")+"?dryRun=All&dryRun=Some", c.object("v1", "four", `{}`)).WantStatus(422, "Invalid", "dryRun")
		c.api.Get(c.path("v1", "four")).Want(404)
		// An empty value is refused and nothing written: what belongs there was left out.
		c.create("kept")
		for _, empty := range []string{"?dryRun=", "?dryRun=&fieldValidation=Warn", "?dryRun&dryRun=", "?dryRun=&dryRun=All", "?dry%52un="} {
			c.api.Post(c.list("v1")+empty, c.object("v1", "four", `{}`)).WantStatus(422, "Invalid", "dryRun: Unsupported value")
			for method, body := range map[string]any{"PUT": c.object("v1", "kept", `{}`), "PATCH": `{"spec":{"host":"x"}}`, "DELETE": nil} {
				c.api.Do(method, c.path("v1", "kept")+empty, body, "Content-Type", map[bool]string{true: mergePatch, false: "application/json"}[method == "PATCH"]).WantStatus(422, "Invalid", "dryRun: Unsupported value")
			}
			c.api.Delete(c.list("v1")+empty).WantStatus(422, "Invalid", "dryRun: Unsupported value")
			c.api.Get(c.path("v1", "kept")).Want(200).Equal("spec.host", "kept")
			c.api.Get(c.path("v1", "four")).Want(404)
		}
		// The documentation lets a bare dryRun pass, kube-apiserver refuses it;
		// it never is a dry run.
		for _, bare := range []string{"?dryRun", "?fieldValidation=Warn&dryRun"} {
			if c.s.External {
				c.api.Post(c.list("v1")+bare, c.object("v1", "four", `{}`)).WantStatus(422, "Invalid", `dryRun: Unsupported value: [""]`)
				continue
			}
			c.api.Post(c.list("v1")+bare, c.object("v1", "four", `{}`)).Want(201)
			c.api.Delete(c.path("v1", "four") + bare).Want(200)
			c.api.Get(c.path("v1", "four")).Want(404)
		}
		o := c.api.Get(c.path("v1", "one")).Want(200).Object()
		for method, body := range map[string]any{"PUT": o, "PATCH": `{}`, "DELETE": nil} {
			c.api.Do(method, c.path("v1", "one")+"?dryRun=Some", body, "Content-Type", map[bool]string{true: mergePatch, false: "application/json"}[method == "PATCH"]).
				WantStatus(422, "Invalid", `dryRun: Unsupported value: ["Some"]: supported values: "All"`)
		}
		c.api.Get(c.path("v1", "one")).Want(200).Equal("metadata.resourceVersion", o.RV())
	})
}

// dryRunsAreValidated shows that a dry run is refused as the write would be.
func dryRunsAreValidated(c *cronTabs) {
	c.run("DRY-02 validation runs", func(t *testing.T, c *cronTabs) {
		c.api.Post(c.list("v1")+"?dryRun=All", c.object("v1", "three", `{"replicas":-1}`)).WantStatus(422, "Invalid", "spec.replicas")
		c.api.Post(c.list("v1")+"?dryRun=All", c.object("v1", "one", `{}`)).WantStatus(409, "AlreadyExists")
		c.api.Put(c.path("v1", "one")+"?dryRun=All", c.object("v1", "one", `{}`).Set("metadata.resourceVersion", "1")).WantStatus(409, "Conflict")
		patch := func(kind, body string) *harness.Reply {
			return c.api.Do("PATCH", c.path("v1", "one")+"?dryRun=All", body, "Content-Type", kind)
		}
		patch(mergePatch, `{"spec":{"replicas":-1}}`).WantStatus(422, "Invalid", "spec.replicas")
		patch(mergePatch, `{"metadata":{"resourceVersion":"1"}}`).WantStatus(409, "Conflict")
		patch(jsonPatch, `[{"op":"test","path":"/spec/host","value":"other"}]`).WantStatus(422, "Invalid")
		patch(mergePatch, `{"spec":{"suspend":null,"nothing":1}}`).Want(200).Equal("spec.suspend", "false").Equal("spec.nothing", "").Equal("metadata.generation", "1")
		patch(mergePatch, `{"spec":{"port":"7"}}`).Want(200).Equal("metadata.generation", "2")
		c.api.Do("DELETE", c.path("v1", "one")+"?dryRun=All", `{"preconditions":{"uid":"0000"}}`).WantStatus(409, "Conflict")
		c.api.Delete(c.path("v1", "nothing")+"?dryRun=All").WantStatus(404, "NotFound")
		held := c.object("v1", "held", `{}`)
		held.Set("metadata.finalizers", []any{"example.com/a"})
		c.api.Post(c.list("v1"), held).Want(201)
		c.api.Delete(c.path("v1", "held") + "?dryRun=All").Want(200)
		c.api.Get(c.path("v1", "held")).Want(200).Equal("metadata.deletionTimestamp", "")
	})
}

// TestDeletionsOfPods_DEL05 deletes pods that are on a node, where a kubelet
// would end them.
func TestDeletionsOfPods_DEL05(t *testing.T) {
	c := newCronTabs(t, harness.Shared(t), nil)
	pods := "/api/v1/namespaces/" + c.ns + "/pods"
	create := func(t *testing.T, c *cronTabs, name, meta, spec string) object {
		return c.api.Post(pods, parse(t, `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"`+name+`"`+meta+`},"spec":{"containers":[{"name":"c","image":"i"}]`+spec+`}}`)).Want(201).Object()
	}
	const node = `,"nodeName":"n"`
	at := func(t *testing.T, o object) time.Time {
		when, err := time.Parse(time.RFC3339, o.Str("metadata.deletionTimestamp"))
		if err != nil {
			t.Fatalf("deletionTimestamp: %v", err)
		}
		return when
	}
	del := func(c *cronTabs, name, options string) *harness.Reply {
		return c.api.Do("DELETE", pods+"/"+name, options)
	}

	c.run("DEL-05 a pod on a node has time, which only becomes less", func(t *testing.T, c *cronTabs) {
		create(t, c, "slow", "", node)
		first := del(c, "slow", `{}`).Want(200).Equal("metadata.deletionGracePeriodSeconds", "30").Equal("metadata.generation", "2").Object()
		if left := time.Until(at(t, first)); left < 10*time.Second || left > 50*time.Second {
			t.Errorf("it has %v", left)
		}
		for _, no := range []string{`{}`, `{"gracePeriodSeconds":30}`, `{"gracePeriodSeconds":60}`} {
			del(c, "slow", no).Want(200).Equal("metadata.resourceVersion", first.RV()).Equal("metadata.deletionTimestamp", first.Str("metadata.deletionTimestamp"))
		}
		sooner := del(c, "slow", `{"gracePeriodSeconds":10}`).Want(200).Equal("metadata.deletionGracePeriodSeconds", "10").Equal("metadata.generation", "2").Object()
		if earlier := at(t, first).Sub(at(t, sooner)); earlier != 20*time.Second {
			t.Errorf("it ends %v earlier", earlier)
		}
		c.api.Merge(pods+"/slow", `{"metadata":{"labels":{"a":"b"}}}`).Want(200).Equal("metadata.deletionGracePeriodSeconds", "10")
		del(c, "slow", `{"gracePeriodSeconds":0}`).Want(200).Equal("metadata.deletionGracePeriodSeconds", "0")
		c.api.Get(pods + "/slow").Want(404)
	})
	c.run("DEL-05 how long it has", func(t *testing.T, c *cronTabs) {
		create(t, c, "own", "", node+`,"terminationGracePeriodSeconds":7`)
		del(c, "own", `{}`).Want(200).Equal("metadata.deletionGracePeriodSeconds", "7")
		create(t, c, "asked", "", node+`,"terminationGracePeriodSeconds":7`)
		del(c, "asked", `{"gracePeriodSeconds":9}`).Want(200).Equal("metadata.deletionGracePeriodSeconds", "9")
		create(t, c, "negative", "", node)
		del(c, "negative", `{"gracePeriodSeconds":-5}`).Want(200).Equal("metadata.deletionGracePeriodSeconds", "1")
		c.api.Get(pods + "/negative").Want(200)
	})
	c.run("DEL-05 what nobody runs ends at once", func(t *testing.T, c *cronTabs) {
		create(t, c, "unscheduled", "", "")
		create(t, c, "ended", "", node)
		c.api.Merge(pods+"/ended/status", `{"status":{"phase":"Succeeded"}}`).Want(200)
		create(t, c, "patient", "", node+`,"terminationGracePeriodSeconds":0`)
		for _, name := range []string{"unscheduled", "ended", "patient"} {
			o := del(c, name, `{}`).Want(200).Equal("kind", "Pod").Equal("metadata.deletionGracePeriodSeconds", "0").Equal("metadata.generation", "2").Object()
			at(t, o)
			c.api.Get(pods + "/" + name).Want(404)
		}
	})
	c.run("DEL-03 time and finalizers both hold it", func(t *testing.T, c *cronTabs) {
		create(t, c, "both", `,"finalizers":["example.com/a"]`, node)
		del(c, "both", `{}`).Want(200).Equal("metadata.deletionGracePeriodSeconds", "30")
		c.api.Merge(pods+"/both", `{"metadata":{"finalizers":null}}`).Want(200)
		c.api.Get(pods + "/both").Want(200)
		del(c, "both", `{"gracePeriodSeconds":0}`).Want(200)
		c.api.Get(pods + "/both").Want(404)
		create(t, c, "later", `,"finalizers":["example.com/a"]`, node)
		del(c, "later", `{"gracePeriodSeconds":0}`).Want(200).Equal("metadata.deletionGracePeriodSeconds", "0")
		c.api.Merge(pods+"/later", `{"metadata":{"finalizers":null}}`).Want(200)
		c.api.Get(pods + "/later").Want(404)
	})
}
