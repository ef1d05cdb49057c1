package body

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	extensionsv1beta1 "k8s.io/api/extensions/v1beta1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/gateway/catalog"
	"github.com/wasmgate/wasmgate/gateway/catalog/catalogtest"
	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/gateway/view"
	"github.com/wasmgate/wasmgate/gateway/view/encoding"
)

// targetOf is a built-in kind.
func targetOf(t *testing.T, group, plural, subresource string) resource.Target {
	t.Helper()
	for _, d := range catalogtest.Builtins(t) {
		if d.Group == group && d.Plural == plural {
			i := slices.IndexFunc(d.Versions, func(v *crd.Version) bool { return v.Name == "v1" })
			return resource.Target{Resource: &catalog.Resource{Renderer: view.New(d, nil, nil)}, Version: d.Versions[i], Subresource: subresource}
		}
	}
	t.Fatalf("there are no %s", plural)
	return resource.Target{}
}

// message is an object in protobuf, as clients send it.
func message(t *testing.T, apiVersion, kind string, o interface{ Marshal() ([]byte, error) }) []byte {
	t.Helper()
	raw, err := o.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	out, err := (&runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: apiVersion, Kind: kind}, Raw: raw}).Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return append([]byte("k8s\x00"), out...)
}

func cborOf(t *testing.T, v any) []byte {
	t.Helper()
	out, err := direct.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return append([]byte("\xd9\xd9\xf7"), out...)
}

// Objects come as messages where the kind has such, and have to be of the kind.
func TestObjectsThatAreMessages_MT04(t *testing.T) {
	configMap := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a"}, Data: map[string]string{"k": "v"}}
	whole := message(t, "v1", "ConfigMap", configMap)
	for name, c := range map[string]struct {
		target resource.Target
		data   []byte
		want   string // a part of the object, or of the refusal
		fails  bool
	}{
		"an object":       {targetOf(t, "", "configmaps", ""), whole, `"data":{"k":"v"}`, false},
		"of another kind": {targetOf(t, "", "configmaps", ""), message(t, "v1", "Pod", configMap), `Pod in version "v1" cannot be handled as a ConfigMap: no kind "Pod" is registered for version "v1"`, true},
		"of an older version, which is judged as it is in JSON": {targetOf(t, "apps", "deployments", ""), message(t, "extensions/v1beta1", "Deployment", &extensionsv1beta1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "a"}}), `"apiVersion":"extensions/v1beta1"`, false},
		"no message":     {targetOf(t, "", "configmaps", ""), []byte("{}"), "the object provided is unrecognized (must be of type ConfigMap): ", true},
		"a broken one":   {targetOf(t, "", "configmaps", ""), append([]byte("k8s\x00"), "\n\x0f\n\x02v1\x12\tConfigMap\x12\x02\xff\xff"...), "", true},
		"a scale":        {targetOf(t, "apps", "deployments", "scale"), message(t, "autoscaling/v1", "Scale", &autoscalingv1.Scale{Spec: autoscalingv1.ScaleSpec{Replicas: 3}}), `"kind":"Scale"`, false},
		"a broken scale": {targetOf(t, "apps", "deployments", "scale"), append([]byte("k8s\x00"), "\n\x05\x12\x03abc\x12\x02\xff\xff"...), "", true},
	} {
		out, err := Body{ContentType: encoding.TypeProtobuf, Data: c.data}.Object(c.target, &resource.WriteOptions{})
		if (err != nil) != c.fails || err == nil && !strings.Contains(string(out), c.want) || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %s, %v", name, out, err)
		}
		if err != nil && !apierrors.IsBadRequest(err) && !apierrors.IsUnsupportedMediaType(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Questions, patches, options and configurations are JSON in the end, whatever they come as.
func TestWhatBodiesCanBe(t *testing.T) {
	cbor := cborOf(t, map[string]any{"a": int64(1)})
	for name, c := range map[string]struct {
		media, data              string
		cbor                     bool
		question, patch, options string // "" is none
		problems                 int
	}{
		"JSON":           {"", `{"a":1}`, false, `{"a":1}`, `{"a":1}`, `{"a":1}`, 0},
		"YAML":           {encoding.TypeYAML, "a: 1\n", false, `{"a":1}`, "", `{"a":1}`, 0},
		"YAML, twice":    {encoding.TypeYAML, "a: 2\na: 1\n", false, `{"a":1}`, "", `{"a":1}`, 1},
		"an apply":       {string(types.ApplyYAMLPatchType), "a: 1\n", false, "", `{"a":1}`, "", 0},
		"no apply":       {string(types.ApplyYAMLPatchType), "a: [\n", false, "", "", "", 0},
		"CBOR":           {encoding.TypeCBOR, string(cbor), true, `{"a":1}`, "", `{"a":1}`, 0},
		"no CBOR":        {encoding.TypeCBOR, string(cbor), false, "", "", "", 0},
		"CBOR to apply":  {mediaApplyCBOR, string(cbor), true, "", `{"a":1}`, "", 0},
		"broken CBOR":    {mediaApplyCBOR, "\xff", true, "", "", "", 0},
		"no media type":  {"/", `{"a":1}`, false, "", "", "", 0},
		"a text":         {"text/plain", "a: 1", false, "", "", "", 0},
		"a broken text":  {"", "{", false, "", "", "", 0},
		"nothing at all": {"/", "", false, "", "", "", 0},
		//lint:ignore SA1019 clients still send it
		"a message":  {encoding.TypeProtobuf, string(message(t, "v1", "DeleteOptions", &metav1.DeleteOptions{OrphanDependents: new(bool)})), false, "k8s\x00", "", `{"kind":"DeleteOptions","apiVersion":"v1","orphanDependents":false}`, 0},
		"no message": {encoding.TypeProtobuf, "k8s\x00\xff", false, "k8s\x00", "", "", 0},
	} {
		b := Body{ContentType: c.media, Data: []byte(c.data), CBOR: c.cbor}
		var o resource.WriteOptions
		media, question, err := b.Question(&o)
		if name == "a broken text" {
			question, c.question = nil, "" // who is asked says so
		}
		if (err == nil) != (c.question != "") && name != "a broken text" || err == nil && !strings.HasPrefix(string(question), c.question) || len(o.Problems) != c.problems || (media == encoding.TypeProtobuf) != (c.media == encoding.TypeProtobuf) {
			t.Errorf("%s: the question is %s %s, %v, %q", name, media, question, err, o.Problems)
		}
		if got := b.Patch(); string(got) != c.patch {
			t.Errorf("%s: the patch is %s", name, got)
		}
		if got := b.Options(); string(got) != c.options && name != "a broken text" {
			t.Errorf("%s: the options are %s", name, got)
		}
	}
}

// The configuration of an apply may be YAML or CBOR; what it repeats is told.
func TestConfigurations_SSA(t *testing.T) {
	const yaml = string(types.ApplyYAMLPatchType)
	one := map[string]any{"a": int64(1)}
	for name, c := range map[string]struct {
		media, data string
		want        map[string]any
		refused     string
		problems    []string
	}{
		"JSON":        {yaml, `{"a":1}`, one, "", nil},
		"JSON, twice": {yaml, `{"a":2,"a":1}`, one, "", []string{"error converting YAML to JSON: yaml: unmarshal errors:\n  line 1: key \"a\" already set in map"}},
		"YAML":        {yaml, "a: 1\n", one, "", nil},
		"nothing":     {yaml, "null\n", map[string]any{}, "", nil},
		"no YAML":     {yaml, "a: [", nil, "error decoding YAML: error converting YAML to JSON: ", nil},
		"a list":      {yaml, "[]", nil, "error decoding YAML: error unmarshaling JSON: while decoding JSON: ", nil},
		"CBOR":        {mediaApplyCBOR, string(cborOf(t, one)), one, "", nil},
		"no CBOR":     {mediaApplyCBOR, "\xff", nil, "error decoding CBOR: ", nil},
	} {
		var o resource.WriteOptions
		got, err := Body{Data: []byte(c.data)}.Configuration(c.media, &o)
		if (err == nil) != (c.refused == "") || !reflect.DeepEqual(got, c.want) || err != nil && (!apierrors.IsBadRequest(err) || !strings.HasPrefix(err.Error(), c.refused)) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
		if !slices.Equal(o.Problems, c.problems) {
			t.Errorf("%s: problems %q", name, o.Problems)
		}
	}
	for media, want := range map[string][2]bool{yaml: {true, true}, mediaApplyCBOR: {false, true}, encoding.TypeYAML: {false, false}, encoding.TypeCBOR: {false, false}} {
		if got := [2]bool{Body{}.Applies(media), Body{CBOR: true}.Applies(media)}; got != want {
			t.Errorf("%s is a configuration: %v", media, got)
		}
	}
}

// Each key that is there twice is a warning, and any other warning is itself.
func TestRepeatedKeysAreWarnings(t *testing.T) {
	var told []string
	o := resource.WriteOptions{Warn: func(text string) { told = append(told, text) }}
	noteRepeated([]byte("a: 1\na: 2\nb: 1\nb: 2\n"), "", &o)
	for _, p := range o.Problems {
		o.AddWarning(p)
	}
	o.AddWarning("other")
	if want := []string{`line 2: key "a" already set in map`, `line 4: key "b" already set in map`, "other"}; !slices.Equal(told, want) {
		t.Errorf("told %q", told)
	}
}
