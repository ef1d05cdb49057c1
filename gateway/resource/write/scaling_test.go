package write

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/gateway/resource"
)

// Fields that no Scale has, and those that are there twice, are told, refused or
// ignored as the options ask, in what is sent and in what a patch makes.
func TestUnknownFieldsOfAScale_RES06_FV01(t *testing.T) {
	w := newWorld(t)
	w.create(w.at(v1, ""), tab(v1, "one", "h", "1"))
	scale := w.sub("one", "scale")
	write := func(media types.PatchType, body, level string) (warned []string, err error) {
		o := resource.WriteOptions{FieldValidation: level, Warn: func(text string) {
			if !slices.Contains(warned, text) { // as the API tells each once, however often the write is tried
				warned = append(warned, text)
			}
		}}
		if media == "" {
			_, err = w.Update(w.ctx(), scale, []byte(body), o)
		} else {
			_, err = w.Patch(w.ctx(), scale, media, []byte(body), o)
		}
		return warned, err
	}
	for _, c := range []struct {
		media types.PatchType
		body  string
		told  []string
	}{
		{"", `{"metadata":{"name":"one"},"spec":{"replicas":2}}`, nil},
		{"", `{"metadata":{"name":"one","odd":1},"spec":{"replicas":2,"replica":3},"more":{}}`, []string{`unknown field "metadata.odd"`, `unknown field "spec.replica"`, `unknown field "more"`}},
		{"", `{"metadata":{"name":"one"},"spec":{"replicas":2,"replicas":3}}`, []string{`duplicate field "spec.replicas"`}},
		{types.MergePatchType, `{"spec":{"replicas":4,"odd":1}}`, []string{`unknown field "spec.odd"`}},
		{types.MergePatchType, `{"spec":{"host":"a","host":"b"}}`, []string{`duplicate field "spec.host"`, `unknown field "spec.host"`}},
		{types.JSONPatchType, `[{"op":"add","path":"/spec/odd","value":1,"extra":2}]`, []string{`json patch unknown field "[0].extra"`, `unknown field "spec.odd"`}},
		{types.JSONPatchType, `[{"op":"add","path":"/spec","value":{"replicas":2,"replicas":3}}]`, []string{`json patch duplicate field "[0].value.replicas"`, `duplicate field "spec.replicas"`}},
	} {
		for level, code := range map[string]int32{"": 0, "Warn": 0, "Ignore": 0, "Strict": 422} {
			if c.media == "" && code != 0 {
				code = 400
			}
			warned, err := write(c.media, c.body, level)
			switch {
			case code != 0 && len(c.told) > 0:
				refused(t, err, code, map[int32]string{400: "BadRequest", 422: "Invalid"}[code], "strict decoding error: "+strings.Join(c.told, ", "))
			case err != nil:
				t.Errorf("%s %s: %v", level, c.body, err)
			case level == "Ignore" && len(warned) > 0, level != "Ignore" && fmt.Sprint(warned) != fmt.Sprint(c.told):
				t.Errorf("%s %s: warnings %q", level, c.body, warned)
			}
		}
	}
}

// What no Scale can be is refused by whoever reads it: a body before anything is
// looked for, the outcome of a patch as what it is.
func TestWhatIsNoScale_RES06(t *testing.T) {
	w := newWorld(t)
	w.create(w.at(v1, ""), tab(v1, "one", "h", "1"))
	scale := w.sub("one", "scale")
	for _, target := range []resource.Target{scale, w.sub("absent", "scale")} {
		_, err := w.Update(w.ctx(), target, []byte(`{"metadata":{"name":"one"},"spec":{"replicas":"x"}}`), resource.WriteOptions{})
		refused(t, err, 400, "BadRequest", `Scale in version "v1" cannot be handled as a Scale: json: cannot unmarshal string into Go struct field ScaleSpec.spec.replicas of type int32`)
		_, err = w.Update(w.ctx(), target, []byte("x"), resource.WriteOptions{})
		refused(t, err, 400, "BadRequest", "cannot be handled as a Scale")
		_, err = w.Update(w.ctx(), target, []byte(`{"kind":"Deployment","apiVersion":"apps/v1"}`), resource.WriteOptions{})
		refused(t, err, 400, "BadRequest", "Deployment cannot be handled as a Scale")
	}
	for body, want := range map[string]string{
		`{"spec":[]}`:                     "json: cannot unmarshal array into Go struct field Scale.spec of type v1.ScaleSpec",
		`{"spec":{"replicas":1.5}}`:       "json: cannot unmarshal number 1.5 into Go struct field ScaleSpec.spec.replicas of type int32",
		`{"metadata":{"labels":{"a":1}}}`: "json: cannot unmarshal number into Go struct field ObjectMeta.metadata.labels of type string",
		`{"kind":"Other"}`:                `no kind "Other" is registered for version "autoscaling/v1"`,
		`{"apiVersion":"x/v1"}`:           `no kind "Scale" is registered for version "x/v1"`,
	} {
		_, err := w.Patch(w.ctx(), scale, types.MergePatchType, []byte(body), resource.WriteOptions{})
		refused(t, err, 422, "Invalid", want)
	}
	_, err := w.Patch(w.ctx(), scale, types.MergePatchType, []byte(`{"metadata":null}`), resource.WriteOptions{})
	refused(t, err, 400, "BadRequest", "the name of the object (one based on URL) was undeterminable: name must be provided")
	// No replicas are written as none at all, as the Go type is.
	got := w.must(w.Patch(w.ctx(), scale, types.MergePatchType, []byte(`{"spec":{"replicas":0}}`), resource.WriteOptions{}))
	if spec := got.Object["spec"]; fmt.Sprint(spec) != "map[]" {
		t.Errorf("got %v", spec)
	}
}

// What admission makes of a Scale has to be one, and that of the object: then it is what is written.
func TestWhatAdmissionMakesOfAScale_RES06(t *testing.T) {
	w, l := watched(t)
	w.create(w.at(v1, ""), tab(v1, "one", "h", "1"))
	for change, written := range map[string]bool{
		`{"spec":{"replicas":7}}`:         true,
		`{"spec":{"replicas":"x"}}`:       false,
		`{"spec":{"replicas":-1}}`:        false,
		`{"metadata":{"name":"another"}}`: false,
	} {
		l.mutate = func(ctx context.Context, a admission.Attributes) error {
			tree, err := a.GetObjectAt(ctx, "v1")
			if err != nil {
				return err
			}
			tree = object.Clone(tree)
			merged := map[string]any{}
			if err := json.Unmarshal([]byte(change), &merged); err != nil {
				return err
			}
			for section, fields := range merged {
				for name, value := range fields.(map[string]any) {
					if n, is := value.(float64); is {
						value = int64(n)
					}
					tree[section].(map[string]any)[name] = value
				}
			}
			object.Detach(tree)
			return a.Replace(ctx, "v1", tree)
		}
		before := w.read(w.at(v1, "one"))
		_, err := w.Update(w.ctx(), w.sub("one", "scale"), []byte(`{"metadata":{"name":"one"},"spec":{"replicas":2}}`), resource.WriteOptions{})
		if changed := w.read(w.at(v1, "one")).GetResourceVersion() != before.GetResourceVersion(); changed != written || (err == nil) != written {
			t.Errorf("%s: written %t, %v", change, changed, err)
		}
	}
	if n, _, _ := unstructured.NestedInt64(w.read(w.at(v1, "one")).Object, "spec", "replicas"); n != 7 {
		t.Errorf("%d replicas were written", n)
	}
}
