package e2e

import (
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/test/harness"
)

// A rule may use what came with the newest release only when it is stored already:
// the release before could not read what was written now. What a newer release
// stored is evaluated, and kept when something else of the definition changes.
func TestRulesOfANewerRelease_CEL19(t *testing.T) {
	s := harness.Shared(t)
	const older, newer = `!('ugly' in self.tags)`, `!self.tags.includes('ugly')`
	tagged := func(rule string) func(object) {
		return func(crd object) {
			for _, v := range crd.At("spec.versions").([]any) {
				object(v.(map[string]any)).Set("schema.openAPIV3Schema", parse(t, `{"type":"object","properties":{"spec":{"type":"object","required":["tags"],"properties":{
					"tags":{"type":"array","maxItems":5,"items":{"type":"string","maxLength":9}}},"x-kubernetes-validations":[{"rule":"`+rule+`"}]}}}`))
			}
		}
	}
	c := newCronTabs(t, s, tagged(older))

	refused := parse(t, strings.NewReplacer("GROUP", "newer."+c.group, "SCHEMA", cronTabSchema).Replace(cronTabCRD))
	tagged(newer)(refused)
	c.api.Post(crdPath, refused).WantStatus(422, "Invalid", "x-kubernetes-validations[0].rule", "undeclared reference to 'includes'")

	etcd, key := s.Etcd(t), "/registry/apiextensions.k8s.io/customresourcedefinitions/crontabs."+c.group
	stored, err := etcd.Get(t.Context(), key)
	if err != nil || len(stored.Kvs) != 1 {
		t.Fatalf("%v: %+v", err, stored)
	}
	text := strings.ReplaceAll(string(stored.Kvs[0].Value), older, newer)
	if text == string(stored.Kvs[0].Value) {
		t.Fatalf("the rule is not in %s", text)
	}
	if _, err := etcd.Put(t.Context(), key, text); err != nil {
		t.Fatal(err)
	}

	definition := crdPath + "/crontabs." + c.group
	c.api.Eventually(definition, func(r *harness.Reply) bool { return r.Contains("includes") })
	harness.Eventually(t, "the rule is in force", func() bool {
		return c.api.Post(c.list("v1")+"?dryRun=All", c.object("v1", "one", `{"tags":["ugly"]}`)).Code == 422
	})
	c.api.Post(c.list("v1"), c.object("v1", "one", `{"tags":["ugly"]}`)).WantStatus(422, "Invalid", "failed rule: "+newer)
	c.api.Post(c.list("v1"), c.object("v1", "one", `{"tags":["fair"]}`)).Want(201)

	c.api.Merge(definition, `{"metadata":{"labels":{"a":"b"}}}`).Want(200)
	c.api.Post(c.list("v1"), c.object("v1", "two", `{"tags":["ugly"]}`)).WantStatus(422, "Invalid", newer)
	changed := c.api.Get(definition).Want(200).Object()
	tagged(newer + ` && true`)(changed)
	c.api.Put(definition, changed).WantStatus(422, "Invalid", "undeclared reference to 'includes'")
}
