package write

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wasmgate/wasmgate/crd/jsonpatch"
	"github.com/wasmgate/wasmgate/gateway/catalog/catalogtest"
	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/gateway/resource/scale"
	"github.com/wasmgate/wasmgate/gateway/view/encoding"
)

func TestPatches_UPD04_UPD05_UPD06_UPD07_UPD08(t *testing.T) {
	w := newWorld(t)
	w.create(w.at(v1, ""), tab(v1, "one", "h", "1"))
	w.create(w.builtin("configmaps", "default", ""), configMap("one", "1", `"finalizers":["example.com/a","example.com/b"]`))
	tabs, maps := w.at(v1, "one"), w.builtin("configmaps", "default", "one")
	const js, merge, strategic = types.JSONPatchType, types.MergePatchType, types.StrategicMergePatchType
	for _, c := range []struct {
		name   string
		target resource.Target
		kind   types.PatchType
		patch  string
		code   int32
		reason string
		want   string // a part of the outcome, or of the message
	}{
		{"in order", tabs, js, `[{"op":"replace","path":"/port","value":"2"},{"op":"test","path":"/port","value":"2"},{"op":"copy","from":"/port","path":"/host"}]`, 0, "", `"host":"2"`},
		{"all or nothing", tabs, js, `[{"op":"replace","path":"/port","value":"9"},{"op":"test","path":"/port","value":"1"}]`, 422, "Invalid", "the server rejected our request due to an error in our request"},
		{"no such path", tabs, js, `[{"op":"remove","path":"/nothing/there"}]`, 422, "Invalid", ""},
		{"not a list", tabs, js, `{"op":"remove"}`, 400, "BadRequest", ""},
		{"no object", tabs, js, `[{"op":"replace","path":"","value":[1]}]`, 422, "Invalid", "patch: Invalid value"},
		{"too many", tabs, js, "[" + strings.Repeat(`{"op":"test","path":"/port","value":"2"},`, jsonpatch.MaxOperations) + `{}]`, 413, "RequestEntityTooLarge", "The allowed maximum operations in a JSON patch is 10000, got 10001"},
		{"too deep a path", tabs, js, `[{"op":"add","path":"/port","value":` + strings.Repeat("[", 9000) + strings.Repeat("]", 9000) + `},{"op":"remove","path":"/port` + strings.Repeat("/0", 9000) + `"}]`, 413, "RequestEntityTooLarge", "operations on lists and in deep places take too long"},
		{"null removes", tabs, merge, `{"host":null,"port":"3"}`, 0, "", `"port":"3"}`},
		{"no object", tabs, merge, `[1]`, 400, "BadRequest", "error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}"},
		{"another kind", tabs, merge, `{"kind":"zz"}`, 422, "Invalid", `zz.example.com "one" is invalid: kind: Invalid value: "zz": must be CronTab`},
		{"another version", tabs, merge, `{"apiVersion":"zz/v1"}`, 422, "Invalid", `CronTab.zz "one" is invalid: apiVersion: Invalid value: "zz/v1": must be example.com/v1`},
		{"another kind", maps, merge, `{"kind":"zz"}`, 422, "Invalid", `no kind "zz" is registered for version "v1"`},
		{"a kind that is no text", maps, merge, `{"kind":5}`, 422, "Invalid", "cannot unmarshal number into Go struct field .kind of type string"},
		{"a version that is no text", maps, js, `[{"op":"replace","path":"/apiVersion","value":[]}]`, 422, "Invalid", "cannot unmarshal array into Go struct field .apiVersion of type string"},
		{"a kind that is no text, merged", maps, strategic, `{"kind":5}`, 422, "Invalid", `"map[kind:5]": cannot convert int64 to string`},
		{"another name", tabs, merge, `{"metadata":{"name":"zz"}}`, 400, "BadRequest", "the name of the object (zz) does not match the name on the URL (one)"},
		{"another namespace", tabs, merge, `{"metadata":{"namespace":"zz"}}`, 400, "BadRequest", "the namespace of the provided object does not match the namespace sent on the request"},
		{"no metadata", tabs, merge, `{"metadata":null}`, 400, "BadRequest", "the name of the object (one based on URL) was undeterminable: name must be provided"},
		{"another uid", tabs, merge, `{"metadata":{"uid":"zz"}}`, 422, "Invalid", `metadata.uid: Invalid value: "zz": field is immutable`},
		{"lists by key", maps, strategic, `{"metadata":{"finalizers":["example.com/c"]}}`, 0, "", `"example.com/c","example.com/a","example.com/b"`},
		{"not by key", maps, merge, `{"metadata":{"finalizers":["example.com/c"]}}`, 0, "", `["example.com/c"]`},
		{"unknown directive", maps, strategic, `{"$patch":"foo"}`, 422, "Invalid", "unknown patch type: foo in map: map[$patch:foo]"},
		{"a directive of no type", maps, strategic, `{"data":{"$patch":7}}`, 422, "Invalid", "unknown patch type: %!s(int64=7) in map: map[$patch:7]"},
		{"an item without its key", w.builtin("configmaps", "default", "one"), strategic, `{"metadata":{"ownerReferences":[{"name":"x"}]}}`, 422, "Invalid", ""},
		{"for custom resources", tabs, strategic, `{}`, 415, "UnsupportedMediaType", "accepted media types include: application/json-patch+json, application/merge-patch+json"},
		{"unknown", maps, "text/plain", `{}`, 415, "UnsupportedMediaType", ""},
		{"missing object", w.at(v1, "none"), merge, `{}`, 404, "NotFound", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, err := w.Patch(w.ctx(), c.target, c.kind, []byte(c.patch), resource.WriteOptions{})
			if c.code != 0 {
				if c.reason == "" { // only that it is the client's fault, or known
					if _, ok := err.(apierrors.APIStatus); !ok {
						t.Fatalf("got %v", err)
					}
					return
				}
				refused(t, err, c.code, c.reason, c.want)
				return
			}
			if err != nil || !strings.Contains(string(out.Object), c.want) {
				t.Errorf("got %v, %v", out, err)
			}
		})
	}
}

// Through the subresource of the status nothing but the status is written, whatever kind or
// version the patch names; where it would be read by another schema nothing is lost.
func TestPatchesOfAStatusMayNameAnotherKind(t *testing.T) {
	w := newWorld(t)
	const beta = "properties: {hostPort: {type: string}, "
	w.defineText(strings.Replace(catalogtest.CronTab(v1, false), beta, beta+"status: {type: object, properties: {replicas: {type: integer}}}, ", 1))
	w.create(w.at(v1, ""), tab(v1, "one", "h", "1"))
	status := w.sub("one", "status")
	for i, patch := range []string{
		`"kind":"Other"`, `"apiVersion":"zz/v1"`, `"kind":"Other","apiVersion":"v1","spec":{"replicas":9},"metadata":{"labels":{"a":"b"}}`, `"apiVersion":"example.com/v1beta1"`,
	} {
		out := w.must(w.Patch(w.ctx(), status, types.MergePatchType, fmt.Appendf(nil, `{"status":{"replicas":%d},%s}`, i+1, patch), resource.WriteOptions{FieldValidation: "Strict"}))
		now := w.read(w.at(v1, "one"))
		for what, obj := range map[string]map[string]any{"the reply": out.Object, "the object": now.Object} {
			replicas, _, _ := unstructured.NestedInt64(obj, "status", "replicas")
			spec, _, _ := unstructured.NestedInt64(obj, "spec", "replicas")
			if obj["kind"] != "CronTab" || obj["apiVersion"] != "example.com/v1" || replicas != int64(i+1) || spec == 9 {
				t.Errorf("%s: %s is %v", patch, what, obj)
			}
		}
	}
	for patch, want := range map[string]string{
		`{"apiVersion":"example.com/v9","status":{"replicas":9}}`:                     "must be example.com/v1",
		`{"apiVersion":"example.com/v1beta1","status":{"replicas":9,"selector":"x"}}`: "must be example.com/v1",
		`{"apiVersion":"a/b/c","status":{"replicas":9}}`:                              `no kind "CronTab" is registered for version "a/b/c"`,
		`{"kind":"","status":{"replicas":9}}`:                                         `no kind "" is registered`,
		`{"kind":"Other","status":{"replicas":"x"}}`:                                  "status.replicas",
	} {
		_, err := w.Patch(w.ctx(), status, types.MergePatchType, []byte(patch), resource.WriteOptions{})
		refused(t, err, 422, "Invalid", want)
	}
}

// What the stored version has no room for is sent again and again by who knows no better: it is
// written once, and not once a second.
func TestWhatIsNotStoredIsNotWrittenAgain(t *testing.T) {
	w := newWorld(t)
	const beta = "properties: {hostPort: {type: string}, "
	text := strings.Replace(catalogtest.CronTab(v1, false), beta, beta+"status: {type: object, properties: {replicas: {type: integer}, extra: {type: string}}}, ", 1)
	w.defineText(strings.Replace(text, "selectableFields: [{jsonPath: .hostPort}]", "subresources: {status: {}}", 1))
	w.create(w.at(v1, ""), tab(v1, "one", "h", "1"))
	status := w.at(v1beta1, "one")
	status.Subresource = "status"
	patch := func(body string) string {
		t.Helper()
		return w.must(w.Patch(w.ctx(), status, types.MergePatchType, []byte(body), resource.WriteOptions{})).GetResourceVersion()
	}
	patch(`{"status":{"replicas":1,"extra":"x"}}`)
	stored := string(w.raw(w.at(v1, "one")).Value)
	old := regexp.MustCompile(`"time":"[^"]*"`).ReplaceAllString(stored, `"time":"2020-01-01T00:00:00Z"`)
	if old == stored || !strings.Contains(stored, "f:extra") || strings.Contains(stored, `"extra"`) {
		t.Fatal(stored)
	}
	w.put("one", old)
	at := w.read(w.at(v1, "one")).GetResourceVersion()
	if now := patch(`{"status":{"replicas":1,"extra":"x"}}`); now != at {
		t.Errorf("what says nothing new is written: %s, then %s", at, now)
	}
	if now := patch(`{"status":{"extra":"y"}}`); now != at {
		t.Errorf("what is not stored is written: %s, then %s", at, now)
	}
	if now := patch(`{"status":{"replicas":2,"extra":"x"}}`); now == at {
		t.Error("a change of the same length is not written")
	}
	replicas, _, _ := unstructured.NestedInt64(w.read(w.at(v1, "one")).Object, "status", "replicas")
	if text = string(w.raw(w.at(v1, "one")).Value); replicas != 2 || strings.Count(text, "2020-01-01") != 1 {
		t.Errorf("%d in %s", replicas, text)
	}
}

// Texts that differ in times of managedFields are told from others.
func TestTextsThatDifferInTimes(t *testing.T) {
	const old, now = `"time":"2020-01-01T00:00:00Z"`, `"time":"2026-11-29T18:59:59Z"`
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"{" + old + "}", "{" + now + "}", true}, {old, old, false}, {old + old, now + now, true}, {old + "1", now + "2", false},
		{"1" + old, "2" + old, false}, {`"tame":"2020-01-01T00:00:00Z"`, `"tame":"2026-01-01T00:00:00Z"`, false}, {"", "", false},
		{`"time":"2020-01-01T00:00:00Z","a":"1"`, `"time":"2020-01-01T00:00:00Z","a":"2"`, false}, {`"time":"2`, `"time":"3`, true},
	} {
		if got := differInTimes([]byte(c.a), []byte(c.b)); got != c.want {
			t.Errorf("%s and %s: %t", c.a, c.b, got)
		}
	}
}

func TestFieldValidationOfPatches_FV04_FV05_FV06(t *testing.T) {
	w := newWorld(t)
	w.create(w.at(v1, ""), tab(v1, "one", "h", "1"))
	w.create(w.builtin("configmaps", "default", ""), configMap("one", "1"))
	tabs, cm := w.at(v1, "one"), w.builtin("configmaps", "default", "one")
	for _, c := range []struct {
		target resource.Target
		kind   types.PatchType
		patch  string
		want   string
	}{
		{tabs, types.MergePatchType, `{"spec":{"y":1,"replicas":1,"replicas":1}}`, `duplicate field "spec.replicas", unknown field "spec.y"`},
		{tabs, types.JSONPatchType, `[{"op":"add","path":"/nothing","value":1}]`, `unknown field "nothing"`},
		{tabs, types.JSONPatchType, `[{"op":"add","path":"/port","value":"1","value":"1","why":"x"}]`, `json patch duplicate field "[0].value", json patch unknown field "[0].why"`},
		{tabs, types.JSONPatchType, `[{"op":"add","path":"/spec","value":{"replicas":1,"replicas":2,"y":1}}]`, `json patch duplicate field "[0].value.replicas", duplicate field "spec.replicas", unknown field "spec.y"`},
		{cm, types.JSONPatchType, `[{"op":"add","path":"/data","value":{"y":"1","y":"2"}}]`, `json patch duplicate field "[0].value.y", duplicate field "data.y"`},
		{cm, types.MergePatchType, `{"spec":{}}`, `unknown field "spec"`},
		{cm, types.StrategicMergePatchType, `{"data":{"y":"1","y":"2"}}`, `duplicate field "data.y"`},
	} {
		_, err := w.Patch(w.ctx(), c.target, c.kind, []byte(c.patch), resource.WriteOptions{FieldValidation: "Strict", DryRun: true})
		refused(t, err, 422, "Invalid", `: strict decoding error: `+c.want)
		var warned []string
		w.must(w.Patch(w.ctx(), c.target, c.kind, []byte(c.patch), resource.WriteOptions{DryRun: true, Warn: func(text string) { warned = append(warned, text) }}))
		if got := strings.Join(warned, ", "); got != c.want {
			t.Errorf("%s: warned of %s", c.patch, got)
		}
		w.must(w.Patch(w.ctx(), c.target, c.kind, []byte(c.patch), resource.WriteOptions{DryRun: true, FieldValidation: "Ignore", Warn: func(text string) { t.Error(text) }}))
	}
	_, err := w.Patch(w.ctx(), tabs, types.MergePatchType, []byte(`{"metadata":{"labels":5}}`), resource.WriteOptions{})
	refused(t, err, 422, "Invalid", "cannot unmarshal number into Go struct field ObjectMeta.labels")
	_, err = w.Patch(w.ctx(), cm, types.MergePatchType, []byte(`{"data":5}`), resource.WriteOptions{})
	refused(t, err, 422, "Invalid", `cannot unmarshal number into Go struct field`)
}

func TestScale_RES06(t *testing.T) {
	w := newWorld(t)
	made := w.create(w.at(v1, ""), tab(v1, "one", "h", "1"))
	at := w.sub("one", "scale")
	put := func(meta, spec string) (*resource.Written, error) {
		return w.Update(w.ctx(), at, fmt.Appendf(nil, `{"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"one"%s},"spec":{%s}}`, meta, spec), resource.WriteOptions{})
	}
	get := func() ([]byte, error) {
		data, err := w.Get(w.ctx(), at, "", encoding.At(v1))
		if err != nil {
			t.Fatal(err)
		}
		return scale.Text(scales(at), data.Bytes())
	}
	_, err := get()
	refused(t, err, 500, "InternalError", `the spec replicas field ".spec.replicas" does not exist`)
	// Typed clients leave kind and version to the path.
	bare := w.must(w.Update(w.ctx(), at, []byte(`{"metadata":{"name":"one"},"spec":{"replicas":7}}`), resource.WriteOptions{}))
	if fmt.Sprint(bare.Object["spec"]) != "map[replicas:7]" {
		t.Errorf("got %v", bare.Object)
	}
	got := w.must(put("", `"replicas":2`))
	if got.GetKind() != "Scale" || fmt.Sprint(got.Object["spec"]) != "map[replicas:2]" || got.GetUID() != made.GetUID() {
		t.Errorf("got %v", got.Object)
	}
	w.must(w.Patch(w.ctx(), w.sub("one", "status"), types.MergePatchType, []byte(`{"status":{"replicas":1,"selector":"a=b"},"port":"9"}`), resource.WriteOptions{}))
	if data, err := get(); err != nil || !strings.Contains(string(data), `"status":{"replicas":1,"selector":"a=b"}`) {
		t.Errorf("got %s, %v", data, err)
	}
	if w.read(w.at(v1, "one")).Object["port"] != "1" {
		t.Error("a write of the status changed the rest")
	}
	_, err = put("", `"replicas":-2`)
	refused(t, err, 422, "Invalid", `CronTab.example.com "one" is invalid: .spec.replicas: Invalid value: -2: should be a non-negative integer`)
	_, err = put("", `"replicas":3000000000`)
	refused(t, err, 400, "BadRequest", "int32")
	_, err = put(`,"uid":"zz"`, `"replicas":3`)
	refused(t, err, 409, "Conflict", "UID in precondition: zz")
	_, err = put(`,"resourceVersion":"1"`, `"replicas":3`)
	refused(t, err, 409, "Conflict", "the object has been modified")
	_, err = w.Patch(w.ctx(), at, types.JSONPatchType, []byte(`[{"op":"test","path":"/spec/replicas","value":5}]`), resource.WriteOptions{})
	refused(t, err, 422, "Invalid", "")
	if got := w.must(w.Patch(w.ctx(), at, types.MergePatchType, []byte(`{"spec":{"replicas":4}}`), resource.WriteOptions{})); fmt.Sprint(got.Object["spec"]) != "map[replicas:4]" {
		t.Errorf("got %v", got.Object)
	}
	if got := w.read(w.at(v1, "one")).GetGeneration(); got != 4 {
		t.Errorf("generation %d", got)
	}
}

// FuzzPatch: no patch of any kind makes the gateway panic, and what it refuses
// it refuses with a status.
func FuzzPatch(f *testing.F) {
	w := newWorld(f)
	w.create(w.at(v1, ""), tab(v1, "one", "h", "1"))
	w.create(w.builtin("configmaps", "default", ""), configMap("one", "1"))
	for _, seed := range []string{
		`{}`, `[]`, `null`, `{"metadata":{"labels":{"a":"b"}}}`, `{"metadata":null}`, `{"metadata":5}`, `{"spec":{"replicas":1.5}}`,
		`[{"op":"add","path":"/metadata/labels","value":{"a":"b"}}]`, `[{"op":"copy","from":"","path":"/a"}]`, `[{"op":"move","from":"/port","path":"/host"}]`,
		`[{"op":"remove","path":""}]`, `[{"op":"test","path":"/a/-1","value":null}]`, `[{"op":"add","path":"/metadata/finalizers/-"}]`, `[null]`, `[{"op":5}]`,
		`{"$patch":"replace"}`, `{"data":{"$retainKeys":["k"]}}`, `{"metadata":{"$setElementOrder/finalizers":["a"],"finalizers":null}}`, `{"metadata":{"$deleteFromPrimitiveList/finalizers":["a"]}}`,
		`{"metadata":{"ownerReferences":[{"uid":"u","$patch":"delete"}]}}`, `{"binaryData":{"a":"!"}}`,
	} {
		f.Add([]byte(seed))
	}
	tabs, maps := w.at(v1, "one"), w.builtin("configmaps", "default", "one")
	f.Fuzz(func(t *testing.T, patch []byte) {
		for _, kind := range []types.PatchType{types.JSONPatchType, types.MergePatchType, types.StrategicMergePatchType} {
			for _, target := range []resource.Target{tabs, maps} {
				_, err := w.Patch(context.Background(), target, kind, patch, resource.WriteOptions{DryRun: true})
				if _, ok := err.(apierrors.APIStatus); err != nil && !ok {
					t.Errorf("%s of %s by %q: %v", kind, target.Resource.Def.Kind, patch, err)
				}
			}
		}
	})
}
