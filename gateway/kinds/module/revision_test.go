package module_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wasmgate/wasmgate/gateway/kinds/module"
	"github.com/wasmgate/wasmgate/plugins"
)

func TestParseLimits(t *testing.T) {
	for _, test := range []struct {
		limits map[string]any
		want   plugins.Limits
		errs   []string
	}{
		{limits: nil},
		{limits: map[string]any{"memory": "1.5Gi"}, want: plugins.Limits{MemoryBytes: 3 << 29}},
		{limits: map[string]any{"memory": int64(65536), "responseSize": "1k"}, want: plugins.Limits{MemoryBytes: 65536, ResponseBytes: 1000}},
		{limits: map[string]any{"fuel": float64(5), "timeout": "1m1s"}, want: plugins.Limits{Fuel: 5, Timeout: 61e9}},
		{limits: map[string]any{"fuel": int64(0)}}, // without a bound of their own
		{limits: map[string]any{"fuel": int64(-1)}, errs: []string{"limits.fuel"}},
		{limits: map[string]any{"memory": "0", "responseSize": "0.5", "timeout": "-1s", "fuel": 1.5},
			errs: []string{"limits.memory", "limits.responseSize", "limits.timeout", "limits.fuel"}},
		{limits: map[string]any{"memory": map[string]any{}}, errs: []string{"limits.memory"}},
		{limits: map[string]any{"memory": "99999999999999999999Gi"}, errs: []string{"limits.memory"}},
	} {
		got, err := module.ParseLimits(test.limits)
		if got != test.want {
			t.Errorf("%v: %+v", test.limits, got)
		}
		if (err != nil) != (len(test.errs) > 0) {
			t.Errorf("%v: %v", test.limits, err)
		}
		for _, want := range test.errs {
			if err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%v: %v lacks %q", test.limits, err, want)
			}
		}
	}
}

// What a revision is wanted with is what the module's spec says, or it is said what is
// wrong with that.
func TestWantedTakesTheWholeSpec(t *testing.T) {
	for _, test := range []struct {
		limits  map[string]any
		want    plugins.Limits
		refused string
	}{
		{want: plugins.Limits{}},
		{limits: map[string]any{"memory": "64Mi", "fuel": int64(5)}, want: plugins.Limits{MemoryBytes: 64 << 20, Fuel: 5}},
		{limits: map[string]any{"memory": "0"}, refused: "LimitsInvalid"},
	} {
		spec := map[string]any{"source": map[string]any{"inline": "AGFzbQ=="}, "config": map[string]any{"a": "b"}, "limits": test.limits}
		rev, refused := module.Wanted(&unstructured.Unstructured{Object: map[string]any{"spec": spec}}, func(content []byte) string { return "of " + string(content) })
		switch {
		case test.refused != "":
			if rev != nil || refused == nil || refused.Reason != test.refused || !strings.Contains(refused.Message, "spec.limits.memory") {
				t.Errorf("%v: %+v, %+v", test.limits, rev, refused)
			}
		case refused != nil:
			t.Errorf("%v: %+v", test.limits, refused)
		case rev.Limits != test.want || rev.Digest != "of \x00asm" || string(rev.Config) != `{"a":"b"}`:
			t.Errorf("%v: %+v", test.limits, rev)
		}
	}
}

// What an image serves was proven by this gateway, or it is not known whose it is; what
// was uploaded is what somebody was allowed to upload.
func TestWhatIsProven(t *testing.T) {
	uploaded, image := map[string]any{"upload": map[string]any{}}, map[string]any{"oci": map[string]any{"image": "r/m:1"}}
	for name, tc := range map[string]struct {
		source, status map[string]any
		unproven       bool
	}{
		"an upload":                  {uploaded, map[string]any{"digest": "sha256:1"}, false},
		"an image, of nothing":       {image, map[string]any{}, false},
		"an image that was accepted": {image, map[string]any{"digest": "sha256:1", "acceptedRevision": "r1"}, false},
		"an image of long ago":       {image, map[string]any{"digest": "sha256:1"}, true},
	} {
		obj := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": "m"}, "spec": map[string]any{"source": tc.source}, "status": tc.status}}
		if _, ok := module.Image(obj); ok == (tc.source["upload"] != nil) {
			t.Fatalf("%s: is an image: %v", name, ok)
		}
		if got := module.Unproven(obj, module.StatusOf(obj)); got != tc.unproven {
			t.Errorf("%s is unproven: %v", name, got)
		}
		if _, ok := module.LastGood(obj); ok != (!tc.unproven && tc.status["digest"] != nil) {
			t.Errorf("%s served well: %v", name, ok)
		}
	}
}

// Of an image the content that was pulled is wanted, and nothing while another one, or none,
// was pulled.
func TestWantedOfAnImageIsWhatWasPulledOfIt(t *testing.T) {
	const image = "registry.example.com/m:v1"
	for pulled, want := range map[string]string{image: "sha256:1", "registry.example.com/m:v0": "", "": ""} {
		obj := &unstructured.Unstructured{Object: map[string]any{
			"metadata": map[string]any{"name": "m"},
			"spec":     map[string]any{"source": map[string]any{"oci": map[string]any{"image": image}}},
		}}
		if pulled != "" {
			obj.Object["status"] = map[string]any{"pulled": map[string]any{"image": pulled, "digest": "sha256:1"}}
		}
		rev, refused := module.Wanted(obj, func([]byte) string { return "" })
		switch {
		case want == "" && (rev != nil || refused == nil):
			t.Errorf("%q was pulled: %+v is wanted", pulled, rev)
		case want != "" && (refused != nil || rev.Digest != want):
			t.Errorf("%q was pulled: %+v, %+v", pulled, rev, refused)
		}
	}
}

// No configuration is none, whether it is left out or null; an empty one is one.
func TestWhatIsNoConfiguration(t *testing.T) {
	for want, spec := range map[string]map[string]any{
		"":          {},
		"null":      {"config": nil},
		"{}":        {"config": map[string]any{}},
		"[1]":       {"config": []any{int64(1)}},
		`"a"`:       {"config": "a"},
		`{"a":"b"}`: {"config": map[string]any{"a": "b"}},
	} {
		spec["source"] = map[string]any{"inline": "AGFzbQ=="}
		rev, refused := module.Wanted(&unstructured.Unstructured{Object: map[string]any{"spec": spec}}, func([]byte) string { return "d" })
		if want == "null" {
			want = ""
		}
		if refused != nil || string(rev.Config) != want || want == "" && rev.Config != nil {
			t.Errorf("%v: %+v, %+v", spec, rev, refused)
		}
	}
}

// The repository of an image is its name without what says which one of it.
func TestRepositoriesOfImages(t *testing.T) {
	for image, want := range map[string]string{
		"tabs": "tabs", "tabs:v1": "tabs", "team/tabs": "team/tabs", "host:5000/team/tabs": "host:5000/team/tabs", "host:5000/tabs:v1": "host:5000/tabs",
		"host:5000/tabs:v1@sha256:abc": "host:5000/tabs", "host/tabs@sha256:abc": "host/tabs", ":v1": "", "": "",
	} {
		if got := module.Repository(image); got != want {
			t.Errorf("%s is of %s, want %s", image, got, want)
		}
	}
}
