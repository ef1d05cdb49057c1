package quantity

import (
	"reflect"
	"strings"
	"testing"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

func TestCheck(t *testing.T) {
	for text, ok := range map[string]bool{
		"": true, "1": true, "1e3": true, "1E": true, "1Ei": true, "-2.5e-12": true, "1e1000": true, "1e0000000000000000000000003": true, "x": true, "1e": true,
		"1e1001": false, "1e-2000000000": false, "1E+2000000000": false, "1e99999999999999999999999": false, " 1e2000000000": false,
		"e1000": true, "e1001": false,
		strings.Repeat("1", 1000): true, strings.Repeat("1", 1001): false,
	} {
		if err := Check(text); (err == nil) != ok {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestCheckTree(t *testing.T) {
	const bad = "1e-2000000000"
	for text, ok := range map[string]bool{
		`{metadata: {name: BAD, labels: {a: BAD}}, spec: {containers: [{name: BAD, image: BAD}]}}`:      true,
		`{spec: {containers: [{}, {resources: {limits: {cpu: "1", x: BAD}}}]}}`:                         false,
		`{spec: {containers: [{env: [{valueFrom: {resourceFieldRef: {resource: a, divisor: BAD}}}]}]}}`: false,
		`{spec: {Containers: [{reſources: {limits: {x: BAD}}}]}}`:                                       false, // encoding/json reads that
		`{spec: {volumes: [{emptyDir: {sizeLimit: BAD}}], overhead: {cpu: "1"}}}`:                       false,
		`{spec: {volumes: BAD, overhead: BAD, containers: {resources: BAD}}}`:                           true, // is refused for that
	} {
		var tree any
		if err := yaml.Unmarshal([]byte(strings.ReplaceAll(text, "BAD", `"`+bad+`"`)), &tree); err != nil {
			t.Fatal(err)
		}
		if err := CheckTree(tree, reflect.TypeFor[*corev1.Pod]()); (err == nil) != ok {
			t.Errorf("%s: %v", text, err)
		}
	}
	list := []any{map[string]any{"resource": map[string]any{"targetAverageValue": bad}}}
	if err := CheckTree(list, reflect.TypeFor[[]autoscalingv1.MetricSpec]()); err == nil {
		t.Error("a list is not looked into")
	}
}

// Types that contain themselves are known to their end.
func TestRecursiveTypes(t *testing.T) {
	type node struct {
		Resources corev1.ResourceList `json:"resources"`
		Children  []node              `json:"children"`
	}
	bad := map[string]any{"children": []any{map[string]any{"children": []any{map[string]any{"resources": map[string]any{"a": "1e9999"}}}}}}
	if err := CheckTree(bad, reflect.TypeFor[node]()); err == nil {
		t.Error("it is accepted")
	}
}
