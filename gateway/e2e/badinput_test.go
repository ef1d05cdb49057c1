package e2e

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wasmgate/wasmgate/gateway/gatewaytest"
)

const (
	jsonBody = "application/json"
	yamlBody = "application/yaml"
)

// badInput is one request that has to be refused.
type badInput struct {
	name, method, path, kind, body string
	code                           int
	reason                         metav1.StatusReason
	message                        string
}

// badInputs are the requests, for a custom resource of a test.
func badInputs(c *cronTabs) []badInput {
	cr, cm := c.list("v1"), configMaps(c.ns)
	head := `{"apiVersion":"` + c.group + `/v1","kind":"CronTab","metadata":{"name":"x"}`
	named := func(name string) string {
		return strings.Replace(head, `"x"`, `"`+name+`"`, 1) + `}`
	}
	deep := strings.Repeat(`{"a":`, 10000) + `1` + strings.Repeat(`}`, 10000)
	deepList := strings.Repeat(`[`, 10000) + strings.Repeat(`]`, 10000)
	return []badInput{
		{"empty body", "POST", cr, jsonBody, ``, 400, "BadRequest", ""},
		{"malformed JSON", "POST", cr, jsonBody, head, 400, "BadRequest", ""},
		{"malformed JSON of a built-in kind", "POST", cm, jsonBody, `{"apiVersion":"v1","kind":`, 400, "BadRequest", ""},
		{"malformed YAML", "POST", cr, yamlBody, "apiVersion: [\nkind: }", 400, "BadRequest", ""},
		{"malformed YAML of a built-in kind", "POST", cm, yamlBody, "a: b: c: d", 400, "BadRequest", ""},
		{"JSON that is no object", "POST", cr, jsonBody, `"CronTab"`, 400, "BadRequest", ""},
		{"null", "POST", cr, jsonBody, `null`, 400, "BadRequest", ""},
		{"invalid UTF-8", "POST", cm, jsonBody, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"},"data":{"a":"` + "\xff\xfe" + `"`, 400, "BadRequest", ""},
		{"no kind", "POST", cr, jsonBody, `{"metadata":{"name":"x"}}`, 400, "BadRequest", "Object 'Kind' is missing"},
		{"another kind", "POST", cr, jsonBody, strings.Replace(head, "CronTab", "Other", 1) + `}`, 422, "Invalid", "must be CronTab"},
		{"another kind at a built-in path", "POST", cm, jsonBody, `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"x"}}`, 400, "BadRequest", "Secret"},
		{"another version than the URL", "POST", cr, jsonBody, strings.Replace(head, "/v1", "/v1beta1", 1) + `}`, 400, "BadRequest", "does not match the expected API version"},
		{"an unknown version", "POST", cr, jsonBody, strings.Replace(head, "/v1", "/v7", 1) + `}`, 400, "BadRequest", ""},
		{"text for an integer", "POST", cr, jsonBody, head + `,"spec":{"replicas":"three"}}`, 422, "Invalid", "spec.replicas: Invalid value: \"string\""},
		{"an object for a list", "POST", cr, jsonBody, head + `,"spec":{"tags":{"a":"b"}}}`, 422, "Invalid", "spec.tags: Invalid value: \"object\""},
		{"a scalar for an object", "POST", cr, jsonBody, head + `,"spec":7}`, 422, "Invalid", "spec: Invalid value: \"integer\""},
		{"a number below the minimum", "POST", cr, jsonBody, head + `,"spec":{"replicas":-1}}`, 422, "Invalid", "should be greater than or equal to 0"},
		{"labels of a wrong type", "POST", cr, jsonBody, strings.Replace(head, `"x"`, `"x","labels":{"a":1}`, 1) + `}`, 400, "BadRequest", ""},
		{"metadata of a wrong type", "POST", cr, jsonBody, strings.Replace(head, `{"name":"x"}`, `[]`, 1) + `}`, 400, "BadRequest", ""},
		{"data of a wrong type", "POST", cm, jsonBody, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"},"data":{"a":1}}`, 400, "BadRequest", ""},
		{"a bad label", "POST", cr, jsonBody, strings.Replace(head, `"x"`, `"x","labels":{"a b":"c"}`, 1) + `}`, 422, "Invalid", "metadata.labels"},
		{"a bad finalizer", "POST", cr, jsonBody, strings.Replace(head, `"x"`, `"x","finalizers":["-"]`, 1) + `}`, 422, "Invalid", "metadata.finalizers"},
		{"no name", "POST", cr, jsonBody, strings.Replace(head, `"name":"x"`, ``, 1) + `}`, 422, "Invalid", "name or generateName is required"},
		{"a name with capitals", "POST", cr, jsonBody, named("NoLabel"), 422, "Invalid", "metadata.name"},
		{"a name with an underscore", "POST", cm, jsonBody, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a_b"}}`, 422, "Invalid", "metadata.name"},
		{"a name with a slash", "POST", cr, jsonBody, named("a/b"), 422, "Invalid", "metadata.name"},
		{"a name that climbs", "POST", cr, jsonBody, named(".."), 422, "Invalid", "metadata.name"},
		{"a name that is too long", "POST", cr, jsonBody, named(strings.Repeat("a", 254)), 422, "Invalid", "metadata.name"},
		{"a namespace name that is no DNS label", "POST", namespacePath, jsonBody, `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"a.b"}}`, 422, "Invalid", "metadata.name"},
		{"another namespace than the URL", "POST", cr, jsonBody, strings.Replace(head, `"x"`, `"x","namespace":"other"`, 1) + `}`, 400, "BadRequest", "does not match"},
		{"nesting 10,000 deep", "POST", cr, jsonBody, head + `,"spec":` + deep + `}`, 400, "BadRequest", ""},
		{"lists 10,000 deep", "POST", cr, jsonBody, head + `,"spec":{"tags":` + deepList + `}}`, 400, "BadRequest", ""},
		{"a merge patch 10,000 deep", "PATCH", c.path("v1", "there"), mergePatch, `{"spec":` + deep + `}`, 400, "BadRequest", ""},
		{"a JSON patch that is none", "PATCH", c.path("v1", "there"), jsonPatch, `[{"op":"conjure","path":"/spec"}]`, 422, "Invalid", "the server rejected our request due to an error in our request"},
		{"too many JSON patch operations", "PATCH", c.path("v1", "there"), jsonPatch, `[` + strings.Repeat(`{"op":"test","path":"/kind","value":"CronTab"},`, 10001) + `{"op":"test","path":"/kind","value":"CronTab"}]`, 413, "RequestEntityTooLarge", "10000"},
		{"an unknown fieldValidation", "POST", cr + "?fieldValidation=Maybe", jsonBody, head + `}`, 422, "Invalid", "fieldValidation"},
		{"an unknown field, strictly", "POST", cr + "?fieldValidation=Strict", jsonBody, head + `,"spec":{"nothing":1}}`, 400, "BadRequest", `unknown field "spec.nothing"`},
		{"FV-05 a repeated YAML key, strictly", "POST", cm + "?fieldValidation=Strict", yamlBody, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata: {a: b, a: c}\n", 400, "BadRequest", `key "a" already set in map`},
		{"a bad limit", "GET", cr + "?limit=many", "", ``, 400, "BadRequest", ""},
		{"a bad timeout", "GET", cr + "?watch=1&timeoutSeconds=soon", "", ``, 400, "BadRequest", ""},
	}
}

// TestBadInput sends what no client should: every request is refused with a
// Status, nothing is stored, and the server goes on.
func TestBadInput(t *testing.T) {
	c := newCronTabs(t, gatewaytest.Shared(t), nil)
	c.create("there")
	before := c.rvOf("there")
	for _, in := range badInputs(c) {
		c.run(in.name, func(t *testing.T, c *cronTabs) {
			var headers []string
			var body any
			if in.kind != "" {
				headers, body = []string{"Content-Type", in.kind}, in.body
			}
			r := c.api.Do(in.method, in.path, body, headers...)
			r.WantStatus(in.code, in.reason, in.message)
		})
	}
	c.run("a body above the limit", func(t *testing.T, c *cronTabs) {
		o := c.object("v1", "big", `{}`)
		o.Set("spec.host", strings.Repeat("x", 4<<20))
		c.api.Post(c.list("v1"), o).WantStatus(413, "RequestEntityTooLarge", "")
	})
	c.run("an object that etcd cannot take", func(t *testing.T, c *cronTabs) {
		o := c.object("v1", "big", `{}`)
		o.Set("spec.host", strings.Repeat("x", 2<<20))
		c.api.Post(c.list("v1"), o).Want(413, 500)
	})
	if after := c.rvOf("there"); after != before {
		t.Errorf("a refused request changed an object: %s, was %s", after, before)
	}
	c.api.Get(c.path("v1", "x")).Want(404)
	c.api.Post(c.list("v7"), c.object("v7", "x", `{}`)).Want(404)
	c.api.Get("/readyz").Want(200)
}

func (c *cronTabs) rvOf(name string) string {
	c.t.Helper()
	return c.api.Get(c.path("v1", name)).Want(200).Object().RV()
}
