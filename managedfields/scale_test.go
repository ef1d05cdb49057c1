package managedfields_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	library "k8s.io/apimachinery/pkg/util/managedfields"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/wasmgate/wasmgate/managedfields"
)

// A Scale that is applied has nothing but what Scales have.
func TestScalesAreChecked_SSA33(t *testing.T) {
	for text, want := range map[string]string{
		`{"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"a","labels":{"l":"m"}},"spec":{"replicas":1},"status":{"replicas":2,"selector":"s"}}`: "",
		`{"spec":{"replicas":null}}`:                                        "",
		`{"spec":{"replicas":"1"}}`:                                         "(/; autoscaling/v1, Kind=Scale): .spec.replicas: expected numeric (int or float), got string",
		`{"metadata":{"name":"a"},"spec":{"x":1}}`:                          "(/a; autoscaling/v1, Kind=Scale): .spec.x: field not declared in schema",
		`{"metadata":{"name":"a","namespace":"n"},"status":{"selector":1}}`: "(n/a; autoscaling/v1, Kind=Scale): .status.selector: expected string, got &value.valueUnstructured{Value:1}",
		`{"x":1}`: "(/; autoscaling/v1, Kind=Scale): .x: field not declared in schema",
	} {
		var scale map[string]any
		if err := json.Unmarshal([]byte(text), &scale); err != nil {
			t.Fatal(err)
		}
		err := managedfields.CheckScale(scale)
		if want == "" {
			if err != nil {
				t.Errorf("%s: %v", text, err)
			}
			continue
		}
		var status apierrors.APIStatus
		if !errors.As(err, &status) || status.Status().Code != http.StatusInternalServerError || err.Error() != "failed to create typed patch object "+want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// Who owns how many replicas an object wants owns the number of its Scale: the
// library says the same.
func TestScalesAreOwnedAsTheirObjects_SSA33(t *testing.T) {
	entry := func(edit ...string) string {
		return strings.NewReplacer(edit...).Replace(`{"apiVersion":"apps/v1","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:replicas":{},"f:paused":{}}},"manager":"m","operation":"Update","time":"2026-01-02T03:04:05Z"}`)
	}
	mappings := library.ResourcePathMappings{"apps/v1": fieldpath.MakePathOrDie("spec", "replicas"), "example.com/v1": fieldpath.MakePathOrDie("spec", "deep", "number"), "example.com/v2": nil}
	replicas := map[string][]string{"apps/v1": {"spec", "replicas"}, "example.com/v1": {"spec", "deep", "number"}, "example.com/v2": nil}
	for name, text := range map[string]string{
		"one":                        `[` + entry() + `]`,
		"none":                       `[]`,
		"another field":              `[` + entry(`"f:replicas":{},`, ``) + `]`,
		"an applier":                 `[` + entry("Update", "Apply") + `]`,
		"through the scale":          `[` + entry(`"operation"`, `"subresource":"scale","operation"`, `,"time":"2026-01-02T03:04:05Z"`, ``) + `]`,
		"another path":               `[` + entry("apps/v1", "example.com/v1", `"f:replicas":{}`, `"f:deep":{"f:number":{}}`) + `]`,
		"a version without a path":   `[` + entry("apps/v1", "example.com/v2") + `]`,
		"an unknown version":         `[` + entry("apps/v1", "apps/v9") + `]`,
		"several":                    `[` + entry("Update", "Apply") + `,` + entry(`"m"`, `"n"`) + `,` + entry(`"m"`, `"o"`, `"f:replicas":{},`, ``) + `]`,
		"the whole is owned by name": `[` + entry(`{"f:spec":{"f:replicas":{},"f:paused":{}}}`, `{"f:spec":{".":{}}}`) + `]`,
	} {
		var entries []metav1.ManagedFieldsEntry
		if err := json.Unmarshal([]byte(text), &entries); err != nil {
			t.Fatal(err)
		}
		want, err := library.NewScaleHandler(entries, schema.GroupVersion{Group: "apps", Version: "v1"}, mappings).ToSubresource()
		if err != nil {
			t.Fatal(err)
		}
		var got []metav1.ManagedFieldsEntry
		if data := managedfields.OfScale([]byte(text), replicas); data != nil {
			if err := json.Unmarshal(data, &got); err != nil {
				t.Fatal(err)
			}
		}
		if len(got) != len(want) || len(got) > 0 && !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	for _, odd := range []string{"", "x", `[{"manager":"m"}]`} {
		if got := managedfields.OfScale([]byte(odd), replicas); got != nil {
			t.Errorf("%q: %s", odd, got)
		}
	}
}

// A Scale that is shown tells what its sender sets.
func TestScalesThatAreSentAreOwned_SSA33(t *testing.T) {
	live := map[string]any{"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": map[string]any{"name": "a", "uid": "u"}, "spec": map[string]any{"replicas": int64(1)}, "status": map[string]any{"replicas": int64(0)}}
	next := map[string]any{"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": map[string]any{"name": "a", "labels": map[string]any{"l": "m"}}, "spec": map[string]any{"replicas": int64(2)}, "status": map[string]any{"replicas": int64(0)}}
	managed := []byte(`[{"apiVersion":"autoscaling/v1","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:replicas":{}}},"manager":"other","operation":"Update"}]`)
	out, err := managedfields.Scales().Update(t.Context(), managedfields.Change{Version: "v1", Subresource: "scale", Manager: "m", Time: time.Unix(1e9, 0), Live: live, LiveManaged: managed, New: next, NewManaged: managed})
	const want = `[{"apiVersion":"autoscaling/v1","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:labels":{".":{},"f:l":{}}},"f:spec":{"f:replicas":{}}},"manager":"m","operation":"Update","subresource":"scale","time":"2001-09-09T01:46:40Z"}]`
	if err != nil || string(out.Managed) != want {
		t.Errorf("%s, %v, want %s", out.Managed, err, want)
	}
	out, err = managedfields.Scales().Update(t.Context(), managedfields.Change{Version: "v1", Subresource: "scale", Manager: "m", Time: time.Unix(1e9, 0), New: next})
	if err != nil || !strings.Contains(string(out.Managed), `"f:replicas"`) {
		t.Errorf("of nothing: %s, %v", out.Managed, err)
	}
}
