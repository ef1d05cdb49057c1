package plan

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/wasmgate/wasmgate/crd/object"
)

const about = `
core/v1.PodSpec:
  restartPolicy: {default: Always, enum: [Always, OnFailure, Never]}
  containers: {required: true, unique: name}
  securityContext: {default: {}}
core/v1.Container:
  name: {required: true, format: dns-label}
  terminationMessagePath: {default: /dev/termination-log}
  imagePullPolicy: {defaultFrom: "self.?image.orValue('').endsWith(':1') ? 'IfNotPresent' : 'Always'"}
core/v1.ContainerPort:
  protocol: {default: TCP}
  hostPort: {defaultFrom: "up[1].?hostNetwork.orValue(false) ? optional.of(self.containerPort) : optional.none()"}
meta/v1.LabelSelector:
  "": {format: label-selector}
`

const own = `
spec.replicas: {default: 1, minimum: 0, maximum: 9}
spec.selector: {required: true, immutable: true}
spec.template.spec.restartPolicy: {enum: [Always]}
spec.template: {immutable: true, except: ["spec.containers[].image"]}
spec.template.metadata.annotations: {keys: qualified-name}
spec.template.metadata.annotations{}: {rules: [{rule: "key != 'bad/key' && self != ''", message: is empty, showKey: true}]}
spec.paused: {rules: [{rule: "!(oldSelf && !self)", reason: Forbidden, message: stays paused}]}
spec.minReadySeconds: {rules: [{rule: "self > 3", message: is little}]}
spec.strategy: {atMostOneOf: ["*"]}
spec.template.spec.containers[].args: {maxItems: 2}
spec.template.spec.containers[].command: {enum: [go, stop]}
`

func deployments(t testing.TB) *Plan {
	t.Helper()
	types, mine := map[string]Additions{}, Additions{}
	for text, into := range map[string]any{about: &types, own: &mine} {
		if err := yaml.UnmarshalStrict([]byte(text), into); err != nil {
			t.Fatal(err)
		}
	}
	p, err := NewLibrary(types).Plan(reflect.TypeFor[*appsv1.Deployment](), mine)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func parsed(t testing.TB, text string) map[string]any {
	t.Helper()
	data, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	out, _, err := object.Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestDefaultsOfTypesAndPaths(t *testing.T) {
	p := deployments(t)
	got := parsed(t, `{spec: {template: {spec: {hostNetwork: true, restartPolicy: "", containers: [
		{name: a, image: "x:1", ports: [{containerPort: 80}, {containerPort: 81, hostPort: 5}]}, {name: b, image: x, terminationMessagePath: /x}]}}}}`)
	if err := p.Default(got); err != nil {
		t.Fatal(err)
	}
	want := parsed(t, `{spec: {replicas: 1, template: {spec: {hostNetwork: true, restartPolicy: Always, securityContext: {}, containers: [
		{name: a, image: "x:1", imagePullPolicy: IfNotPresent, terminationMessagePath: /dev/termination-log, ports: [{containerPort: 80, hostPort: 80, protocol: TCP}, {containerPort: 81, hostPort: 5, protocol: TCP}]},
		{name: b, image: x, imagePullPolicy: Always, terminationMessagePath: /x}]}}}}`)
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	// A default belongs to its object.
	child := got["spec"].(map[string]any)["template"].(map[string]any)["spec"].(map[string]any)["securityContext"].(map[string]any)
	child["changed"] = true
	again := parsed(t, `{spec: {template: {spec: {}}}}`)
	if err := p.Default(again); err != nil || strings.Contains(string(encode(t, again)), "changed") {
		t.Errorf("%v, %v", again, err)
	}
}

func encode(t testing.TB, v any) []byte {
	t.Helper()
	data, err := object.Encode(v)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// What a kind has no defaults for costs nothing, and what has a value little.
func TestDefaultsThatNothingLacksAllocateNothing(t *testing.T) {
	own := Additions{}
	if err := yaml.UnmarshalStrict([]byte("template.spec.restartPolicy: {default: Always}\ntemplate.spec.containers[].name: {required: true}"), &own); err != nil {
		t.Fatal(err)
	}
	p, err := NewLibrary(nil).Plan(reflect.TypeFor[*corev1.PodTemplate](), own)
	if err != nil {
		t.Fatal(err)
	}
	obj := parsed(t, `{metadata: {name: a, labels: {a: b}}, template: {metadata: {name: b}, spec: {restartPolicy: Never, containers: [{name: c, ports: [{name: d}]}, {name: e}]}}}`)
	if n := testing.AllocsPerRun(10, func() {
		if err := p.Default(obj); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestValidation(t *testing.T) {
	const valid = `{spec: {replicas: 1, selector: {matchLabels: {a: b}}, template: {spec: {containers: [{name: a, image: i}]}}}}`
	for name, tc := range map[string]struct{ obj, old, want string }{
		"valid":         {valid, "", ""},
		"valid update":  {valid, valid, ""},
		"required":      {`{spec: {template: {spec: {containers: []}}}}`, "", `[spec.selector: Required value, spec.template.spec.containers: Required value]`},
		"name":          {strings.Replace(valid, "name: a", "name: ''", 1), "", `spec.template.spec.containers[0].name: Required value`},
		"format":        {strings.Replace(valid, "name: a", "name: A", 1), "", `spec.template.spec.containers[0].name: Invalid value: "A": a lowercase RFC 1123 label`},
		"unique":        {strings.Replace(valid, "[{name: a", "[{name: a}, {name: a", 1), "", `spec.template.spec.containers[1].name: Duplicate value: "a"`},
		"minimum":       {strings.Replace(valid, "replicas: 1", "replicas: -1", 1), "", `spec.replicas: Invalid value: -1: must be between 0 and 9, inclusive`},
		"lowest":        {strings.Replace(valid, "replicas: 1", "replicas: 0", 1), "", ""},
		"highest":       {strings.Replace(valid, "replicas: 1", "replicas: 9", 1), "", ""},
		"maximum":       {strings.Replace(valid, "replicas: 1", "replicas: 10", 1), "", `spec.replicas: Invalid value: 10: must be between`},
		"narrower enum": {strings.Replace(valid, "spec: {containers", "spec: {restartPolicy: Never, containers", 1), "", `spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"`},
		"selector":      {strings.Replace(valid, "a: b", "a b: b", 1), "", `spec.selector.matchLabels: Invalid value: "a b"`},
		"immutable":     {strings.Replace(valid, "a: b", "a: c", 1), valid, `spec.selector: Invalid value: {"matchLabels":{"a":"c"}}: field is immutable`},
		"exception":     {strings.Replace(valid, "image: i", "image: j", 1), valid, ""},
		"no exception":  {strings.Replace(valid, "name: a", "name: b", 1), valid, `spec.template: Forbidden: field is immutable`},
		"keys":          {strings.Replace(valid, "template: {", "template: {metadata: {annotations: {'': x}}, ", 1), "", `[spec.template.metadata.annotations[]: Invalid value: "": name part must be non-empty`},
		"value":         {strings.Replace(valid, "template: {", "template: {metadata: {annotations: {k: ''}}, ", 1), "", `spec.template.metadata.annotations[k]: Invalid value: "k": is empty`},
		"key":           {strings.Replace(valid, "template: {", "template: {metadata: {annotations: {bad/key: x}}, ", 1), "", `spec.template.metadata.annotations[bad/key]: Invalid value: "bad/key": is empty`},
		"transition":    {strings.Replace(valid, "replicas: 1", "replicas: 1, paused: false", 1), strings.Replace(valid, "replicas: 1", "replicas: 1, paused: true", 1), `spec.paused: Forbidden: stays paused`},
		"no transition": {strings.Replace(valid, "replicas: 1", "replicas: 1, paused: false", 1), "", ""},
		"rule":          {strings.Replace(valid, "replicas: 1", "replicas: 1, minReadySeconds: 3", 1), "", `spec.minReadySeconds: Invalid value: 3: is little`},
		"items":         {strings.Replace(valid, "image: i", "image: i, args: [x, y], command: [go]", 1), "", ""},
		"many items":    {strings.Replace(valid, "image: i", "image: i, args: [x, y, z]", 1), "", `spec.template.spec.containers[0].args: Too many: 3: must have at most 2 items`},
		"item of enum":  {strings.Replace(valid, "image: i", "image: i, command: [go, run]", 1), "", `spec.template.spec.containers[0].command: Unsupported value: "run": supported values: "go", "stop"`},
		"one of":        {strings.Replace(valid, "replicas: 1", "replicas: 1, strategy: {type: x, rollingUpdate: {}}", 1), "", `spec.strategy.rollingUpdate: Forbidden: may not specify more than 1 type`},
	} {
		t.Run(name, func(t *testing.T) {
			var old map[string]any
			if tc.old != "" {
				old = parsed(t, tc.old)
			}
			got := ""
			if err := deployments(t).Validate(t.Context(), parsed(t, tc.obj), old).ToAggregate(); err != nil {
				got = err.Error()
			}
			if tc.want == "" && got != "" || !strings.HasPrefix(got, tc.want) {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
}

// What is wrong with the object is told before what is wrong with the change, but of
// few kinds.
func TestWhenChangesAreTold(t *testing.T) {
	const old = `{spec: {replicas: 1, paused: true, selector: {matchLabels: {a: b}}, template: {spec: {containers: [{name: a}]}}}}`
	now := strings.NewReplacer("true", "false", "a: b", "a: c", "replicas: 1", "replicas: 10").Replace(old)
	p := deployments(t)
	told := func() (fields []string) {
		for _, e := range p.Validate(t.Context(), parsed(t, strings.Replace(now, "name: a", "name: A", 1)), parsed(t, old)) {
			fields = append(fields, e.Field)
		}
		return fields
	}
	last := []string{"spec.replicas", "spec.template.spec.containers[0].name", "spec.selector", "spec.template", "spec.paused"}
	if got := told(); !slices.Equal(got, last) {
		t.Errorf("last: %q", got)
	}
	p.ChangesFirst = true
	inPlace := []string{"spec.replicas", "spec.selector", "spec.template", "spec.template.spec.containers[0].name", "spec.paused"}
	if got := told(); !slices.Equal(got, inPlace) {
		t.Errorf("in place: %q", got)
	}
}

// What a file says of nothing is a mistake in the file.
func TestMistakesInFiles(t *testing.T) {
	for path, a := range map[string]*Addition{
		"spec.nothing": {}, "spec[]": {}, "spec.replicas{}": {}, "spec..replicas": {},
		"spec.paused": {Format: "none"}, "spec.strategy": {Keys: "port"}, "spec.replicas": {Pattern: "("},
		"spec.template": {Except: []string{"a..b"}}, "spec.template.spec.containers[].nothing": {},
		"spec.minReadySeconds": {Judged: "old"}, "spec.selector": {Judged: New, Immutable: true},
	} {
		if _, err := NewLibrary(nil).Plan(reflect.TypeFor[appsv1.Deployment](), Additions{path: a}); err == nil {
			t.Errorf("%s: %+v is accepted", path, a)
		}
	}
}

// A write through a subresource changes what a write of the whole may not.
func TestValidationOfOneField(t *testing.T) {
	p := deployments(t)
	const valid = `{spec: {replicas: 1, selector: {matchLabels: {a: b}}, template: {spec: {containers: [{name: a, image: i}]}}}, status: {replicas: 1}}`
	for obj, want := range map[string]string{
		valid: "", strings.Replace(valid, "replicas: 1", "replicas: 10", 1): "spec.replicas: Invalid value: 10",
		strings.Replace(valid, "a: b", "a: c", 1): "spec.selector: Invalid value",
	} {
		got := p.ValidateField(t.Context(), "spec", parsed(t, obj), parsed(t, valid)).ToAggregate()
		if want == "" && got != nil || want != "" && (got == nil || !strings.HasPrefix(got.Error(), want)) {
			t.Errorf("%s: %v", obj, got)
		}
	}
	whole, err := NewLibrary(nil).Plan(reflect.TypeFor[appsv1.Deployment](), Additions{"spec": {Immutable: true}, "status": {Immutable: true}})
	if err != nil {
		t.Fatal(err)
	}
	other := parsed(t, strings.ReplaceAll(valid, "replicas: 1", "replicas: 2"))
	if errs := whole.ValidateField(t.Context(), "spec", other, parsed(t, valid)); len(errs) != 0 {
		t.Errorf("spec: %v", errs)
	}
	if errs := whole.ValidateField(t.Context(), "status", other, parsed(t, valid)); len(errs) != 1 {
		t.Errorf("status: %v", errs)
	}
	if errs := whole.Validate(t.Context(), other, parsed(t, valid)); len(errs) != 2 {
		t.Errorf("both: %v", errs)
	}
	gone := parsed(t, `{spec: {replicas: 1, selector: {matchLabels: {a: b}}, template: {spec: {containers: [{name: a, image: i}]}}}}`)
	if errs := whole.Validate(t.Context(), gone, parsed(t, valid)); len(errs) != 1 || errs[0].Field != "status" {
		t.Errorf("taken away: %v", errs)
	}
	for _, name := range []string{"none", "status"} {
		if errs := whole.ValidateField(t.Context(), name, gone, parsed(t, valid)); errs != nil {
			t.Errorf("no field %s: %v", name, errs)
		}
	}
	if errs := whole.ValidateField(t.Context(), "none", parsed(t, `{none: 1}`), nil); errs != nil {
		t.Errorf("an unknown field: %v", errs)
	}
}

// box is a type whose fields are in a map of more than one entry.
type box struct {
	Ports map[string]corev1.ContainerPort `json:"ports"`
}

func TestDefaultsOfEveryEntryOfAMap(t *testing.T) {
	types := map[string]Additions{}
	if err := yaml.UnmarshalStrict([]byte("core/v1.ContainerPort: {protocol: {default: TCP}}"), &types); err != nil {
		t.Fatal(err)
	}
	p, err := NewLibrary(types).Plan(reflect.TypeFor[*box](), nil)
	if err != nil {
		t.Fatal(err)
	}
	got := parsed(t, "ports: {a: {containerPort: 1}, b: {containerPort: 2}, c: {protocol: UDP}}")
	if err := p.Default(got); err != nil {
		t.Fatal(err)
	}
	if want := parsed(t, "ports: {a: {containerPort: 1, protocol: TCP}, b: {containerPort: 2, protocol: TCP}, c: {protocol: UDP}}"); !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// Of very many problems about as many are told as are of use.
func TestProblemsOfListsAreBounded(t *testing.T) {
	for n, want := range map[int]int{3: 3, 1000: maxProblems + 1} {
		var names []string
		for i := range n {
			names = append(names, fmt.Sprintf("{name: A%d, image: i}", i))
		}
		obj := parsed(t, `{spec: {replicas: 1, selector: {matchLabels: {a: b}}, template: {spec: {containers: [`+strings.Join(names, ", ")+`]}}}}`)
		errs := deployments(t).ValidateField(t.Context(), "spec", obj, nil)
		wrong := 0
		for _, e := range errs {
			if e.Type == field.ErrorTypeInvalid {
				wrong++
			}
		}
		if wrong != want {
			t.Errorf("of %d problems %d are told", n, wrong)
		}
	}
}

// gatedBox has gated fields at several depths.
type gatedBox struct {
	Ports map[string]corev1.ContainerPort `json:"ports"`
	List  []corev1.ContainerPort          `json:"list"`
	Inner *struct {
		Name string `json:"name"`
	} `json:"inner"`
}

// Fields behind gates that are off are dropped wherever they are, but for those that an
// object had.
func TestGatedFieldsAreDropped(t *testing.T) {
	types, own := map[string]Additions{}, Additions{}
	for text, into := range map[string]any{
		"core/v1.ContainerPort: {hostIP: {gated: true}}":      &types,
		"inner: {goesEmpty: true}\ninner.name: {gated: true}": &own,
	} {
		if err := yaml.UnmarshalStrict([]byte(text), into); err != nil {
			t.Fatal(err)
		}
	}
	p, err := NewLibrary(types).Plan(reflect.TypeFor[*gatedBox](), own)
	if err != nil {
		t.Fatal(err)
	}
	const all = `{ports: {a: {containerPort: 1, hostIP: x}}, list: [{containerPort: 2, hostIP: v}], inner: {name: n}, unknown: 1}`
	for name, c := range map[string]struct{ old, want string }{
		"new":          {"", `{ports: {a: {containerPort: 1}}, list: [{containerPort: 2}], unknown: 1}`},
		"had none":     {`{list: [{containerPort: 2}]}`, `{ports: {a: {containerPort: 1}}, list: [{containerPort: 2}], unknown: 1}`},
		"had one":      {`{ports: {b: {hostIP: z}}}`, `{ports: {a: {containerPort: 1, hostIP: x}}, list: [{containerPort: 2, hostIP: v}], unknown: 1}`},
		"had the name": {`{inner: {name: x}}`, `{ports: {a: {containerPort: 1}}, list: [{containerPort: 2}], inner: {name: n}, unknown: 1}`},
	} {
		got, old := parsed(t, all), map[string]any(nil)
		if c.old != "" {
			old = parsed(t, c.old)
		}
		if p.Drop(got, old); !reflect.DeepEqual(got, parsed(t, c.want)) {
			t.Errorf("%s: %v", name, got)
		}
	}
}
