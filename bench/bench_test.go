package main

import (
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/wasmgate/wasmgate/bench/workload"
)

func TestDefinitionAndObjectsAreJSON(t *testing.T) {
	for _, text := range [][]byte{workload.CRD(""), workload.CRD(`{"url":"wasm://bench"}`), workload.Object(7, 3), workload.Configuration(7, "v")} {
		if !json.Valid(text) {
			t.Errorf("not JSON: %s", text)
		}
	}
	if n := len(workload.Object(1234, 0)); n < 1000 || n > 1500 {
		t.Errorf("an object has %d bytes; the documentation says 1.2 KB", n)
	}
}

func TestConvertRoundTrip(t *testing.T) {
	spec := map[string]any{"hostPort": "a:1", "replicas": 3.0}
	convert(spec, true)
	if want := map[string]any{"host": "a", "port": "1", "replicas": 3.0}; !reflect.DeepEqual(spec, want) {
		t.Errorf("split: %v", spec)
	}
	convert(spec, false)
	if want := map[string]any{"hostPort": "a:1", "replicas": 3.0}; !reflect.DeepEqual(spec, want) {
		t.Errorf("joined: %v", spec)
	}
}

func TestSummarize(t *testing.T) {
	var latencies []time.Duration
	for i := 100; i > 0; i-- {
		latencies = append(latencies, time.Duration(i)*time.Millisecond)
	}
	m := summarize(latencies, 2*time.Second, time.Second)
	if m.Ops != 100 || m.Rate != 50 || m.P50 != 50 || m.P99 != 99 || m.CPU != 10000 {
		t.Errorf("%+v", m)
	}
	if m := summarize(nil, time.Second, 0); m.Ops != 0 || m.P99 != 0 {
		t.Errorf("nothing measured: %+v", m)
	}
}

func TestRatios(t *testing.T) {
	r := &report{}
	r.add(io.Discard, measurement{Step: "get", Server: "wasmgate", CPU: 20, Rate: 1000, P50: 2})
	r.add(io.Discard, measurement{Step: "get", Server: "peer", CPU: 500, Rate: 100, P50: 8})
	if got := r.ratios(); len(got) != 1 || got[0] != (ratio{"get", 25, 10, 4}) {
		t.Errorf("%+v", got)
	}
}

func TestSelectSteps(t *testing.T) {
	all, err := selectSteps(strings.Join(stepNames(), ","))
	if err != nil || len(all) != len(steps) {
		t.Errorf("%d steps: %v", len(all), err)
	}
	if _, err := selectSteps("create,levitate"); err == nil || !strings.Contains(err.Error(), "levitate") {
		t.Errorf("unknown step: %v", err)
	}
}

func TestManyDefinitionsDiffer(t *testing.T) {
	names, sizes := map[string]bool{}, 0
	for i := range 2 * len(models) {
		text, err := crowded(i)
		if err != nil {
			t.Fatal(err)
		}
		var c apiextensionsv1.CustomResourceDefinition
		if err := json.Unmarshal(text, &c); err != nil {
			t.Fatal(err)
		}
		names[c.Name] = true
		sizes += len(text)
		if c.Name != c.Spec.Names.Plural+"."+c.Spec.Group || len(c.Spec.Versions) != len(crowdVersions) {
			t.Errorf("%s: %d versions", c.Name, len(c.Spec.Versions))
		}
		if len(c.Spec.Versions[2].Schema.OpenAPIV3Schema.Properties) == 0 {
			t.Errorf("%s has no schema", c.Name)
		}
	}
	if len(names) != 2*len(models) {
		t.Errorf("%d names of %d definitions", len(names), 2*len(models))
	}
	if mean := sizes / (2 * len(models)); mean < 90_000 || mean > 110_000 {
		t.Errorf("a definition has %d bytes; the documentation says 100 KB", mean)
	}
}

func TestKeysOfListsAreRequiredOrHaveDefaults(t *testing.T) {
	var check func(s *apiextensionsv1.JSONSchemaProps) (keys int)
	check = func(s *apiextensionsv1.JSONSchemaProps) (keys int) {
		for _, p := range s.Properties {
			keys += check(&p)
		}
		if s.Items == nil || s.Items.Schema == nil {
			return keys
		}
		for _, k := range s.XListMapKeys {
			keys++
			if s.Items.Schema.Properties[k].Default == nil && !slices.Contains(s.Items.Schema.Required, k) {
				t.Errorf("%s of %s", k, s.Description)
			}
		}
		return keys + check(s.Items.Schema)
	}
	all, err := schemas()
	if err != nil {
		t.Fatal(err)
	}
	keys := 0
	for _, text := range all {
		var s apiextensionsv1.JSONSchemaProps
		if err := json.Unmarshal(text, &s); err != nil {
			t.Fatal(err)
		}
		keys += check(&s)
	}
	if keys == 0 {
		t.Error("no list has keys")
	}
}

func TestMapsDiffer(t *testing.T) {
	seen := map[string]bool{}
	for _, i := range []int{0, 1, 2, 99999} {
		var m corev1.ConfigMap
		if err := json.Unmarshal(workload.ConfigMap(i), &m); err != nil {
			t.Fatal(err)
		}
		if n := len(workload.ConfigMap(i)); n < 900 || n > 1100 || m.Name != fmt.Sprint("map-", i) || seen[m.Data["settings"]] {
			t.Errorf("%d bytes: %v", n, m)
		}
		seen[m.Data["settings"]] = true
	}
}

func TestSelectStepsOfManyDefinitions(t *testing.T) {
	got, err := selectSteps("define,restart")
	if err != nil || len(got) != 2 || got[1].name != "restart" {
		t.Errorf("%v, %v", got, err)
	}
	if got, err := selectSteps("maps,tenlists"); err != nil || len(got) != 2 || got[1].name != "tenlists" {
		t.Errorf("%v, %v", got, err)
	}
	for _, s := range slices.Concat(crowd, maps, slow) {
		if slices.Contains(stepNames(), s.name) {
			t.Errorf("%s runs without being named", s.name)
		}
	}
}
