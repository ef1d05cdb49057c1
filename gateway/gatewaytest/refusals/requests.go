// Package refusals owns requests that a server has to refuse, and how
// kube-apiserver refuses them. The program in gateway/gatewaytest/record sends
// the requests to a kube-apiserver and writes down what it answers; the tests
// of package e2e send them to a gateway and compare.
//
// It knows requests and replies as text, and must not know how either server
// comes to its answer.
package refusals

import "strings"

// The media types of request bodies.
const (
	JSON       = "application/json"
	YAML       = "application/yaml"
	MergePatch = "application/merge-patch+json"
	JSONPatch  = "application/json-patch+json"
)

// What the requests are about has the same names on every server: replies quote
// the beginnings of bodies.
const (
	Group     = "refusals.example.com"
	Namespace = "refusals"
	// CronTabs is the collection of custom resources.
	CronTabs = "/apis/" + Group + "/v1/namespaces/" + Namespace + "/crontabs"
	// There is an object that has to exist in it.
	There = `{"apiVersion":"` + Group + `/v1","kind":"CronTab","metadata":{"name":"there"}}`
)

// Definition is the definition that the requests need.
const Definition = `{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "crontabs.` + Group + `"},
"spec": {"group": "` + Group + `", "scope": "Namespaced", "names": {"plural": "crontabs", "singular": "crontab", "kind": "CronTab"},
 "versions": [{"name": "v1beta1", "served": true, "storage": false, "schema": {"openAPIV3Schema": ` + schema + `}},
  {"name": "v1", "served": true, "storage": true, "subresources": {"status": {}}, "schema": {"openAPIV3Schema": ` + schema + `}}]}}`

const schema = `{"type": "object", "properties": {"spec": {"type": "object", "properties": {
 "host": {"type": "string"}, "port": {"type": "string"}, "replicas": {"type": "integer", "minimum": 0},
 "tags": {"type": "array", "items": {"type": "string"}}}}}}`

const (
	configMaps = "/api/v1/namespaces/" + Namespace + "/configmaps"
	// head is a custom resource without its closing brace.
	head = `{"apiVersion":"` + Group + `/v1","kind":"CronTab","metadata":{"name":"x"}`
)

func named(name string) string { return strings.Replace(head, `"x"`, `"`+name+`"`, 1) + `}` }

// Request is one that has to be refused.
type Request struct {
	// Name says what is wrong with it.
	Name string
	// Method, Path, Type and Body are sent; an empty Type sends no body.
	Method, Path, Type, Body string
	// Own is how a gateway refuses it where it is stricter than kube-apiserver
	// or words it otherwise, and Why the reason for that. Without it the two
	// answer alike.
	Own *Reply
	Why string
}

// Reply is the Status of a refusal.
type Reply struct {
	Code    int    `json:"code"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

const depth = 10000

// Requests are all requests.
func Requests() []Request {
	all := unreadable()
	all = append(all, mistyped()...)
	all = append(all, misnamed()...)
	all = append(all, definitions()...)
	return append(all, excessive()...)
}

// unreadable are bodies that are no object of the kind.
func unreadable() []Request {
	const cr, cm = CronTabs, configMaps
	return []Request{
		{Name: "null for a built-in kind", Method: "POST", Path: cm, Type: JSON, Body: `null`},
		{Name: "a built-in kind without a name", Method: "POST", Path: cm, Type: JSON, Body: `{"metadata":{}}`},
		{Name: "a kind that is a number", Method: "POST", Path: cm, Type: JSON, Body: `{"kind":7}`},
		{Name: "an apiVersion with two slashes", Method: "POST", Path: cm, Type: JSON, Body: `{"apiVersion":"a/b/c","kind":"ConfigMap"}`},
		{Name: "a list for an object", Method: "POST", Path: cr, Type: JSON,
			Body: `{"apiVersion":"` + Group + `/v1","kind":"CronTabList","items":[` + head + `}]}`},
		{Name: "a JSON list of objects", Method: "POST", Path: cr, Type: JSON, Body: `[` + head + `}]`},
		{Name: "empty body", Method: "POST", Path: cr, Type: JSON, Body: ``},
		{Name: "malformed JSON", Method: "POST", Path: cr, Type: JSON, Body: head},
		{Name: "malformed JSON of a built-in kind", Method: "POST", Path: cm, Type: JSON, Body: `{"apiVersion":"v1","kind":`},
		{Name: "malformed YAML", Method: "POST", Path: cr, Type: YAML, Body: "apiVersion: [\nkind: }"},
		{Name: "malformed YAML of a built-in kind", Method: "POST", Path: cm, Type: YAML, Body: "a: b: c: d"},
		{Name: "JSON that is no object", Method: "POST", Path: cr, Type: JSON, Body: `"CronTab"`},
		{Name: "null", Method: "POST", Path: cr, Type: JSON, Body: `null`},
		{Name: "invalid UTF-8 in what is cut off", Method: "POST", Path: cm, Type: JSON,
			Body: `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"},"data":{"a":"` + "\xff\xfe" + `"`},
		{Name: "no kind", Method: "POST", Path: cr, Type: JSON, Body: `{"metadata":{"name":"x"}}`},
		{Name: "no apiVersion", Method: "POST", Path: cr, Type: JSON, Body: `{"kind":"CronTab","metadata":{"name":"x"}}`},
		{Name: "another kind", Method: "POST", Path: cr, Type: JSON, Body: strings.Replace(head, "CronTab", "Other", 1) + `}`},
		{Name: "another kind at a built-in path", Method: "POST", Path: cm, Type: JSON, Body: `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"x"}}`,
			Own: &Reply{400, "BadRequest", `Secret in version "v1" cannot be handled as a ConfigMap: no kind "Secret" is registered for version "v1"`},
			Why: "no conversion between Go types is tried"},
		{Name: "another version than the URL", Method: "POST", Path: cr, Type: JSON, Body: strings.Replace(head, "/v1", "/v1beta1", 1) + `}`},
		{Name: "an unknown version", Method: "POST", Path: cr, Type: JSON, Body: strings.Replace(head, "/v1", "/v7", 1) + `}`},
		{Name: "a JSON patch that is none", Method: "PATCH", Path: cr + "/there", Type: JSONPatch, Body: `[{"op":"conjure","path":"/spec"}]`},
		{Name: "a merge patch that is no object", Method: "PATCH", Path: cr + "/there", Type: MergePatch, Body: `[1]`},
		{Name: "a merge patch that is cut off", Method: "PATCH", Path: cr + "/there", Type: MergePatch, Body: `{"spec":`},
		{Name: "an unknown patch type", Method: "PATCH", Path: cr + "/there", Type: "text/plain", Body: `{}`},
	}
}

// mistyped are fields that the schema does not allow.
func mistyped() []Request {
	const cr, cm = CronTabs, configMaps
	meta := func(name string) string { return strings.Replace(head, `"x"`, `"x",`+name, 1) + `}` }
	return []Request{
		{Name: "text for an integer", Method: "POST", Path: cr, Type: JSON, Body: head + `,"spec":{"replicas":"three"}}`},
		{Name: "an object for a list", Method: "POST", Path: cr, Type: JSON, Body: head + `,"spec":{"tags":{"a":"b"}}}`},
		{Name: "a scalar for an object", Method: "POST", Path: cr, Type: JSON, Body: head + `,"spec":7}`},
		{Name: "a number below the minimum", Method: "POST", Path: cr, Type: JSON, Body: head + `,"spec":{"replicas":-1}}`},
		{Name: "labels of a wrong type", Method: "POST", Path: cr, Type: JSON, Body: meta(`"labels":{"a":1}`)},
		{Name: "metadata of a wrong type", Method: "POST", Path: cr, Type: JSON, Body: strings.Replace(head, `{"name":"x"}`, `[]`, 1) + `}`},
		{Name: "data of a wrong type", Method: "POST", Path: cm, Type: JSON, Body: `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"},"data":{"a":1}}`},
		{Name: "a bad label", Method: "POST", Path: cr, Type: JSON, Body: meta(`"labels":{"a b":"c"}`)},
		{Name: "a bad finalizer", Method: "POST", Path: cr, Type: JSON, Body: meta(`"finalizers":["-"]`)},
		{Name: "an unknown field, strictly", Method: "POST", Path: cr + "?fieldValidation=Strict", Type: JSON, Body: head + `,"spec":{"nothing":1}}`},
		{Name: "a repeated field, strictly", Method: "POST", Path: cr + "?fieldValidation=Strict", Type: JSON, Body: head + `,"spec":{"host":"a","host":"b"}}`},
		{Name: "a repeated YAML key, strictly", Method: "POST", Path: cm + "?fieldValidation=Strict", Type: YAML,
			Body: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata: {a: b, a: c}\n"},
	}
}

// misnamed are names, namespaces and options that are not allowed.
func misnamed() []Request {
	const cr, cm = CronTabs, configMaps
	return []Request{
		{Name: "no name", Method: "POST", Path: cr, Type: JSON, Body: strings.Replace(head, `"name":"x"`, ``, 1) + `}`},
		{Name: "a name with capitals", Method: "POST", Path: cr, Type: JSON, Body: named("NoLabel")},
		{Name: "a name with an underscore", Method: "POST", Path: cm, Type: JSON, Body: `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a_b"}}`},
		{Name: "a name with a slash", Method: "POST", Path: cr, Type: JSON, Body: named("a/b")},
		{Name: "a name that climbs", Method: "POST", Path: cr, Type: JSON, Body: named("..")},
		{Name: "a name that is too long", Method: "POST", Path: cr, Type: JSON, Body: named(strings.Repeat("a", 254))},
		{Name: "a namespace name that is no DNS label", Method: "POST", Path: "/api/v1/namespaces", Type: JSON,
			Body: `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"a.b"}}`},
		{Name: "another namespace than the URL", Method: "POST", Path: cr, Type: JSON,
			Body: strings.Replace(head, `"x"`, `"x","namespace":"other"`, 1) + `}`},
		{Name: "an unknown fieldValidation", Method: "POST", Path: cr + "?fieldValidation=Maybe", Type: JSON, Body: head + `}`},
		{Name: "an unknown dryRun", Method: "POST", Path: cr + "?dryRun=Some", Type: JSON, Body: head + `}`},
		{Name: "a bad limit", Method: "GET", Path: cr + "?limit=many"},
		{Name: "a bad timeout", Method: "GET", Path: cr + "?watch=1&timeoutSeconds=soon"},
		{Name: "a bad label selector", Method: "GET", Path: cr + "?labelSelector=%3D%3D"},
		{Name: "an unknown field selector", Method: "GET", Path: cr + "?fieldSelector=spec.host%3Da"},
	}
}

// definitions are definitions that cannot be: each is one that could, with a
// text of it replaced.
func definitions() []Request {
	const (
		path   = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
		good   = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"bars.refused.example.com"},"spec":{"group":"refused.example.com","scope":"Namespaced","names":{"plural":"bars","kind":"Bar"},"conversion":{"strategy":"None"},"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}}`
		none   = `{"strategy":"None"}`
		object = `{"type":"object"}`
	)
	edited := func(name, old, new string) Request {
		return Request{Name: "a definition with " + name, Method: "POST", Path: path, Type: JSON, Body: strings.Replace(good, old, new, 1)}
	}
	webhook := func(config, reviews string) string {
		return `{"strategy":"Webhook","webhook":{"clientConfig":` + config + `,"conversionReviewVersions":` + reviews + `}}`
	}
	return []Request{
		edited("another name", `bars.refused`, `foos.refused`),
		edited("no scope", `"scope":"Namespaced",`, ``),
		edited("an odd scope", `"Namespaced"`, `"Global"`),
		edited("no storage version", `"storage":true`, `"storage":false`),
		edited("two storage versions", `{"name":"v1"`, `{"name":"v2","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}},{"name":"v1"`),
		edited("no schema", `,"schema":{"openAPIV3Schema":{"type":"object"}}`, ``),
		edited("preserveUnknownFields", `"scope"`, `"preserveUnknownFields":true,"scope"`),
		edited("a schema without a type", object, `{"properties":{"a":{}}}`),
		edited("a rule that does not compile", object, `{"type":"object","properties":{"a":{"type":"string"}},"x-kubernetes-validations":[{"rule":"self.b == 1"}]}`),
		edited("a rule that costs too much", object, `{"type":"object","properties":{"a":{"type":"array","items":{"type":"string"}}},"x-kubernetes-validations":[{"rule":"self.a.all(x, self.a.all(y, x.contains(y)))"}]}`),
		edited("a default of another type", object, `{"type":"object","properties":{"a":{"type":"string","default":1}}}`),
		edited("no webhook", none, `{"strategy":"Webhook"}`),
		edited("an unknown strategy", none, `{"strategy":"Magic"}`),
		edited("no review versions", none, `{"strategy":"Webhook","webhook":{"clientConfig":{"url":"https://a.b/c"}}}`),
		edited("unknown review versions", none, webhook(`{"url":"https://a.b/c"}`, `["v9"]`)),
		edited("a url and a service", none, webhook(`{"url":"https://a.b/c","service":{"namespace":"a","name":"b"}}`, `["v1"]`)),
		edited("neither url nor service", none, webhook(`{}`, `["v1"]`)),
		edited("a url without TLS", none, webhook(`{"url":"http://a.b/c"}`, `["v1"]`)),
		edited("a user in the url", none, webhook(`{"url":"https://u:p@a.b/c"}`, `["v1"]`)),
		edited("a fragment in the url", none, webhook(`{"url":"https://a.b/c#x"}`, `["v1"]`)),
		edited("a query in the url", none, webhook(`{"url":"https://a.b/c?x=1"}`, `["v1"]`)),
		edited("a service without a name", none, webhook(`{"service":{"namespace":"a"}}`, `["v1"]`)),
		edited("a service without a namespace", none, webhook(`{"service":{"name":"b"}}`, `["v1"]`)),
		edited("a service at port 0", none, webhook(`{"service":{"namespace":"a","name":"b","port":0}}`, `["v1"]`)),
		edited("a service with a relative path", none, webhook(`{"service":{"namespace":"a","name":"b","path":"x/y"}}`, `["v1"]`)),
	}
}

// excessive are nested or repeated more than any client needs.
func excessive() []Request {
	const cr = CronTabs
	deep := strings.Repeat(`{"a":`, depth) + `1` + strings.Repeat(`}`, depth)
	lists := strings.Repeat(`[`, depth) + strings.Repeat(`]`, depth)
	test := `{"op":"test","path":"/kind","value":"CronTab"}`
	return []Request{
		{Name: "nesting 10,000 deep", Method: "POST", Path: cr, Type: JSON, Body: head + `,"spec":` + deep + `}`},
		{Name: "lists 10,000 deep", Method: "POST", Path: cr, Type: JSON, Body: head + `,"spec":{"tags":` + lists + `}}`},
		{Name: "a merge patch 10,000 deep", Method: "PATCH", Path: cr + "/there", Type: MergePatch, Body: `{"spec":` + deep + `}`},
		{Name: "too many JSON patch operations", Method: "PATCH", Path: cr + "/there", Type: JSONPatch,
			Body: `[` + strings.Repeat(test+`,`, depth) + test + `]`},
	}
}
