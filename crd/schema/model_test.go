package schema

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

const core = "io.k8s.api.core.v1."

func inJSON(t *testing.T, v any) string {
	t.Helper()
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// fieldOf is the schema of a field, without what people read.
func fieldOf(t *testing.T, model *spec.Schema, name string) string {
	t.Helper()
	if model == nil {
		t.Fatalf("there is no model with %s", name)
	}
	s, ok := model.Properties[name]
	if !ok || s.Description == "" {
		t.Errorf("%s: there %v, described by %q", name, ok, s.Description)
	}
	s.Description = ""
	return inJSON(t, s)
}

func TestModelsSayWhatTheTypesDo_RES10(t *testing.T) {
	v2, v3 := Models(reflect.TypeFor[corev1.Pod](), 2), Models(reflect.TypeFor[corev1.Pod](), 3)
	for _, c := range []struct{ model, field, v2, v3 string }{
		{"Pod", "spec", `{"default":{},"$ref":"#/definitions/io.k8s.api.core.v1.PodSpec"}`, `{"default":{},"allOf":[{"$ref":"#/components/schemas/io.k8s.api.core.v1.PodSpec"}]}`},
		{"Container", "name", "", `{"type":"string","default":""}`},
		{"Container", "stdin", "", `{"type":"boolean"}`},
		{"Container", "args", "", `{"type":"array","items":{"type":"string","default":""},"x-kubernetes-list-type":"atomic"}`},
		{"Container", "imagePullPolicy", "", `{"type":"string","enum":["Always","IfNotPresent","Never"]}`},
		{"Container", "lifecycle", `{"$ref":"#/definitions/io.k8s.api.core.v1.Lifecycle"}`, `{"allOf":[{"$ref":"#/components/schemas/io.k8s.api.core.v1.Lifecycle"}]}`},
		{"ContainerPort", "protocol", "", `{"type":"string","default":"TCP","enum":["SCTP","TCP","UDP"]}`},
		{"ContainerPort", "containerPort", "", `{"type":"integer","format":"int32","default":0}`},
		{"AzureDiskVolumeSource", "cachingMode", "", `{"type":"string","default":"ReadWrite","enum":["None","ReadOnly","ReadWrite"]}`},
		{"PodSpec", "nodeSelector", "", `{"type":"object","additionalProperties":{"type":"string","default":""},"x-kubernetes-map-type":"atomic"}`},
		{"ConfigMapKeySelector", "name", "", `{"type":"string","default":""}`}, // of a struct that is inlined
		{"HTTPGetAction", "port", `{"$ref":"#/definitions/io.k8s.apimachinery.pkg.util.intstr.IntOrString"}`, `{"allOf":[{"$ref":"#/components/schemas/io.k8s.apimachinery.pkg.util.intstr.IntOrString"}]}`},
		{"ResourceRequirements", "limits", `{"type":"object","additionalProperties":{"$ref":"#/definitions/io.k8s.apimachinery.pkg.api.resource.Quantity"}}`, `{"type":"object","additionalProperties":{"$ref":"#/components/schemas/io.k8s.apimachinery.pkg.api.resource.Quantity"}}`},
		{"PodStatus", "startTime", `{"$ref":"#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.Time"}`, `{"allOf":[{"$ref":"#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.Time"}]}`},
	} {
		if c.v2 == "" {
			c.v2 = c.v3
		}
		if got := fieldOf(t, v2[core+c.model], c.field); got != c.v2 {
			t.Errorf("version 2: %s %s is %s", c.model, c.field, got)
		}
		if got := fieldOf(t, v3[core+c.model], c.field); got != c.v3 {
			t.Errorf("version 3: %s %s is %s", c.model, c.field, got)
		}
	}
	ports := fieldOf(t, v3[core+"Container"], "ports")
	for _, part := range []string{`"x-kubernetes-list-map-keys":["containerPort","protocol"]`, `"x-kubernetes-list-type":"map"`, `"x-kubernetes-patch-merge-key":"containerPort"`, `"x-kubernetes-patch-strategy":"merge"`} {
		if !strings.Contains(ports, part) {
			t.Errorf("ports are merged by %s", ports)
		}
	}
	if got := inJSON(t, v3["io.k8s.apimachinery.pkg.util.intstr.IntOrString"].OneOf); got != `[{"type":"integer"},{"type":"string"}]` {
		t.Errorf("an IntOrString is one of %s", got)
	}
	if got := v2["io.k8s.apimachinery.pkg.api.resource.Quantity"].Type; !slices.Equal(got, []string{"string"}) {
		t.Errorf("version 2: a Quantity is %v", got)
	}
}

// What is sent is required, unless its type or its source says that it need not be.
func TestModelsSayWhatIsRequired(t *testing.T) {
	models := Models(reflect.TypeFor[appsv1.StatefulSet](), 3)
	for name, want := range map[string][]string{
		core + "Container":                          {"name"},
		core + "PodSpec":                            {"containers"},
		core + "LocalObjectReference":               nil,                      // always written, and optional
		"io.k8s.api.apps.v1.StatefulSet":            {"spec"},                 // left out when empty, and required
		"io.k8s.api.apps.v1.StatefulSetSpec":        {"selector", "template"}, // in the order of the type
		"io.k8s.apimachinery.pkg.apis.meta.v1.Time": nil,
	} {
		if got := models[name].Required; !slices.Equal(got, want) {
			t.Errorf("%s requires %q", name, got)
		}
	}
}

// A kind inside another one is told to be one, and a model that refers to itself is there.
func TestModelsInsideOthers(t *testing.T) {
	models := Models(reflect.TypeFor[appsv1.StatefulSet](), 3)
	if got := inJSON(t, models[core+"PersistentVolumeClaim"].Extensions); got != `{"x-kubernetes-group-version-kind":[{"group":"","kind":"PersistentVolumeClaim","version":"v1"}]}` {
		t.Errorf("a claim is %s", got)
	}
	if got := models[core+"PodSpec"].Extensions; len(got) > 0 {
		t.Errorf("the spec of a Pod is %v", got)
	}
	const apiextensions = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1."
	for version, prefix := range map[int]string{2: "#/definitions/", 3: "#/components/schemas/"} {
		models = Models(reflect.TypeFor[apiextensionsv1.CustomResourceDefinition](), version)
		not := models[apiextensions+"JSONSchemaProps"].Properties["not"]
		if got := inJSON(t, not); !strings.Contains(got, prefix+apiextensions+"JSONSchemaProps") {
			t.Errorf("version %d: a schema holds %s", version, got)
		}
		if models[apiextensions+"CustomResourceDefinitionSpec"].Description == "" {
			t.Error("the spec of a definition is not described")
		}
		for name, m := range models {
			if m.Extensions["x-kubernetes-v2-schema"] != nil {
				t.Errorf("version %d: %s has another form inside", version, name)
			}
		}
	}
}

// Who gets models may say more of them.
func TestModelsBelongToTheCaller(t *testing.T) {
	typ := reflect.TypeFor[apiextensionsv1.CustomResourceDefinition]()
	name := ModelName(typ)
	Models(typ, 3)[name].AddExtension("x-mine", true)
	if Models(typ, 3)[name].Extensions["x-mine"] != nil {
		t.Error("what one said of a model others see")
	}
}
