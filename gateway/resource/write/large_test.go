package write

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wasmgate/wasmgate/crd/custom"
	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/gateway/catalog/catalogtest"
	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/gateway/resource/patch"
)

// richSpec is a schema of much that is changed, or compared, when an object is written.
const richSpec = `spec: {type: object, properties: {replicas: {type: integer}, filler: {type: string}, mode: {type: string, default: plain, enum: [plain, odd]},
        tags: {type: array, x-kubernetes-list-type: set, items: {type: string}}, texts: {type: array, items: {type: string}},
        parts: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [name], items: {type: object, required: [name],
          properties: {name: {type: string}, port: {type: integer, default: 1}, note: {type: string, nullable: true}, deep: {type: object, properties: {er: {type: object, additionalProperties: {type: string}}}}}}},
        free: {type: object, x-kubernetes-preserve-unknown-fields: true}, labels: {type: object, additionalProperties: {type: string}}},
        x-kubernetes-validations: [{rule: "!has(self.replicas) || !has(oldSelf.replicas) || self.replicas > oldSelf.replicas - 4"}]}`

// largeWorld has an object of a schema, so large that what changes is told from what
// does not.
func largeWorld(t *testing.T, plain bool) *world {
	w := newWorld(t)
	text := catalogtest.CronTab(v1, false)
	at := strings.LastIndex(text, `spec: {type: object, properties: {replicas: {type: integer}}}`)
	text = text[:at] + richSpec + strings.TrimPrefix(text[at:], `spec: {type: object, properties: {replicas: {type: integer}}}`)
	if plain { // what is accepted at once has neither rules nor a scale
		text = regexp.MustCompile(`(?s),\s*x-kubernetes-validations: \[.*?\]`).ReplaceAllString(text, "")
		text = regexp.MustCompile(`(?m)^\s*scale: .*$`).ReplaceAllString(text, "")
	}
	w.defineText(text)
	body := fmt.Sprintf(`{"apiVersion":"example.com/v1","kind":"CronTab","metadata":{"name":"one","namespace":"default","labels":{"a":"<b>"}},"host":"h",`+
		`"spec":{"replicas":5,"filler":"%s <é> \n","tags":["a","b"],"texts":["x","&"],"parts":[{"name":"p","deep":{"er":{"k":"v"}}},{"name":"q","note":null}],"free":{"x":[1,2.5,null,{"y":"\u2028"}]},"labels":{"a<":"b"}}}`,
		strings.Repeat("f", 20_000))
	w.create(w.at(v1, ""), strings.ReplaceAll(body, "<b>", "b"))
	return w
}

// change is a random merge patch of an object of largeWorld, some of which are refused.
func change(r *rand.Rand) []byte {
	choose := func(of ...string) string { return of[r.IntN(len(of))] }
	fields := []func() string{
		func() string { return fmt.Sprintf(`"replicas":%d`, r.IntN(9)) },
		func() string { return `"mode":` + choose(`"odd"`, `"plain"`, `null`, `"wrong"`) },
		func() string { return `"tags":` + choose(`["a"]`, `["a","b","c"]`, `["a","a"]`, `null`, `[]`, `[1]`) },
		func() string { return `"texts":` + choose(`["x"]`, `["x","&"]`, `[null]`, `{}`) },
		func() string {
			return `"parts":` + choose(`[{"name":"p"}]`, `[{"name":"p","port":7,"note":null,"deep":{"er":{"k":"w"}}}]`, `[{"port":1}]`, `[{"name":"p"},{"name":"p"}]`, `[{"name":"z","unknown":1}]`)
		},
		func() string {
			return `"free":` + choose(`{"x":null,"z":{"y":1}}`, `{"new":[{"a":null}]}`, `null`, `{}`)
		},
		func() string { return `"labels":` + choose(`{"a<":null}`, `{"a<":"<"}`, `{"b":"c"}`, `{"b":1}`) },
		func() string { return `"unknown":` + choose(`1`, `{"a":1}`) },
	}
	var spec []string
	for range 1 + r.IntN(2) {
		spec = append(spec, fields[r.IntN(len(fields))]())
	}
	top := []string{`"spec":{` + strings.Join(spec, ",") + `}`}
	if r.IntN(3) == 0 {
		top = append(top, choose(`"metadata":{"labels":{"c":"d"}}`, `"metadata":{"labels":null}`, `"metadata":{"annotations":{"n":"1"}}`, `"host":"other"`, `"host":null`, `"status":{"replicas":1}`, `"metadata":{"finalizers":["a.b/c"]}`, `"metadata":{"finalizers":null}`, `"metadata":{"generation":null}`))
	}
	return []byte("{" + strings.Join(top, ",") + "}")
}

var times = regexp.MustCompile(`,"time":"[^"]*"`)

// outcome is what became of an object, but for what no two have the same.
func (w *world) outcome(t *testing.T, err error) string {
	t.Helper()
	raw := w.raw(w.at(v1, "one")).Value
	tree, err2 := custom.JSON.Decode(raw)
	if err2 != nil {
		t.Fatal(err2)
	}
	if again, err := custom.JSON.Encode(tree); err != nil || !bytes.Equal(again, raw) {
		t.Fatalf("what is stored is not canonical: %v\n%s\n%s", err, raw, again)
	}
	meta := tree["metadata"].(map[string]any)
	for _, own := range []string{"uid", "creationTimestamp"} {
		delete(meta, own)
	}
	text, err2 := object.Encode(tree)
	if err2 != nil {
		t.Fatal(err2)
	}
	told := ""
	if err != nil {
		told = "refused"
		if s, ok := err.(apierrors.APIStatus); ok && apierrors.IsInvalid(err) && !strings.Contains(err.Error(), "patch: ") {
			var causes []string // which are in no order
			for _, c := range s.Status().Details.Causes {
				causes = append(causes, fmt.Sprintln(c))
			}
			slices.Sort(causes)
			told = strings.Join(causes, "")
		}
	}
	return told + times.ReplaceAllString(string(text), "")
}

// What a merge patch, a JSON patch or a whole object of which nearly all is as before
// makes of a large object is what the whole object makes of it that is written so that
// nothing is as before.
func TestLargeObjectsBecomeWhatOthersDo(t *testing.T) {
	for _, plain := range []bool{false, true} {
		t.Run(fmt.Sprintf("plain=%t", plain), func(t *testing.T) {
			worlds := map[string]*world{}
			for _, how := range []string{"merge", "json", "compact", "spread"} {
				worlds[how] = largeWorld(t, plain)
			}
			r := rand.New(rand.NewPCG(7, 9))
			refusals := 0
			for n := range 400 {
				p, got := change(r), map[string]string{}
				for how, w := range worlds {
					err := w.changes(how, p)
					got[how] = w.outcome(t, err)
					if err != nil {
						refusals++
					}
				}
				for how, one := range got {
					if one != got["spread"] {
						t.Fatalf("%d: %s by %s:\n%s\nas a whole:\n%s", n, p, how, one, got["spread"])
					}
				}
			}
			if refusals < 100 || refusals > 1500 {
				t.Errorf("%d refusals", refusals)
			}
		})
	}
}

// changes makes a change in one of the ways that there are.
func (w *world) changes(how string, p []byte) error {
	one := w.at(v1, "one")
	if how == "merge" {
		_, err := w.Patch(w.ctx(), one, types.MergePatchType, p, resource.WriteOptions{})
		return err
	}
	before := w.read(one).Object
	apply, _, err := patch.Decode(types.MergePatchType, p, nil)
	if err != nil {
		return err
	}
	after, _, err := apply(patch.State{Tree: before})
	if err != nil {
		return err
	}
	if how == "json" {
		_, err = w.Patch(w.ctx(), one, types.JSONPatchType, operations(before, after), resource.WriteOptions{})
		return err
	}
	body, err := object.Encode(after)
	if err != nil {
		return err
	}
	if how == "spread" {
		var out bytes.Buffer
		if err := json.Indent(&out, body, "", " "); err != nil {
			return err
		}
		body = out.Bytes()
	}
	_, err = w.Update(w.ctx(), one, body, resource.WriteOptions{})
	return err
}

// operations make of one object another one, a field of it or of its spec after the other.
func operations(before, after map[string]any) []byte {
	var all []any
	each := func(path string, before, after map[string]any) {
		escape := strings.NewReplacer("~", "~0", "/", "~1")
		for k := range before {
			if _, ok := after[k]; !ok {
				all = append(all, map[string]any{"op": "remove", "path": path + "/" + escape.Replace(k)})
			}
		}
		for k, v := range after {
			if w, ok := before[k]; k != "spec" && (!ok || !object.Equal(v, w)) {
				all = append(all, map[string]any{"op": "add", "path": path + "/" + escape.Replace(k), "value": v})
			}
		}
	}
	each("", before, after)
	each("/spec", before["spec"].(map[string]any), after["spec"].(map[string]any))
	text, err := object.Encode(all)
	if err != nil {
		panic(err)
	}
	return text
}

// Of a large object an apply changes what it says, and leaves the rest as it is stored.
func TestApplyToALargeObject(t *testing.T) {
	w := largeWorld(t, true)
	one := w.at(v1, "one")
	w.outcome(t, nil)
	want := w.read(one).Object
	for n, c := range []struct{ field, value, stored string }{{"labels", `{"x":"y"}`, `"x":"y"`}, {"free", `{"z":[1]}`, `"z":[1]`}, {"replicas", `9`, `"replicas":9`}, {"parts", `[{"name":"q","port":4}]`, `"port":4`}} {
		config := w.parse(fmt.Appendf(nil, `{"apiVersion":"example.com/v1","kind":"CronTab","metadata":{"name":"one"},"spec":{%q:%s}}`, c.field, c.value))
		o := resource.WriteOptions{Caller: resource.Caller{FieldManager: fmt.Sprint("m", n), Force: true}}
		if _, err := w.Apply(w.ctx(), one, config.Object, o); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(w.outcome(t, nil), c.stored) {
			t.Errorf("%s was not applied", c.field)
		}
	}
	got := w.read(one).Object
	for _, tree := range []map[string]any{want, got} {
		spec := tree["spec"].(map[string]any)
		for _, changed := range []string{"labels", "free", "replicas", "parts"} {
			delete(spec, changed)
		}
		delete(tree, "metadata")
	}
	if !object.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// A field that a large body has in two spellings says nothing of the present object: what
// a rule forbids to change stays as it is.
func TestLargeBodiesWithTwoSpellings(t *testing.T) {
	w := newWorld(t)
	text := catalogtest.CronTab(v1, false)
	w.defineText(strings.Replace(text, "host: {type: string}", "host: {type: string}, aB: {type: string, x-kubernetes-validations: [{rule: self == oldSelf}]}", 1))
	w.create(w.at(v1, ""), `{"aB":"old",`+strings.TrimPrefix(tab(v1, "one", "h", "1"), "{"))
	stored := string(w.raw(w.at(v1, "one")).Value)
	for _, twice := range []string{`"aB":"old"`, `"aB":"old","a\u0042":"new"`} {
		body := strings.Replace(stored, `"aB":"old"`, twice, 1)
		body = strings.Replace(body, `"metadata":{`, `"metadata":{"resourceVersion":"`+w.read(w.at(v1, "one")).GetResourceVersion()+`",`, 1)
		body = strings.TrimSuffix(strings.TrimSpace(body), "}") + strings.Repeat(" ", 16<<10) + "}"
		_, err := w.Update(w.ctx(), w.at(v1, "one"), []byte(body), resource.WriteOptions{FieldValidation: "Ignore"})
		if !strings.Contains(twice, "new") {
			w.must(&resource.Written{Object: []byte("{}")}, err)
			continue
		}
		refused(t, err, 422, "Invalid", "aB: Invalid value")
	}
	if now := w.read(w.at(v1, "one")).Object["aB"]; now != "old" {
		t.Errorf("it has become %v", now)
	}
}
