package definition

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/conversion"
	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/gateway/kinds/definition/compile"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
)

// write is an update of a definition.
type write struct {
	admission.Attributes
	old, now    *unstructured.Unstructured
	unread      error
	subresource string
	operation   admission.Operation
	resource    schema.GroupResource
	warned      []string
}

func (w *write) GetResource() schema.GroupVersionResource { return w.resource.WithVersion("v1") }
func (w *write) GetKind() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: gvr.Definitions.Group, Version: "v1", Kind: "CustomResourceDefinition"}
}
func (w *write) GetSubresource() string                { return w.subresource }
func (w *write) GetOperation() admission.Operation     { return w.operation }
func (w *write) GetName() string                       { return w.now.GetName() }
func (w *write) GetObject() *unstructured.Unstructured { return w.now }
func (w *write) Warn(text string)                      { w.warned = append(w.warned, text) }
func (w *write) GetOldObject(context.Context) (*unstructured.Unstructured, error) {
	return w.old, w.unread
}

// defined is a definition of two versions, stored at v1, with a converter; "" for none.
func defined(t *testing.T, url string, change ...func(o *unstructured.Unstructured)) *unstructured.Unstructured {
	t.Helper()
	conversion := `{"strategy":"None"}`
	if url != "" {
		conversion = `{"strategy":"Webhook","webhook":{"conversionReviewVersions":["v1"],"clientConfig":{"url":"` + url + `"}}}`
	}
	const schema = `"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}}}}}}`
	o := &unstructured.Unstructured{}
	if err := json.Unmarshal([]byte(`{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"crontabs.example.com","uid":"u"},
		"spec":{"group":"example.com","scope":"Namespaced","names":{"plural":"crontabs","singular":"crontab","kind":"CronTab","listKind":"CronTabList"},"conversion":`+conversion+`,
			"versions":[{"name":"v1","served":true,"storage":true,`+schema+`},{"name":"v2","served":true,"storage":false,`+schema+`}]},
		"status":{"storedVersions":["v1"],"acceptedNames":{"plural":"crontabs","singular":"crontab","kind":"CronTab","listKind":"CronTabList"},"conditions":[{"type":"NamesAccepted","status":"True"},{"type":"Established","status":"True"}]}}`), &o.Object); err != nil {
		t.Fatal(err)
	}
	for _, fn := range change {
		fn(o)
	}
	return o
}

func annotated(value string) func(o *unstructured.Unstructured) {
	return func(o *unstructured.Unstructured) { o.SetAnnotations(map[string]string{AllowLossAnnotation: value}) }
}

func inCluster(o *unstructured.Unstructured) { gvr.Section(o, "spec")["scope"] = "Cluster" }

func servesOnly(version string) func(o *unstructured.Unstructured) {
	return func(o *unstructured.Unstructured) {
		for _, v := range o.Object["spec"].(map[string]any)["versions"].([]any) {
			v := v.(map[string]any)
			v["served"] = v["name"] == version
		}
	}
}

// dropping is a plugin that loses fields of spec by the host of the converter's URL:
// "a" and "b" lose that field, "ab" both, "fails" all objects, "forth" converts none to v2,
// and "away" is not there.
func dropping(objects ...map[string]any) conversionLoss {
	return conversionLoss{
		any: func(_ context.Context, gr schema.GroupResource) (bool, error) {
			return len(objects) > 0 && gr == schema.GroupResource{Group: "example.com", Resource: "crontabs"}, nil
		},
		some:    func(_ context.Context, _ schema.GroupResource, n int) ([]map[string]any, error) { return objects, nil },
		compile: compile.Definition,
		convert: func(d *crd.Definition) (conversion.Converter, error) {
			name := strings.TrimPrefix(*d.Conversion.Webhook.ClientConfig.URL, "https://")
			if name == "unusable" {
				return nil, errors.New("no converter")
			}
			return drops(name), nil
		},
	}
}

type drops string

// verdict is an error that is about the objects.
type verdict struct{ error }

func (verdict) Verdict() bool { return true }

func (drops) Epoch() uint64 { return 1 }

func (c drops) Convert(_ context.Context, desired string, objects [][]byte) (out [][]byte, err error) {
	switch c {
	case "away":
		return nil, errors.New("nobody listens")
	case "fails":
		return nil, verdict{errors.New("no such thing")}
	case "forth", "forth/":
		if desired == "example.com/v2" {
			return nil, verdict{errors.New("no way back")}
		}
	}
	for _, o := range objects {
		var tree map[string]any
		if err := json.Unmarshal(o, &tree); err != nil {
			return nil, err
		}
		tree["apiVersion"] = desired
		if spec, _ := tree["spec"].(map[string]any); spec != nil {
			for _, field := range []string{"a", "b"} {
				if strings.Contains(string(c), field) {
					delete(spec, field)
				}
			}
		}
		text, err := json.Marshal(tree)
		if err != nil {
			return nil, err
		}
		out = append(out, text)
	}
	return out, nil
}

func tab(namespace string, spec map[string]any) map[string]any {
	metadata := map[string]any{"name": "o"}
	if namespace != "" {
		metadata["namespace"] = namespace
	}
	return map[string]any{"apiVersion": "example.com/v1", "kind": "CronTab", "metadata": metadata, "spec": spec}
}

// What becomes of an update of a definition whose objects need the converter. The answers
// are those of whole texts, as whoever reads them has to know what to do.
func TestConvertersThatStoredObjectsNeed(t *testing.T) {
	const refused = `CustomResourceDefinition.apiextensions.k8s.io "crontabs.example.com" is invalid: spec.conversion: Forbidden: objects may be stored at v1 (status.storedVersions), and v2 is served: `
	const todo = `; migrate the objects and serve one version first, or set the annotation conversion.wasmgate.dev/allow-loss to "true"`
	const dropped, less = "without a converter the fields in which these differ are lost in silence", "the new converter converts less than the present one: "
	const warning = "spec.conversion: objects may be stored at v1 (status.storedVersions), and v2 is served: without the webhook the fields in which these differ are lost when they are written"
	there := tab("n", map[string]any{"a": "1", "b": "2"})
	for what, c := range map[string]struct {
		old, now *unstructured.Unstructured
		stored   []map[string]any
		want     string
		warned   string
	}{
		"a module is dropped":                 {defined(t, "wasm://m"), defined(t, ""), []map[string]any{there}, refused + dropped + todo, ""},
		"rules are dropped":                   {defined(t, "wasm://rules/m"), defined(t, ""), []map[string]any{there}, refused + dropped + todo, ""},
		"a webhook is dropped":                {defined(t, "https://w"), defined(t, ""), []map[string]any{there}, "", warning},
		"a webhook that is guarded":           {defined(t, "https://w", annotated("false")), defined(t, ""), []map[string]any{there}, refused + dropped + todo, ""},
		"a webhook that is guarded from now":  {defined(t, "https://w"), defined(t, "", annotated("false")), []map[string]any{there}, refused + dropped + todo, ""},
		"and the loss is allowed":             {defined(t, "wasm://m"), defined(t, "", annotated("true")), []map[string]any{there}, "", ""},
		"and the loss was allowed":            {defined(t, "wasm://m", annotated("true")), defined(t, ""), []map[string]any{there}, refused + dropped + todo, ""},
		"and nothing is stored":               {defined(t, "wasm://m"), defined(t, ""), nil, "", ""},
		"and one version is served":           {defined(t, "wasm://m"), defined(t, "", servesOnly("v1")), []map[string]any{there}, "", ""},
		"and another one is served":           {defined(t, "wasm://m"), defined(t, "", servesOnly("v2")), []map[string]any{there}, refused + dropped + todo, ""},
		"there was none":                      {defined(t, ""), defined(t, ""), []map[string]any{there}, "", ""},
		"there is the same":                   {defined(t, "https://a"), defined(t, "https://a"), []map[string]any{there}, "", ""},
		"there was no definition":             {nil, defined(t, "wasm://m"), []map[string]any{there}, "", ""},
		"another one that loses as much":      {defined(t, "https://a"), defined(t, "https://a/"), []map[string]any{there}, "", ""},
		"another one that loses less":         {defined(t, "https://ab"), defined(t, "https://a"), []map[string]any{there}, "", ""},
		"another one that loses more":         {defined(t, "https://a"), defined(t, "https://ab"), []map[string]any{there}, refused + less + `of "n/o" between v1 and v2 it loses spec.b` + todo, ""},
		"one that loses another field":        {defined(t, "https://a"), defined(t, "https://b"), []map[string]any{there}, refused + less + `of "n/o" between v1 and v2 it loses spec.b` + todo, ""},
		"one that loses what is not there":    {defined(t, "https://x"), defined(t, "https://b"), []map[string]any{tab("n", map[string]any{"a": "1"})}, "", ""},
		"one that loses of the second object": {defined(t, "https://x", inCluster), defined(t, "https://b", inCluster), []map[string]any{tab("", map[string]any{"a": "1"}), tab("", map[string]any{"b": "1"})}, refused + less + `of "o" between v1 and v2 it loses spec.b` + todo, ""},
		"one that fails":                      {defined(t, "https://x"), defined(t, "https://fails"), []map[string]any{there}, refused + less + `of "n/o" between v1 and v2 it says: conversion webhook for example.com/v1, Kind=CronTab failed: no such thing` + todo, ""},
		"one that is not there":               {defined(t, "https://x"), defined(t, "https://away"), []map[string]any{there}, "", "spec.conversion: whether the new converter converts what is stored could not be tried: v1:v2: conversion webhook for example.com/v1, Kind=CronTab failed: nobody listens"},
		"and the former one is not there":     {defined(t, "https://away"), defined(t, "https://a"), []map[string]any{there}, "", "spec.conversion: the new converter does not convert all that is stored, and the former one could not be asked: v1:v2: conversion webhook for example.com/v1, Kind=CronTab failed: nobody listens"},
		"one that cannot be used":             {defined(t, "https://x"), defined(t, "https://unusable"), []map[string]any{there}, "", ""},
		"after one that could not be used":    {defined(t, "https://unusable"), defined(t, "https://a"), []map[string]any{there}, "", ""},
		"one of what is not served":           {defined(t, "https://x", func(o *unstructured.Unstructured) { gvr.Section(o, "status")["conditions"] = []any{} }), defined(t, "https://a"), []map[string]any{there}, "", ""},
		"objects of no version":               {defined(t, "https://x"), defined(t, "https://a"), []map[string]any{{"apiVersion": "example.com/v9", "kind": "CronTab", "metadata": map[string]any{"name": "o"}, "spec": map[string]any{"a": "1"}}}, "", ""},
		"objects that are not valid":          {defined(t, "https://x"), defined(t, "https://a"), []map[string]any{tab("n", map[string]any{"a": int64(1)})}, "", ""},
	} {
		w := &write{old: c.old, now: c.now, operation: admission.Update, resource: gvr.Definitions}
		err := dropping(c.stored...).Validate(t.Context(), w)
		if got := textOf(err); got != c.want || err != nil && !apierrors.IsInvalid(err) {
			t.Errorf("%s: %s\nwant %s", what, got, c.want)
		}
		if got := strings.Join(w.warned, "; "); got != c.warned {
			t.Errorf("%s: warned %q, want %q", what, got, c.warned)
		}
	}
}

// Objects at a version that is served no more are converted from it, and back if that was
// possible before.
func TestConvertersThatObjectsOfARetiredVersionNeed(t *testing.T) {
	retired := func(o *unstructured.Unstructured) {
		servesOnly("v1")(o)
		gvr.Section(o, "status")["storedVersions"] = []any{"v2", "v1"}
	}
	there := tab("n", map[string]any{"a": "1", "b": "2"})
	there["apiVersion"] = "example.com/v2"
	const refused = `CustomResourceDefinition.apiextensions.k8s.io "crontabs.example.com" is invalid: spec.conversion: Forbidden: objects may be stored at v2 (status.storedVersions), and v1 is served: ` +
		`the new converter converts less than the present one: of "n/o" between v2 and v1 it `
	const todo = `; migrate the objects and serve one version first, or set the annotation conversion.wasmgate.dev/allow-loss to "true"`
	const says = "says: conversion webhook for example.com/v2, Kind=CronTab failed: "
	for what, c := range map[string]struct{ old, now, want string }{
		"one that loses a field":         {"https://x", "https://b", refused + "loses spec.b" + todo},
		"one that loses as much":         {"https://b", "https://b/", ""},
		"one that keeps all":             {"https://b", "https://x", ""},
		"one that fails":                 {"https://x", "https://fails", refused + says + "no such thing" + todo},
		"one without a way back":         {"https://x", "https://forth", refused + "says: conversion webhook for example.com/v1, Kind=CronTab failed: no way back" + todo},
		"neither has a way back":         {"https://forth", "https://forth/", ""},
		"one that mends the way there":   {"https://fails", "https://forth", ""},
		"one that fails, and never came": {"https://forth", "https://fails", refused + says + "no such thing" + todo},
	} {
		w := &write{old: defined(t, c.old, retired), now: defined(t, c.now, retired), operation: admission.Update, resource: gvr.Definitions}
		if got := textOf(dropping(there).Validate(t.Context(), w)); got != c.want || len(w.warned) > 0 {
			t.Errorf("%s: %s (warned %q)\nwant %s", what, got, w.warned, c.want)
		}
	}
}

func textOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// Other writes are none of its business, and what it cannot read is told.
func TestWhatConversionLossLooksAt(t *testing.T) {
	for what, change := range map[string]func(w *write){
		"a creation":   func(w *write) { w.operation = admission.Create },
		"the status":   func(w *write) { w.subresource = "status" },
		"another kind": func(w *write) { w.resource = schema.GroupResource{Resource: "pods"} },
		"not read":     func(w *write) { w.unread = errors.New("no store") },
		"of this one":  func(*write) {},
	} {
		w := &write{old: defined(t, "wasm://m"), now: defined(t, ""), operation: admission.Update, resource: gvr.Definitions}
		change(w)
		err := dropping(tab("n", nil)).Validate(t.Context(), w)
		if want := slices.Contains([]string{"not read", "of this one"}, what); (err != nil) != want || what == "not read" && err.Error() != "no store" {
			t.Errorf("%s: %v", what, err)
		}
	}
	broken := errors.New("no store")
	p := dropping(tab("n", nil))
	p.some = func(context.Context, schema.GroupResource, int) ([]map[string]any, error) { return nil, broken }
	if err := p.Validate(t.Context(), &write{old: defined(t, "https://x"), now: defined(t, "https://a"), operation: admission.Update, resource: gvr.Definitions}); !errors.Is(err, broken) {
		t.Errorf("objects are not read: %v", err)
	}
	p.any = func(context.Context, schema.GroupResource) (bool, error) { return true, broken }
	if err := p.Validate(t.Context(), &write{old: defined(t, "wasm://m"), now: defined(t, ""), operation: admission.Update, resource: gvr.Definitions}); !errors.Is(err, broken) {
		t.Errorf("whether there are any is not read: %v", err)
	}
}
