package proof

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/crd/object"
)

// recorded are the samples of objects that are JSON.
func recorded(t *testing.T, d *crd.Definition, most int, texts ...string) Recorded {
	t.Helper()
	r, err := NewRecorder(d, "v1")
	if err != nil {
		t.Fatal(err)
	}
	var all []map[string]any
	for _, text := range texts {
		tree, _, err := object.Parse([]byte(`{"apiVersion":"example.com/v1","kind":"Widget",` + text[1:]))
		if err != nil {
			t.Fatal(text, err)
		}
		all = append(all, tree)
	}
	out := r.Record(all, most)
	o, err := newObjects(d, d.Versions[0], 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, obj := range out.Objects {
		if made, errs := o.at.accepted(obj); made == nil {
			t.Errorf("%v is not valid: %v", obj, errs)
		}
	}
	return out
}

func definedBy(t *testing.T, text string) *crd.Definition {
	t.Helper()
	d, err := compiled(text)
	if err != nil {
		t.Fatal(text, err)
	}
	return d
}

// Nothing of what somebody wrote is left, in whichever place; what the schema names is,
// and so is the shape.
func TestSamplesHaveOtherValues(t *testing.T) {
	d := definedBy(t, `{type: object, properties: {spec: {type: object, properties: {
		address: {type: string, pattern: ':'}, url: {type: string}, mode: {type: string, enum: [fast, slow]}, level: {type: string, default: basic},
		slug: {type: string, pattern: '^[a-z]([-a-z0-9]*[a-z0-9])?$', maxLength: 20}, when: {type: string, format: date-time}, ip: {type: string, format: ipv4},
		memory: {x-kubernetes-int-or-string: true}, port: {type: integer, minimum: 1, maximum: 65535}, ratio: {type: number}, enabled: {type: boolean},
		env: {type: object, additionalProperties: {type: string}}, any: {type: object, x-kubernetes-preserve-unknown-fields: true},
		refs: {type: array, items: {type: object, properties: {name: {type: string}}}}}}}}`)
	const secret = `{"metadata":{"name":"acme-billing","namespace":"acme","uid":"1-acme","labels":{"acme.com/team":"acme-core"},
		"annotations":{"acme.com/note":"Call +49 170 1234567","kubectl.kubernetes.io/last-applied-configuration":"{\"acme\":1}"},
		"managedFields":[{"manager":"acme"}],"ownerReferences":[{"name":"acme"}],"finalizers":["acme.com/f"]},
		"spec":{"address":"db.acme.internal:5432","url":"https://acme.com/a?b=acme","mode":"fast","level":"basic","slug":"acme-billing","when":"2024-05-06T07:08:09Z",
		"ip":"172.16.99.7","memory":"1536Mi","port":5432,"ratio":12.75,"enabled":true,"env":{"ACME_TOKEN":"s3cr3t-acme"},"any":{"acme":{"list":[5432,"acme"]}},"refs":[{"name":"acme-billing"},{"name":"acme-other"}]}}`
	got := recorded(t, d, 3, secret)
	if len(got.Objects) != 1 || got.Refused > 0 || got.Reached != got.Fields {
		t.Fatalf("%+v", got)
	}
	text, err := json.Marshal(got.Objects[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, gone := range []string{"acme", "ACME", "s3cr3t", "1234567", "5432", "172.16", "2024", "12.75", "1536", "uid", "managedFields", "ownerReferences", "finalizers", "last-applied"} {
		if strings.Contains(string(text), gone) {
			t.Errorf("%s is left in %s", gone, text)
		}
	}
	for place, shape := range map[string]string{
		"spec.address": `^[a-z]{2}\.[a-z]{4}\.[a-z]{8}:\d{4}$`, "spec.url": `^https://[a-z]{4}\.[a-z]{3}/[a-z]\?[a-z]=[a-z]{4}$`, "spec.mode": "^fast$", "spec.level": "^basic$",
		"spec.slug": "^[a-z]{4}-[a-z]{7}$", "spec.when": `Z$|:30$`, "spec.memory": `^\d{4}Mi$`, "spec.port": `^\d+$`, "spec.enabled": "^true$", "metadata.labels": `^map\[[a-z]{4}\.[a-z]{3}/[a-z]{4}:[a-z]{4}-[a-z]{4}\]$`,
	} {
		var v any = got.Objects[0]
		for _, name := range strings.Split(place, ".") {
			v = v.(map[string]any)[name]
		}
		if !regexp.MustCompile(shape).MatchString(fmt.Sprint(v)) {
			t.Errorf("%s is %v, want %s", place, v, shape)
		}
	}
	meta, spec := got.Objects[0]["metadata"].(map[string]any), got.Objects[0]["spec"].(map[string]any)
	refs := spec["refs"].([]any)
	if first := refs[0].(map[string]any)["name"]; first != meta["name"] || first != spec["slug"] || first == refs[1].(map[string]any)["name"] {
		t.Errorf("names are not the same everywhere: %s", text)
	}
}

// Where few numbers fit, none of somebody's stays all the same, unless it is the only one.
func TestSamplesHaveOtherNumbers(t *testing.T) {
	d := definedBy(t, `{type: object, properties: {step: {type: number, multipleOf: 7.5}, two: {type: integer, minimum: 41, maximum: 42}, one: {type: integer, minimum: 4711, maximum: 4711}, odd: {type: integer, multipleOf: 977}, small: {type: integer, minimum: 1000, maximum: 1010, multipleOf: 1005}}}`)
	got := recorded(t, d, 1, `{"metadata":{"name":"one","namespace":"default"},"step":22.5,"two":42,"one":4711,"odd":1954,"small":1005}`)
	if len(got.Objects) != 1 {
		t.Fatalf("%+v", got)
	}
	obj := got.Objects[0]
	if obj["two"] != int64(41) || obj["one"] != int64(4711) || obj["step"] == 22.5 || obj["odd"] == int64(1954) || obj["small"] == int64(1005) {
		t.Errorf("%v", obj)
	}
}

// Few objects are chosen, those that have most of what there is.
func TestFewObjectsHaveMuch(t *testing.T) {
	d := definedBy(t, `{type: object, properties: {spec: {type: object, properties: {a: {type: string}, b: {type: string}, c: {type: string}, mode: {type: string, enum: [fast, slow]}}}}}`)
	one := func(spec string) string {
		return `{"metadata":{"name":"one","namespace":"default"},"spec":` + spec + `}`
	}
	texts := []string{one(`{"a":"one"}`), one(`{"a":"one","b":"two","mode":"fast"}`), one(`{"c":"three"}`), one(`{"b":"two"}`), one(`{"mode":"slow"}`), one(`{}`)}
	got := recorded(t, d, 10, texts...)
	if len(got.Objects) != 3 || got.Reached != got.Fields {
		t.Errorf("%+v", got)
	}
	if got := recorded(t, d, 1, texts...); len(got.Objects) != 1 || got.Reached != 4 { // spec, a, b, mode
		t.Errorf("%+v", got)
	}
	if got := recorded(t, d, 1); len(got.Objects) != 0 {
		t.Errorf("of nothing: %+v", got)
	}
	if got := recorded(t, d, 1, one(`{}`)); len(got.Objects) != 1 {
		t.Errorf("of an empty one: %+v", got)
	}
}

// What is large is cut, as far as the schema lets it.
func TestSamplesAreSmall(t *testing.T) {
	d := definedBy(t, `{type: object, properties: {list: {type: array, items: {type: string}}, least: {type: array, minItems: 20, items: {type: string}}, map: {type: object, additionalProperties: {type: string}}, text: {type: string}}}`)
	var list, entries []string
	for i := range 20 {
		list, entries = append(list, fmt.Sprintf(`"item-%d"`, i)), append(entries, fmt.Sprintf(`"key-%d":"v"`, i))
	}
	items := strings.Join(list, ",")
	got := recorded(t, d, 1, `{"metadata":{"name":"`+strings.Repeat("long-", 50)+`x","namespace":"default"},"list":[`+items+`],"least":[`+items+`],"map":{`+strings.Join(entries, ",")+`},"text":"`+strings.Repeat("long ", 1000)+`"}`)
	if len(got.Objects) != 1 {
		t.Fatalf("%+v", got)
	}
	obj := got.Objects[0]
	if n, least, m := len(obj["list"].([]any)), len(obj["least"].([]any)), len(obj["map"].(map[string]any)); n != maxEntries || least != 20 || m != maxEntries {
		t.Errorf("%d, %d, %d", n, least, m)
	}
	if n := len(obj["text"].(string)); n > maxDisguise {
		t.Errorf("a text of %d bytes", n)
	}
	if name := obj["metadata"].(map[string]any)["name"].(string); len(name) > maxDisguise || strings.HasSuffix(name, "-") {
		t.Errorf("the name %q", name)
	}
}

// Whatever a schema says, samples of valid objects are valid, and hold no text of theirs
// that the schema does not name.
func TestSamplesOfAnySchema(t *testing.T) {
	const marked = "Zq7Zq7"
	for _, text := range schemas {
		d := definedBy(t, text)
		r, err := NewRecorder(d, "v1")
		if err != nil {
			t.Fatal(err)
		}
		var all []map[string]any
		n := 0
		for obj := range r.objects.all {
			if n++; n > 200 {
				break
			}
			if obj == nil {
				continue
			}
			obj["metadata"].(map[string]any)["annotations"] = map[string]any{marked: marked}
			all = append(all, obj)
		}
		got := r.Record(all, 20)
		if len(got.Objects) == 0 {
			t.Errorf("%s: no samples of %d objects, %d were refused", text, len(all), got.Refused)
		}
		for _, obj := range got.Objects {
			if made, errs := r.objects.at.accepted(obj); made == nil {
				t.Errorf("%s: %v: %v", text, obj, errs)
			}
			if s := fmt.Sprint(obj); strings.Contains(s, marked) {
				t.Errorf("%s: %s", text, s)
			}
		}
	}
}

// Digits become others, but for the first of a number that has several: nobody writes a
// zero there.
func TestNumbersInTextsBeginAsNumbersDo(t *testing.T) {
	r, err := NewRecorder(definedBy(t, schemas[0]), "v1")
	if err != nil {
		t.Fatal(err)
	}
	for was, want := range map[string][]bool{"7": {true}, "77": {false, true}, "79": {false, true}, "70": {false, true}, "7a": {true, false}, "777": {false, true, true}, "a7": {false, true}, "7-77": {true, false, false, true}} {
		zero := make([]bool, len(was))
		for range 500 {
			for i, c := range r.shaped(was) {
				zero[i] = zero[i] || c == '0'
			}
		}
		if !slices.Equal(zero, want) {
			t.Errorf("%s has zeros at %v, want %v", was, zero, want)
		}
	}
}

// A number becomes another one with its sign and as many digits, where no schema says otherwise.
func TestIntegersKeepTheirSize(t *testing.T) {
	r, err := NewRecorder(definedBy(t, schemas[0]), "v1")
	if err != nil {
		t.Fatal(err)
	}
	for _, was := range []int64{1, 7, 42, 99999, -3, -42, -100} {
		for range 100 {
			n, ok := r.integer(was, nil).(int64)
			if !ok || n == was || len(fmt.Sprint(n)) != len(fmt.Sprint(was)) && n != 0 || n > 0 && was < 0 || n < 0 && was > 0 {
				t.Errorf("%d becomes %d", was, n)
			}
		}
	}
}
