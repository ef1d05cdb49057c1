package patch

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wasmgate/wasmgate/crd/jsonpatch"
	"github.com/wasmgate/wasmgate/crd/object"
)

const (
	jsonPatch, merge, strategic = types.JSONPatchType, types.MergePatchType, types.StrategicMergePatchType
	pod                         = `{"apiVersion":"v1","kind":"Pod","metadata":{"labels":{"a":"b"},"name":"p"},"spec":{"containers":[{"image":"i","name":"c"}]}}`
)

func newPod() runtime.Object { return &corev1.Pod{} }

func stateOf(t *testing.T, text string) State {
	t.Helper()
	tree, _, err := object.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return State{JSON: []byte(text), Tree: tree}
}

// Each kind of patch makes of a pod what kube-apiserver makes of it, or is refused in its words.
func TestPatches_UPD04_UPD05(t *testing.T) {
	was := stateOf(t, pod)
	for name, c := range map[string]struct {
		kind       types.PatchType
		body, want string // the outcome, or why there is none
		code       int32
		odd        []string
	}{
		"JSON":                      {jsonPatch, `[{"op":"remove","path":"/metadata/labels"}]`, `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"containers":[{"image":"i","name":"c"}]}}`, 0, nil},
		"JSON, odd":                 {jsonPatch, `[{"op":"test","op":"test","path":"/kind","value":"Pod","x":1}]`, pod, 0, []string{`json patch duplicate field "[0].op"`, `json patch unknown field "[0].x"`}},
		"JSON, odd inside":          {jsonPatch, `[{"op":"add","path":"/metadata/labels","value":{"a":"c","a":"b"}},{"op":"add","path":"/spec/hostname","value":{"b":1,"b":2}},{"op":"remove","path":"/spec/hostname"}]`, pod, 0, []string{`json patch duplicate field "[0].value.a"`, `json patch duplicate field "[1].value.b"`, `duplicate field "metadata.labels.a"`}},
		"JSON of nothing":           {jsonPatch, `[{"op":"remove","path":"/x"}]`, "the server rejected our request due to an error in our request", 422, nil},
		"JSON into no object":       {jsonPatch, `[{"op":"replace","path":"","value":[]}]`, ` "" is invalid: patch: Invalid value: "[]": `, 422, nil},
		"JSON, a number for a name": {jsonPatch, `[{"op":1,"path":"/kind"}]`, "error decoding patch: json: cannot unmarshal number into Go struct field jsonPatchOp.op of type string", 400, nil},
		"JSON, a list for a path":   {jsonPatch, `[{"op":"remove","path":["kind"]}]`, "error decoding patch: json: cannot unmarshal array into Go struct field jsonPatchOp.path of type string", 400, nil},
		"JSON, beyond any number":   {jsonPatch, `[{"op":"add","path":"/spec/x","value":1e400}]`, "error decoding patch: json: cannot unmarshal number 1e400 into Go struct field jsonPatchOp.value of type float64", 400, nil},
		"JSON, an object":           {jsonPatch, `{"spec":{}}`, "error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp", 400, nil},
		"JSON, a text":              {jsonPatch, `"x"`, "error decoding patch: json: cannot unmarshal string into Go value of type []handlers.jsonPatchOp", 400, nil},
		"JSON, a list of numbers":   {jsonPatch, `[{"op":"test","path":"/kind","value":"Pod"},7]`, "error decoding patch: json: cannot unmarshal number into Go value of type handlers.jsonPatchOp", 400, nil},
		"no JSON":                   {jsonPatch, `{`, "error decoding patch: ", 400, nil},
		"too many operations":       {jsonPatch, "[" + strings.Repeat(`{"op":"test","path":"/kind","value":"Pod"},`, jsonpatch.MaxOperations) + `{"op":"test","path":"/kind","value":"Pod"}]`, "The allowed maximum operations in a JSON patch is 10000, got 10001", 413, nil},
		"merge":                     {merge, `{"metadata":{"labels":null}}`, `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"containers":[{"image":"i","name":"c"}]}}`, 0, nil},
		"merge, odd":                {merge, `{"kind":"Pod","kind":"Pod"}`, pod, 0, []string{`duplicate field "kind"`}},
		"merge of null":             {merge, ` null`, "Invalid JSON Patch", 400, nil},
		"no merge":                  {merge, `[`, "error decoding patch: ", 400, nil},
		"strategic":                 {strategic, `{"spec":{"containers":[{"name":"d","image":"j"}]}}`, `{"apiVersion":"v1","kind":"Pod","metadata":{"labels":{"a":"b"},"name":"p"},"spec":{"containers":[{"image":"j","name":"d"},{"image":"i","name":"c"}]}}`, 0, nil},
		"strategic, odd":            {strategic, `{"kind":"Other","kind":"Other"}`, pod, 0, []string{`duplicate field "kind"`}},
		"strategic, null":           {strategic, `null`, pod, 0, nil},
		"no strategic":              {strategic, `[`, "", 400, nil},
		"an odd directive":          {strategic, `{"spec":{"containers":[{"$patch":"odd","name":"c"}]}}`, "odd", 422, nil},
		"what is no list":           {strategic, `{"spec":{"containers":[{"image":"x"}]}}`, "does not contain declared merge key: name", 422, nil},
		"a key that is none":        {strategic, `{"spec":{"containers":[{"name":{}}]}}`, "the patch cannot be merged: ", 422, nil},
		"what it does not take":     {"application/x", `{}`, "the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml", 415, nil},
	} {
		p, odd, err := Decode(c.kind, []byte(c.body), newPod)
		var out map[string]any
		var repeated []string
		if err == nil {
			out, repeated, err = p(was)
		}
		odd = append(odd, repeated...)
		var text []byte
		if err == nil {
			text, err = object.Encode(out)
		}
		var code int32
		if s := apierrors.APIStatus(nil); errors.As(err, &s) {
			code = s.Status().Code
		}
		if code != c.code || !slices.Equal(odd, c.odd) || err == nil && string(text) != c.want || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %d %v, %q, %s", name, code, err, odd, text)
		}
		if again, _ := object.Encode(was.Tree); string(again) != pod {
			t.Fatalf("%s changed the object: %s", name, again)
		}
	}
}

// What has no Go type takes no strategic merge patches.
func TestSupported(t *testing.T) {
	for kind, want := range map[types.PatchType][2]bool{
		jsonPatch: {true, true}, merge: {true, true}, strategic: {true, false}, types.ApplyYAMLPatchType: {false, false},
	} {
		if got := [2]bool{Supported(kind, newPod), Supported(kind, nil)}; got != want {
			t.Errorf("%s: %v", kind, got)
		}
		_, _, err := Decode(kind, []byte("[]"), nil)
		if apierrors.IsUnsupportedMediaType(err) == want[1] {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

// The outcome shares parts of the object where it may, and where that is worth while.
func TestWhatOutcomesShare(t *testing.T) {
	large := `{"data":{"text":"` + strings.Repeat("x", 16<<10) + `"},"kind":"K"}`
	for name, c := range map[string]struct {
		kind                types.PatchType
		body, text          string
		shared, wantsShared bool
	}{
		"JSON": {jsonPatch, `[{"op":"add","path":"/a","value":1}]`, large, true, true}, "JSON, not shared": {jsonPatch, `[{"op":"add","path":"/a","value":1}]`, large, false, false},
		"JSON, small": {jsonPatch, `[{"op":"add","path":"/a","value":1}]`, `{"data":{"text":"x"},"kind":"K"}`, true, false},
		"merge":       {merge, `{"a":1}`, large, true, true}, "merge, not shared": {merge, `{"a":1}`, large, false, false},
	} {
		p, _, err := Decode(c.kind, []byte(c.body), nil)
		if err != nil {
			t.Fatal(err)
		}
		from := stateOf(t, c.text)
		from.Shared = c.shared
		out, _, err := p(from)
		if err != nil {
			t.Fatal(err)
		}
		was, is := reflect.ValueOf(from.Tree["data"]).Pointer(), reflect.ValueOf(out["data"]).Pointer()
		if (was == is) != c.wantsShared {
			t.Errorf("%s: shares it: %v", name, was == is)
		}
	}
}

// An outcome that is no object is shown, though not all of it.
func TestRefusalsOfOutcomes(t *testing.T) {
	why := errors.New("why")
	for n, more := range map[int]string{4096: "", 4097: "..."} {
		err := Invalid([]byte(strings.Repeat("x", n)), why)
		if want := ` "" is invalid: patch: Invalid value: "` + strings.Repeat("x", 4096) + more + `": why`; err.Error() != want || !apierrors.IsInvalid(err) {
			t.Errorf("%d bytes: %d of %v", n, len(err.Error()), err)
		}
	}
	from := stateOf(t, pod)
	for name, c := range map[string]struct {
		body, want string
	}{
		"again":     {`[{"op":"replace","path":"","value":{"a":1}}]`, ` "" is invalid: patch: Invalid value: "{\"a\":1}": why`},
		"not again": {`[{"op":"remove","path":"/x"}]`, "the server rejected our request"},
	} {
		p, _, err := Decode(jsonPatch, []byte(c.body), nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Refuse(from, why); !apierrors.IsInvalid(err) && !strings.HasPrefix(err.Error(), c.want) || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for body, want := range map[string]string{
		`{"spec":{"hostname":1}}`:               ` "" is invalid: patch: Invalid value: "map[spec:map[hostname:1]]": cannot convert int64 to string`,
		`{"spec":{"hostname":"x"}}`:             ` "" is invalid: patch: Invalid value: "map[spec:map[hostname:x]]": why`,
		`{"spec":{"containers":[{"name":{}}]}}`: "why",
		// Read as a quantity it would take hours.
		`{"spec":{"containers":[{"name":"c","resources":{"limits":{"memory":"1e-2000000000"}}}]}}`: ": why",
	} {
		p, _, err := Decode(strategic, []byte(body), newPod)
		if err != nil {
			t.Fatal(err)
		}
		quick(t, func() {
			if err := p.RefuseStrategic([]byte(body), newPod, from, why); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v", body, err)
			}
		})
	}
}

// quick fails a test whose work goes on for hours.
func quick(t *testing.T, work func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		work()
	}()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatal("it takes too long")
	}
}
