// Package refusals owns requests that a server has to refuse: bodies that are no
// object of the kind, fields that a schema does not allow, names and options that
// are none, definitions that cannot be, and more than any client needs.
//
// It must not know what the answer to a request is.
package refusals

import (
	"strings"

	"github.com/wasmgate/wasmgate/test/story"
)

// Table is the name of the table among the recordings.
const Table = "refusals"

const yaml = "application/yaml"

// What the requests are about has the same names on every server: replies quote
// the beginnings of bodies.
const (
	Group     = "refusals.example.com"
	namespace = "refusals"
	// CronTabs is the collection of custom resources, in which there is one object.
	CronTabs = "/apis/" + Group + "/v1/namespaces/" + namespace + "/crontabs"
	There    = CronTabs + "/there"
	there    = `{"apiVersion":"` + Group + `/v1","kind":"CronTab","metadata":{"name":"there"}}`
)

// definition is the one that the requests need.
const definition = `{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "crontabs.` + Group + `"},
"spec": {"group": "` + Group + `", "scope": "Namespaced", "names": {"plural": "crontabs", "singular": "crontab", "kind": "CronTab"},
 "versions": [{"name": "v1beta1", "served": true, "storage": false, "schema": {"openAPIV3Schema": ` + schema + `}},
  {"name": "v1", "served": true, "storage": true, "subresources": {"status": {}}, "schema": {"openAPIV3Schema": ` + schema + `}}]}}`

const schema = `{"type": "object", "properties": {"spec": {"type": "object", "properties": {
 "host": {"type": "string"}, "port": {"type": "string"}, "replicas": {"type": "integer", "minimum": 0},
 "tags": {"type": "array", "items": {"type": "string"}}}}}}`

const (
	configMaps = "/api/v1/namespaces/" + namespace + "/configmaps"
	// head is a custom resource without its closing brace.
	head = `{"apiVersion":"` + Group + `/v1","kind":"CronTab","metadata":{"name":"x"}`
)

func named(name string) string { return strings.Replace(head, `"x"`, `"`+name+`"`, 1) + `}` }

const depth = 10000

// Stories are the requests, by what is wrong with them.
func Stories() []story.Story {
	// The namespace stays, as no controller ends it here; a later run finds it.
	before := []story.Step{
		{Method: "POST", Path: "/api/v1/namespaces", Type: story.JSON, Body: `{"metadata":{"name":"` + namespace + `"}}`},
		{Method: "POST", Path: story.Definitions, Type: story.JSON, Body: definition},
		{Method: "GET", Path: CronTabs, Until: `"items":[`},
		{Method: "POST", Path: CronTabs, Type: story.JSON, Body: there},
	}
	var stories []story.Story
	for _, s := range []story.Story{
		{Name: "refusals of what is no object", Steps: unreadable()},
		{Name: "refusals of fields", Steps: mistyped()},
		{Name: "refusals of names and options", Steps: misnamed()},
		{Name: "refusals of definitions", Steps: definitions()},
		{Name: "refusals of what is too much", Steps: excessive()},
		{Name: "refusals of numbers", Steps: numbers()},
	} {
		s.Before = before
		stories = append(stories, s)
	}
	return stories
}

// unreadable are bodies that are no object of the kind.
func unreadable() []story.Step {
	const cr, cm = CronTabs, configMaps
	return []story.Step{
		{Method: "POST", Path: cm, Type: story.JSON, Body: `null`},
		{Method: "POST", Path: cm, Type: story.JSON, Body: `{"metadata":{}}`},
		{Method: "POST", Path: cm, Type: story.JSON, Body: `{"kind":7}`},
		{Method: "POST", Path: cm, Type: story.JSON, Body: `{"apiVersion":"a/b/c","kind":"ConfigMap"}`},
		{Method: "POST", Path: cr, Type: story.JSON,
			Body: `{"apiVersion":"` + Group + `/v1","kind":"CronTabList","items":[` + head + `}]}`},
		{Method: "POST", Path: cr, Type: story.JSON, Body: `[` + head + `}]`},
		{Method: "POST", Path: cr, Type: story.JSON, Body: ``},
		{Method: "POST", Path: cr, Type: story.JSON, Body: head},
		{Method: "POST", Path: cm, Type: story.JSON, Body: `{"apiVersion":"v1","kind":`},
		{Method: "POST", Path: cr, Type: yaml, Body: "apiVersion: [\nkind: }"},
		{Method: "POST", Path: cm, Type: yaml, Body: "a: b: c: d"},
		{Method: "POST", Path: cr, Type: story.JSON, Body: `"CronTab"`},
		{Method: "POST", Path: cr, Type: story.JSON, Body: `null`},
		{Method: "POST", Path: cm, Type: story.JSON,
			Body: `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"},"data":{"a":"` + "\xff\xfe" + `"`},
		{Method: "POST", Path: cr, Type: story.JSON, Body: `{"metadata":{"name":"x"}}`},
		{Method: "POST", Path: cr, Type: story.JSON, Body: `{"kind":"CronTab","metadata":{"name":"x"}}`},
		{Method: "POST", Path: cr, Type: story.JSON, Body: strings.Replace(head, "CronTab", "Other", 1) + `}`},
		{Method: "POST", Path: cm, Type: story.JSON, Body: `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"x"}}`},
		{Method: "POST", Path: cr, Type: story.JSON, Body: strings.Replace(head, "/v1", "/v1beta1", 1) + `}`},
		{Method: "POST", Path: cr, Type: story.JSON, Body: strings.Replace(head, "/v1", "/v7", 1) + `}`},
		{Method: "PATCH", Path: cr + "/there", Type: story.JSONPatch, Body: `[{"op":"conjure","path":"/spec"}]`},
		{Method: "PATCH", Path: cr + "/there", Type: story.MergePatch, Body: `[1]`},
		{Method: "PATCH", Path: cr + "/there", Type: story.MergePatch, Body: `{"spec":`},
		{Method: "PATCH", Path: cr + "/there", Type: "text/plain", Body: `{}`},
	}
}

// mistyped are fields that the schema does not allow.
func mistyped() []story.Step {
	const cr, cm = CronTabs, configMaps
	meta := func(name string) string { return strings.Replace(head, `"x"`, `"x",`+name, 1) + `}` }
	return []story.Step{
		{Method: "POST", Path: cr, Type: story.JSON, Body: head + `,"spec":{"replicas":"three"}}`},
		{Method: "POST", Path: cr, Type: story.JSON, Body: head + `,"spec":{"tags":{"a":"b"}}}`},
		{Method: "POST", Path: cr, Type: story.JSON, Body: head + `,"spec":7}`},
		{Method: "POST", Path: cr, Type: story.JSON, Body: head + `,"spec":{"replicas":-1}}`},
		{Method: "POST", Path: cr, Type: story.JSON, Body: meta(`"labels":{"a":1}`)},
		{Method: "POST", Path: cr, Type: story.JSON, Body: strings.Replace(head, `{"name":"x"}`, `[]`, 1) + `}`},
		{Method: "POST", Path: cm, Type: story.JSON, Body: `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"},"data":{"a":1}}`},
		{Method: "POST", Path: cr, Type: story.JSON, Body: meta(`"labels":{"a b":"c"}`)},
		{Method: "POST", Path: cr, Type: story.JSON, Body: meta(`"finalizers":["-"]`)},
		{Method: "POST", Path: cr + "?fieldValidation=Strict", Type: story.JSON, Body: head + `,"spec":{"nothing":1}}`},
		{Method: "POST", Path: cr + "?fieldValidation=Strict", Type: story.JSON, Body: head + `,"spec":{"host":"a","host":"b"}}`},
		{Method: "POST", Path: cm + "?fieldValidation=Strict", Type: yaml,
			Body: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata: {a: b, a: c}\n"},
	}
}

// misnamed are names, namespaces and options that are not allowed.
func misnamed() []story.Step {
	const cr, cm = CronTabs, configMaps
	return []story.Step{
		{Method: "POST", Path: cr, Type: story.JSON, Body: strings.Replace(head, `"name":"x"`, ``, 1) + `}`},
		{Method: "POST", Path: cr, Type: story.JSON, Body: named("NoLabel")},
		{Method: "POST", Path: cm, Type: story.JSON, Body: `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a_b"}}`},
		{Method: "POST", Path: cr, Type: story.JSON, Body: named("a/b")},
		{Method: "POST", Path: cr, Type: story.JSON, Body: named("..")},
		{Method: "POST", Path: cr, Type: story.JSON, Body: named(strings.Repeat("a", 254))},
		{Method: "POST", Path: "/api/v1/namespaces", Type: story.JSON,
			Body: `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"a.b"}}`},
		{Method: "POST", Path: cr, Type: story.JSON,
			Body: strings.Replace(head, `"x"`, `"x","namespace":"other"`, 1) + `}`},
		{Method: "POST", Path: cr + "?fieldValidation=Maybe", Type: story.JSON, Body: head + `}`},
		{Method: "POST", Path: cr + "?dryRun=Some", Type: story.JSON, Body: head + `}`},
		{Method: "GET", Path: cr + "?limit=many"},
		{Method: "GET", Path: cr + "?watch=1&timeoutSeconds=soon"},
		{Method: "GET", Path: cr + "?labelSelector=%3D%3D"},
		{Method: "GET", Path: cr + "?fieldSelector=spec.host%3Da"},
	}
}

// definitions are definitions that cannot be: each is one that could, with a
// text of it replaced.
func definitions() []story.Step {
	const (
		path   = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
		good   = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"bars.refused.example.com"},"spec":{"group":"refused.example.com","scope":"Namespaced","names":{"plural":"bars","kind":"Bar"},"conversion":{"strategy":"None"},"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}}`
		none   = `{"strategy":"None"}`
		object = `{"type":"object"}`
	)
	edited := func(old, new string) story.Step {
		return story.Step{Method: "POST", Path: path, Type: story.JSON, Body: strings.Replace(good, old, new, 1)}
	}
	webhook := func(config, reviews string) string {
		return `{"strategy":"Webhook","webhook":{"clientConfig":` + config + `,"conversionReviewVersions":` + reviews + `}}`
	}
	return []story.Step{
		edited(`bars.refused`, `foos.refused`),
		edited(`"scope":"Namespaced",`, ``),
		edited(`"Namespaced"`, `"Global"`),
		edited(`"storage":true`, `"storage":false`),
		edited(`{"name":"v1"`, `{"name":"v2","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}},{"name":"v1"`),
		edited(`,"schema":{"openAPIV3Schema":{"type":"object"}}`, ``),
		edited(`"scope"`, `"preserveUnknownFields":true,"scope"`),
		edited(object, `{"properties":{"a":{}}}`),
		edited(object, `{"type":"object","properties":{"a":{"type":"string"}},"x-kubernetes-validations":[{"rule":"self.b == 1"}]}`),
		edited(object, `{"type":"object","properties":{"a":{"type":"array","items":{"type":"string"}}},"x-kubernetes-validations":[{"rule":"self.a.all(x, self.a.all(y, x.contains(y)))"}]}`),
		edited(object, `{"type":"object","properties":{"a":{"type":"string","default":1}}}`),
		edited(none, `{"strategy":"Webhook"}`),
		edited(none, `{"strategy":"Magic"}`),
		edited(none, `{"strategy":"Webhook","webhook":{"clientConfig":{"url":"https://a.b/c"}}}`),
		edited(none, webhook(`{"url":"https://a.b/c"}`, `["v9"]`)),
		edited(none, webhook(`{"url":"https://a.b/c","service":{"namespace":"a","name":"b"}}`, `["v1"]`)),
		edited(none, webhook(`{}`, `["v1"]`)),
		edited(none, webhook(`{"url":"http://a.b/c"}`, `["v1"]`)),
		edited(none, webhook(`{"url":"https://u:p@a.b/c"}`, `["v1"]`)),
		edited(none, webhook(`{"url":"https://a.b/c#x"}`, `["v1"]`)),
		edited(none, webhook(`{"url":"https://a.b/c?x=1"}`, `["v1"]`)),
		edited(none, webhook(`{"service":{"namespace":"a"}}`, `["v1"]`)),
		edited(none, webhook(`{"service":{"name":"b"}}`, `["v1"]`)),
		edited(none, webhook(`{"service":{"namespace":"a","name":"b","port":0}}`, `["v1"]`)),
		edited(none, webhook(`{"service":{"namespace":"a","name":"b","path":"x/y"}}`, `["v1"]`)),
	}
}

// excessive are nested or repeated more than any client needs.
func excessive() []story.Step {
	const cr = CronTabs
	deep := strings.Repeat(`{"a":`, depth) + `1` + strings.Repeat(`}`, depth)
	lists := strings.Repeat(`[`, depth) + strings.Repeat(`]`, depth)
	test := `{"op":"test","path":"/kind","value":"CronTab"}`
	return []story.Step{
		{Method: "POST", Path: cr, Type: story.JSON, Body: head + `,"spec":` + deep + `}`},
		{Method: "POST", Path: cr, Type: story.JSON, Body: head + `,"spec":{"tags":` + lists + `}}`},
		{Method: "PATCH", Path: cr + "/there", Type: story.MergePatch, Body: `{"spec":` + deep + `}`},
		{Method: "PATCH", Path: cr + "/there", Type: story.JSONPatch,
			Body: `[` + strings.Repeat(test+`,`, depth) + test + `]`},
	}
}
