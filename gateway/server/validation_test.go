package server

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

const fvDefinition = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"fvs.example.com"},"spec":{
"group":"example.com","scope":"Namespaced","names":{"plural":"fvs","singular":"fv","kind":"Fv","listKind":"FvList"},"versions":[{"name":"v1","served":true,"storage":true,
"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","required":["size"],"properties":{"size":{"type":"integer"},"color":{"type":"string"},
"open":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}}}}}]}}`

// validated is one kind whose requests have fields that are not in its schema,
// fields twice, and fields that anything is allowed in.
type validated struct {
	path, json, yaml string // NAME and META are replaced
	kept             map[string]any
	merge, patch     string
	patched          map[string]any
	// problems are what is reported, for bodies in JSON and YAML and for
	// patches.
	json3, yaml3, patch2 []string
}

var custom = validated{
	path:    "/apis/example.com/v1/namespaces/default/fvs",
	json:    `{"apiVersion":"example.com/v1","kind":"Fv","metadata":{"name":"NAME",META"bad":1},"spec":{"size":1,"x":1,"color":"a","color":"b","open":{"q":1}}}`,
	yaml:    "apiVersion: example.com/v1\nkind: Fv\nmetadata: {name: NAME, META bad: 1}\nspec:\n  size: 1\n  x: 1\n  color: a\n  color: b\n  open: {q: 1}\n",
	kept:    map[string]any{"size": 1.0, "color": "b", "open": map[string]any{"q": 1.0}},
	merge:   `{"metadata":{"bad":1},"spec":{"x":1,"color":"a","color":"b","open":{"q":1}}}`,
	patch:   `[{"op":"add","path":"/spec/x","value":1},{"op":"add","path":"/spec/color","value":"b","extra":1}]`,
	patched: map[string]any{"size": 1.0, "color": "b", "open": map[string]any{"q": 1.0}},
	json3:   []string{`duplicate field "spec.color"`, `unknown field "metadata.bad"`, `unknown field "spec.x"`},
	yaml3:   []string{`line 8: key "color" already set in map`, `unknown field "metadata.bad"`, `unknown field "spec.x"`},
	patch2:  []string{`json patch unknown field "[1].extra"`, `unknown field "spec.x"`},
}

var native = validated{
	path:    "/api/v1/namespaces/default/configmaps",
	json:    `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"NAME",META"labels":{}},"data":{"a":"1","a":"2"},"nope":1}`,
	yaml:    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: NAME, META labels: {}}\ndata:\n  a: '1'\n  a: '2'\nnope: 1\n",
	kept:    map[string]any{"a": "2"},
	merge:   `{"data":{"a":"1","a":"2"},"nope":1}`,
	patch:   `[{"op":"add","path":"/nope","value":1}]`,
	patched: map[string]any{"a": "2"},
	json3:   []string{`duplicate field "data.a"`, `unknown field "nope"`},
	yaml3:   []string{`line 6: key "a" already set in map`, `unknown field "nope"`},
	patch2:  []string{`unknown field "nope"`},
}

// Every way to write, at every level: what is kept, what is warned of, and what
// is refused. All was tried on kube-apiserver 1.36.3.
func testFieldValidation(t *testing.T, g *instance) {
	g.define(fvDefinition)
	for kind, v := range map[string]validated{"custom": custom, "native": native} {
		for _, level := range []string{"Ignore", "Warn", "", "Strict"} {
			name := strings.ToLower(kind + level)
			w := fvWrites{t, g, v, level, name}
			w.bodies("JSON", "application/json", v.json, v.json3)
			w.bodies("YAML", "application/yaml", v.yaml, v.yaml3)
			w.patch("merge", "application/merge-patch+json", v.merge, v.kept, v.json3)
			w.patch("json", "application/json-patch+json", v.patch, v.patched, v.patch2)
			if kind == "native" {
				w.patch("strategic", "application/strategic-merge-patch+json", v.merge, v.kept, v.json3)
			}
		}
	}
	testFatal(t, g)
}

// fvWrites are writes of one kind at one level.
type fvWrites struct {
	t *testing.T
	g *instance
	validated
	level, name string
}

func (w fvWrites) url(name string) string {
	url := w.path + name
	if w.level != "" {
		url += "?fieldValidation=" + w.level
	}
	return url
}

// good makes an object without any problem and returns its revision.
func (w fvWrites) good(name string) string {
	w.t.Helper()
	body := strings.NewReplacer("META", "", `"nope":1`, `"immutable":false`, `"bad":1`, `"labels":{}`, `"x":1,`, "", `"color":"a",`, "", `"a":"1",`, "").Replace(w.json)
	w.g.do("DELETE", w.path+"/"+name, "")
	got := w.g.do("POST", w.path+"?fieldValidation=Strict", strings.Replace(body, "NAME", name, 1))
	var o struct {
		Metadata struct{ ResourceVersion string }
	}
	if err := json.Unmarshal([]byte(got.body), &o); err != nil || got.code != 201 {
		w.t.Fatalf("%s: %d %s", name, got.code, got.body)
	}
	return o.Metadata.ResourceVersion
}

// bodies creates and updates.
func (w fvWrites) bodies(what, media, body string, problems []string) {
	w.t.Helper()
	name := w.name + strings.ToLower(what)
	fill := func(meta string) string { return strings.NewReplacer("NAME", name, "META", meta).Replace(body) }
	got := w.g.do("POST", w.url(""), fill(""), "Content-Type: "+media)
	w.check(what+" create", got, 201, 400, w.kept, problems)
	if after := w.g.do("GET", w.path+"/"+name, ""); (after.code == 404) != (w.level == "Strict") {
		w.t.Errorf("%s %s: afterwards %d", w.name, what, after.code)
	}
	meta := fmt.Sprintf("resourceVersion: %q,", w.good(name))
	if what == "JSON" {
		meta = strings.Replace(meta, "resourceVersion", `"resourceVersion"`, 1)
	}
	got = w.g.do("PUT", w.url("/"+name), fill(meta), "Content-Type: "+media)
	w.check(what+" update", got, 200, 400, w.kept, problems)
}

func (w fvWrites) patch(what, media, body string, kept map[string]any, problems []string) {
	w.t.Helper()
	name := w.name + "patch"
	w.good(name)
	got := w.g.do("PATCH", w.url("/"+name), body, "Content-Type: "+media)
	w.check(what+" patch", got, 200, 422, kept, problems)
}

// check looks at one reply: rows FV-02 to FV-06.
func (w fvWrites) check(what string, got answer, code, refused int, kept map[string]any, problems []string) {
	w.t.Helper()
	if w.level == "Strict" {
		if _, message := got.status(w.t); got.code != refused {
			w.t.Errorf("%s %s: %d %s", w.name, what, got.code, message)
		} else {
			for _, p := range problems {
				if !strings.Contains(message, p) {
					w.t.Errorf("%s %s: no %s in %s", w.name, what, p, message)
				}
			}
		}
		if sent := got.header.Values("Warning"); len(sent) > 0 {
			w.t.Errorf("%s %s: warnings %q besides the refusal", w.name, what, sent)
		}
		return
	}
	var warnings []string
	if w.level != "Ignore" {
		for _, p := range problems {
			warnings = append(warnings, `299 - "`+strings.ReplaceAll(p, `"`, `\"`)+`"`)
		}
	}
	var o struct {
		Spec, Data map[string]any
		Metadata   map[string]any
		Nope       any
	}
	err := json.Unmarshal([]byte(got.body), &o)
	if o.Spec == nil {
		o.Spec = o.Data
	}
	if err != nil || got.code != code || !reflect.DeepEqual(o.Spec, kept) || o.Metadata["bad"] != nil || o.Nope != nil {
		w.t.Errorf("%s %s: %d %s", w.name, what, got.code, got.body)
	}
	if sent := got.header.Values("Warning"); !reflect.DeepEqual(sent, warnings) {
		w.t.Errorf("%s %s: warnings %q, want %q", w.name, what, sent, warnings)
	}
}

// What cannot be read at all, or misses something, is refused at any level,
// with the fatal error alone: rows FV-01 and FV-07.
func testFatal(t *testing.T, g *instance) {
	const (
		tab    = `{"apiVersion":"example.com/v1","kind":"Fv","metadata":{"name":"fatal"},"spec":{%s"x":1}}`
		cm     = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"fatal"},"data":[1],"nope":1}`
		cmYAML = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: fatal}\ndata: [1]\nnope: 1\n"
		array  = `ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal array into Go struct field ConfigMap.data of type map[string]string`
	)
	for _, level := range []string{"Ignore", "Warn", "Strict", "Other"} {
		for name, c := range map[string]struct {
			path, media, body string
			code              int
			message           string
		}{
			"wrong type":       {custom.path, "application/json", fmt.Sprintf(tab, `"size":"text",`), 422, `spec.size: Invalid value: "string": spec.size in body must be of type integer: "string"`},
			"required":         {custom.path, "application/json", fmt.Sprintf(tab, ""), 422, "spec.size: Required value"},
			"unreadable":       {native.path, "application/json", cm, 400, array},
			"unreadable, YAML": {native.path, "application/yaml", cmYAML, 400, array},
		} {
			if level == "Strict" && c.path == custom.path { // found before the schema is asked
				c.code, c.message = 400, `Fv in version "v1" cannot be handled as a Fv: strict decoding error: unknown field "spec.x"`
			}
			if level == "Other" {
				c.code, c.message = 422, `fieldValidation: Unsupported value: "Other": supported values: "", "Ignore", "Strict", "Warn"`
			}
			got := g.do("POST", c.path+"?fieldValidation="+level, c.body, "Content-Type: "+c.media)
			if _, message := got.status(t); got.code != c.code || !strings.HasSuffix(message, c.message) {
				t.Errorf("%s at %s: %d %s", name, level, got.code, message)
			}
		}
		if got := g.do("GET", custom.path+"/fatal", ""); got.code != 404 {
			t.Errorf("at %s it was kept: %s", level, got.body)
		}
	}
}
