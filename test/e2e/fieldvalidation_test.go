package e2e

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/test/harness"
)

// doubtful is a write with unknown and repeated fields, and what is said about
// them.
type doubtful struct {
	name, method, kind string
	// custom and builtin are the bodies for a CronTab and a ConfigMap named
	// NAME; an empty one is not sent.
	custom, builtin string
	// problems are what Warn and Strict name, for either.
	customProblems, builtinProblems []string
}

const (
	unknownSpec   = `unknown field "spec.nothing"`
	unknownMeta   = `unknown field "metadata.nothing"`
	unknownRoot   = `unknown field "nothing"`
	repeatedHost  = `duplicate field "spec.host"`
	repeatedData  = `duplicate field "data.a"`
	jsonCronTab   = `{"apiVersion":"GROUP/v1","kind":"CronTab","metadata":{"name":"NAME","resourceVersion":"RV","nothing":1},"spec":{"host":"a","host":"b","nothing":1},"nothing":{}}`
	jsonConfigMap = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"NAME","nothing":1},"data":{"a":"1","a":"2"},"nothing":{}}`
	yamlCronTab   = "apiVersion: GROUP/v1\nkind: CronTab\nmetadata:\n  name: NAME\n  resourceVersion: \"RV\"\n  nothing: 1\nspec:\n  host: a\n  host: b\n  nothing: 1\n"
	yamlConfigMap = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: NAME\n  nothing: 1\ndata:\n  a: \"1\"\n  a: \"2\"\n"
)

// doubtfulWrites are every verb that writes, in every form of body.
var doubtfulWrites = []doubtful{
	{"POST JSON", "POST", "application/json", jsonCronTab, jsonConfigMap,
		[]string{unknownSpec, unknownMeta, unknownRoot, repeatedHost}, []string{unknownMeta, unknownRoot, repeatedData}},
	{"POST YAML", "POST", "application/yaml", yamlCronTab, yamlConfigMap,
		[]string{unknownSpec, unknownMeta, `line 9: key "host" already set in map`}, []string{unknownMeta, `line 8: key "a" already set in map`}},
	{"POST YAML that is JSON", "POST", "application/yaml", jsonCronTab, jsonConfigMap,
		[]string{unknownSpec, unknownMeta, unknownRoot, `line 1: key "host" already set in map`}, []string{unknownMeta, unknownRoot, `line 1: key "a" already set in map`}},
	{"PUT JSON", "PUT", "application/json", jsonCronTab, jsonConfigMap,
		[]string{unknownSpec, unknownMeta, unknownRoot, repeatedHost}, []string{unknownMeta, unknownRoot, repeatedData}},
	{"PUT YAML", "PUT", "application/yaml", yamlCronTab, yamlConfigMap,
		[]string{unknownSpec, unknownMeta, `line 9: key "host" already set in map`}, []string{unknownMeta, `line 8: key "a" already set in map`}},
	{"merge patch", "PATCH", mergePatch, `{"metadata":{"nothing":1},"spec":{"host":"a","host":"b","nothing":1}}`, `{"metadata":{"nothing":1},"data":{"a":"1","a":"2"}}`,
		[]string{unknownSpec, unknownMeta, repeatedHost}, []string{unknownMeta, repeatedData}},
	{"JSON patch", "PATCH", jsonPatch, `[{"op":"add","path":"/spec","value":{"host":"b","nothing":1}},{"op":"add","path":"/metadata/nothing","value":1}]`,
		`[{"op":"add","path":"/metadata/nothing","value":1},{"op":"add","path":"/data","value":{"a":"2"}}]`,
		[]string{unknownSpec, unknownMeta}, []string{unknownMeta}},
	{"strategic patch", "PATCH", strategicPatch, ``, `{"metadata":{"nothing":1},"data":{"a":"1","a":"2"}}`,
		nil, []string{unknownMeta, repeatedData}},
}

func TestFieldValidation(t *testing.T) {
	c := newCronTabs(t, harness.Shared(t), nil)
	n := 0
	for _, d := range doubtfulWrites {
		for _, level := range []string{"Ignore", "Warn", "", "Strict"} {
			c.run("FV-02 FV-03 FV-04 FV-05 FV-06 "+d.name+" "+or(level, "unset"), func(t *testing.T, c *cronTabs) {
				n++
				if d.custom != "" {
					name := "item-" + strconv.Itoa(n)
					made := c.object("v1", name, `{"host":"old"}`)
					d.send(t, c, level, write{c.list("v1"), name, made, d.custom, "spec.host", d.customProblems})
				}
				name := "map-" + strconv.Itoa(n)
				d.send(t, c, level, write{configMaps(c.ns), name, configMap(t, c.ns, name, `{"a":"old"}`), d.builtin, "data.a", d.builtinProblems})
			})
		}
	}
	c.run("FV-07 only a fatal error is reported, at every level", func(t *testing.T, c *cronTabs) {
		for _, level := range []string{"Ignore", "Warn", "Strict"} {
			body := `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"},"data":{"a":5},"nothing":1}`
			r := c.api.Post(configMaps(c.ns)+"?fieldValidation="+level, body).WantStatus(400, "BadRequest", "cannot unmarshal number")
			if r.Contains("nothing") || len(r.Header.Values("Warning")) > 0 {
				t.Errorf("%s: %s %q", level, r.Body, r.Header.Values("Warning"))
			}
		}
	})
}

// write is one request: the collection, the name of the object, the object that
// a PUT or PATCH finds, the body, a field that is "b" or "2" after the write,
// and the problems of the body.
type write struct {
	collection, name string
	before           object
	body, field      string
	problems         []string
}

// send sends the write at one level and checks the reply, its warnings and what
// is stored.
func (d doubtful) send(t *testing.T, c *cronTabs, level string, w write) {
	t.Helper()
	path, rv, old := w.collection, "", ""
	if d.method != "POST" {
		path += "/" + w.name
		rv = c.api.Post(w.collection, w.before).Want(201).Object().RV()
		old = w.before.Str(w.field)
	}
	body := strings.NewReplacer("GROUP", c.group, "NAME", w.name, "RV", rv).Replace(w.body)
	if level != "" {
		path += "?fieldValidation=" + level
	}
	r := c.api.Do(d.method, path, body, "Content-Type", d.kind)
	warnings := r.Header.Values("Warning")
	got := c.api.Get(w.collection + "/" + w.name)
	if level == "Strict" {
		if d.method == "PATCH" { // the problem is in the outcome of the patch
			r.WantStatus(422, "Invalid", w.problems...)
		} else {
			r.WantStatus(400, "BadRequest", w.problems...)
		}
		if got.Code != 404 && got.Str(w.field) != old || len(warnings) != 0 {
			t.Errorf("refused, and the object is %s; warnings %q", got.Body, warnings)
		}
		return
	}
	r.Want(200, 201)
	if now := got.Want(200).Str(w.field); now != "b" && now != "2" || got.Contains("nothing") {
		t.Errorf("the object is %s", got.Body)
	}
	want := w.problems
	if level == "Ignore" {
		want = nil
	}
	if len(warnings) != len(want) {
		t.Errorf("warnings %q, want %q", warnings, want)
	}
	for _, p := range want {
		quoted := strings.Trim(strconv.Quote(p), `"`)
		if !slices.ContainsFunc(warnings, func(w string) bool { return strings.HasPrefix(w, `299 - "`) && strings.Contains(w, quoted) }) {
			t.Errorf("warnings %q lack %q", warnings, p)
		}
	}
}
