package write

import (
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wasmgate/wasmgate/gateway/resource"
)

// apply applies a configuration, given as the JSON of its fields but for
// apiVersion and kind, as a manager.
func (w *world) apply(t resource.Target, manager, fields string, change ...func(*resource.WriteOptions)) (*resource.Written, error) {
	w.t.Helper()
	o := resource.WriteOptions{Caller: resource.Caller{FieldManager: manager}}
	for _, c := range change {
		c(&o)
	}
	def := t.Resource.Def
	return w.Apply(w.ctx(), t, w.parse(fmt.Appendf(nil, `{"apiVersion":%q,"kind":%q,%s}`, def.APIVersion(t.Version.Name), def.Kind, fields)).Object, o)
}

func forced(o *resource.WriteOptions) { o.Caller.Force = true }

// owners are the managers of an object with their operations, in order.
func owners(u *unstructured.Unstructured) string {
	var out []string
	for _, e := range u.GetManagedFields() {
		out = append(out, e.Manager+" "+string(e.Operation)+" "+e.Subresource)
	}
	return strings.TrimSpace(strings.Join(out, ", "))
}

func TestApplyCreatesAndMerges_SSA03_SSA05_SSA07_SSA12(t *testing.T) {
	w := newWorld(t)
	one := w.at(v1, "one")
	out, err := w.apply(one, "a", `"metadata":{"name":"one","resourceVersion":"999"},"host":"h","port":"1"`)
	made := w.must(out, err)
	if !out.Created || made.GetUID() == "" || made.GetNamespace() != "default" || made.GetResourceVersion() == "999" || owners(made) != "a Apply" {
		t.Errorf("created %t: %v", out.Created, made.Object)
	}
	before := w.revision()
	if out, err = w.apply(one, "a", `"metadata":{"name":"one"},"host":"h","port":"1"`); err != nil || out.Created || w.revision() != before {
		t.Errorf("the same once more: created %t, %v", out.Created, err)
	}
	got := w.must(w.apply(one, "b", `"metadata":{"name":"one","labels":{"l":"m"}}`))
	if got.Object["host"] != "h" || got.GetLabels()["l"] != "m" || owners(got) != "a Apply , b Apply" {
		t.Errorf("merged: %v", got.Object)
	}
	// What its only owner leaves out goes.
	if got = w.must(w.apply(one, "a", `"metadata":{"name":"one"},"host":"h"`)); got.Object["port"] != nil || got.Object["host"] != "h" {
		t.Errorf("without the port: %v", got.Object)
	}
}

// Of a new custom resource the server says when it was made, whatever a configuration says.
func TestTimesThatAnApplyBrings(t *testing.T) {
	w := newWorld(t)
	for i, said := range []string{`"x"`, `""`, `5`, `true`, `null`, `"2020-13-01T00:00:00Z"`, `"2020-01-01T00:00:00Z"`} {
		name := fmt.Sprint("t", i)
		made := w.must(w.apply(w.at(v1, name), "a", `"metadata":{"name":"`+name+`","creationTimestamp":`+said+`,"deletionTimestamp":`+said+`},"host":"h"`))
		if at := made.GetCreationTimestamp(); made.GetDeletionTimestamp() != nil || at.IsZero() || at.Year() == 2020 {
			t.Errorf("%s: made at %v, deleted at %v", said, at, made.GetDeletionTimestamp())
		}
	}
	if _, err := w.apply(w.at(v1, "t"), "a", `"metadata":{"name":"t","creationTimestamp":{}}`); err == nil {
		t.Error("an object is taken for a time")
	}
	if _, err := w.apply(w.builtin("configmaps", "default", "t"), "a", `"metadata":{"name":"t","creationTimestamp":"x"}`); err == nil {
		t.Error("a built-in kind with a time that is none is taken")
	}
}

// A configuration that others are in the way of, that is no object of the kind,
// or that is meant for another one, changes nothing.
func TestApplyRefuses_SSA08_SSA10_SSA15(t *testing.T) {
	w := newWorld(t)
	_, err := w.apply(w.at(v1, "gone"), "a", `"metadata":{"name":"gone","uid":"u-1"},"host":"h"`)
	refused(t, err, 409, "Conflict", "uid mismatch: the provided object specified uid u-1, and no existing object was found")
	one := w.at(v1, "one")
	w.must(w.apply(one, "a", `"metadata":{"name":"one"},"host":"h"`))
	before := w.revision()
	for _, c := range []struct {
		fields  string
		code    int32
		reason  string
		message string
	}{
		{`"metadata":{"name":"one"},"host":"i"`, 409, "Conflict", `conflict with "a": .host`},
		{`"metadata":{"name":"one","resourceVersion":"1"},"port":"1"`, 409, "Conflict", "the object has been modified"},
		{`"metadata":{"name":"other"},"port":"1"`, 400, "BadRequest", "the name of the object (other) does not match the name on the URL (one)"},
		{`"metadata":{"name":"one","namespace":"x"},"port":"1"`, 400, "BadRequest", "the namespace of the provided object does not match the namespace sent on the request"},
		{`"metadata":{"name":"one"},"port":"123456"`, 422, "Invalid", "may not be more than 5"},
	} {
		_, err := w.apply(one, "b", c.fields)
		refused(t, err, c.code, c.reason, c.message)
	}
	if _, err := w.apply(one, "b", `"metadata":{"name":"one","labels":{"a":1}}`); err == nil {
		t.Error("a label that is a number is applied")
	}
	_, err = w.apply(w.at(v1, "none"), "b", `"metadata":{"name":"none","uid":"other"},"host":"i"`)
	refused(t, err, 409, "Conflict", "uid mismatch: the provided object specified uid other, and no existing object was found")
	_, err = w.apply(w.sub("none", "status"), "b", `"metadata":{"name":"none"},"status":{"replicas":1}`)
	refused(t, err, 404, "NotFound", "")
	if w.revision() != before {
		t.Error("something was stored")
	}
	if got := w.must(w.apply(one, "b", `"metadata":{"name":"one"},"host":"i"`, forced)); got.Object["host"] != "i" || owners(got) != "b Apply" {
		t.Errorf("by force: %v", got.Object)
	}
}

// Fields that a configuration has twice are told of, or refused, as asked.
func TestApplyTellsOfRepeatedFields_FV04(t *testing.T) {
	w := newWorld(t)
	one := w.at(v1, "one")
	w.must(w.apply(one, "other", `"metadata":{"name":"one"},"port":"1"`))
	_, err := w.apply(one, "a", `"metadata":{"name":"one"},"port":"2"`, func(o *resource.WriteOptions) {
		o.Problems, o.Warn = []string{"first"}, func(text string) { t.Errorf("%s is told of what is refused for another reason", text) }
	})
	refused(t, err, 409, "Conflict", "")
	for validation, want := range map[string]int{"": 2, "Warn": 2, "Ignore": 0} {
		warned := map[string]bool{} // another attempt warns again
		_, err := w.apply(one, "a", `"metadata":{"name":"one"},"host":"h"`, func(o *resource.WriteOptions) {
			o.FieldValidation, o.Problems, o.Warn = validation, []string{"first", "second"}, func(text string) { warned[text] = true }
		})
		if err != nil || len(warned) != want {
			t.Errorf("%q: %v warned, %v", validation, warned, err)
		}
	}
	_, err = w.apply(one, "a", `"metadata":{"name":"one"},"host":"i"`, func(o *resource.WriteOptions) {
		o.FieldValidation, o.Problems = "Strict", []string{"first"}
	})
	refused(t, err, 400, "BadRequest", "error strict decoding YAML: first")
}

// Whoever applies a scale owns the replicas and nothing else.
func TestApplyOfAScale_SSA33_RES06(t *testing.T) {
	w := newWorld(t)
	scale := w.sub("one", "scale")
	apply := func(manager, fields string, change ...func(*resource.WriteOptions)) (*unstructured.Unstructured, error) {
		o := resource.WriteOptions{Caller: resource.Caller{FieldManager: manager}}
		for _, c := range change {
			c(&o)
		}
		out, err := w.Apply(w.ctx(), scale, w.parse([]byte(`{"kind":"Scale","apiVersion":"autoscaling/v1",`+fields+`}`)).Object, o)
		if err != nil {
			return nil, err
		}
		return w.parse(out.Object), nil
	}
	_, err := apply("s", `"spec":{"replicas":1}`)
	refused(t, err, 404, "NotFound", "")
	made := w.must(w.apply(w.at(v1, "one"), "a", `"metadata":{"name":"one"},"host":"h","spec":{"replicas":2}`))
	_, err = apply("s", `"spec":{"replicas":3}`)
	refused(t, err, 409, "Conflict", `conflict with "a"`)
	got, err := apply("s", `"metadata":{"name":"one"},"spec":{"replicas":3}`, forced)
	if err != nil || got.GetKind() != "Scale" || fmt.Sprint(got.Object["spec"]) != "map[replicas:3]" || got.GetUID() != made.GetUID() {
		t.Fatalf("got %v, %v", got, err)
	}
	now := w.read(w.at(v1, "one"))
	if owners(now) != "s Apply scale, a Apply" || now.Object["host"] != "h" {
		t.Errorf("the object: %v", now.Object)
	}
	for fields, want := range map[string]string{
		`"metadata":{"name":"other"},"spec":{"replicas":3}`:                     "does not match the name on the URL",
		`"metadata":{"name":"one","namespace":"x"},"spec":{"replicas":3}`:       "does not match the namespace",
		`"metadata":{"name":"one"},"spec":{"replicas":"x"}`:                     "failed to create typed patch object (/one; autoscaling/v1, Kind=Scale): .spec.replicas: expected numeric",
		`"metadata":{"name":"one","namespace":"n"},"spec":{"replica":3}`:        "failed to create typed patch object (n/one; autoscaling/v1, Kind=Scale): .spec.replica: field not declared in schema",
		`"metadata":{"name":"one"},"status":{"replicas":1,"selectors":"x"}`:     ".status.selectors: field not declared in schema",
		`"metadata":{"name":"one"},"status":{"selector":{}}`:                    ".status.selector: expected string",
		`"metadata":{"name":"one"},"spec":{"replicas":null}`:                    "accessor error",
		`"metadata":{"name":"one"},"spec":{"replicas":3000000000}`:              "int32",
		`"metadata":{"name":"one","resourceVersion":"1"},"spec":{"replicas":3}`: "the object has been modified",
		`"metadata":{"name":"one","uid":"other"},"spec":{"replicas":3}`:         "metadata.uid",
		`"metadata":{"name":"one","managedFields":[]},"spec":{"replicas":3}`:    "metadata.managedFields must be nil",
	} {
		if _, err := apply("s", fields); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", fields, err, want)
		}
	}
	if _, err = w.Apply(w.ctx(), scale, map[string]any{"kind": "Other"}, resource.WriteOptions{Caller: resource.Caller{FieldManager: "s"}}); !apierrors.IsBadRequest(err) {
		t.Errorf("what is no scale: %v", err)
	}
	// Without replicas the manager gives them up; if nobody else says how many
	// there are, there would be no Scale any more.
	before := w.revision()
	_, err = apply("s", `"metadata":{"name":"one"}`)
	refused(t, err, 422, "Invalid", "spec.replicas: Required value: nobody else says how many there are")
	_, err = apply("s", `"metadata":{"name":"one"},"spec":{"replicas":-1}`)
	refused(t, err, 422, "Invalid", "spec.replicas: Invalid value: -1: the spec replicas field")
	if w.revision() != before {
		t.Error("what was refused is stored")
	}
}

// What a manager applied at one version it owns at the others, too.
func TestApplyAcrossVersions_SSA26(t *testing.T) {
	w := newWorld(t)
	old, now := w.at(v1beta1, "one"), w.at(v1, "one")
	w.must(w.apply(old, "a", `"metadata":{"name":"one"},"hostPort":"h:1"`))
	_, err := w.apply(now, "b", `"metadata":{"name":"one"},"host":"i"`)
	refused(t, err, 409, "Conflict", `conflict with "a"`)
	got := w.must(w.apply(now, "a", `"metadata":{"name":"one"},"host":"i"`))
	if got.Object["host"] != "i" || owners(got) != "a Apply" || got.GetManagedFields()[0].APIVersion != "example.com/v1" {
		t.Errorf("at the other version: %v", got.Object)
	}
	// An owner at a version that there is no more is in nobody's way.
	w.put("two", tab(v1, "two", "h", "1", `"namespace":"default"`, `"uid":"u"`, `"managedFields":[{"manager":"gone","operation":"Apply","apiVersion":"example.com/v0","time":"2020-01-01T00:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:host":{}}}]`))
	two := w.must(w.apply(w.at(v1, "two"), "b", `"metadata":{"name":"two"},"host":"i"`))
	if two.Object["host"] != "i" || !strings.Contains(owners(two), "b Apply") {
		t.Errorf("over a version that is gone: %v", two.Object)
	}
}

// A manager goes on at another version with a configuration that owns labels
// and annotations: taking away what it owned leaves no metadata for a while,
// which no converter takes.
func TestApplyOfLabelsGoesOnAtAnotherVersion_SSA26(t *testing.T) {
	w := newWorld(t)
	for name, meta := range map[string]string{"labels": `"labels":{"a":"b"}`, "annotations": `"annotations":{"a":"b"}`, "both": `"labels":{"a":"b"},"annotations":{"c":"d"}`} {
		for _, force := range []bool{false, true} {
			id := fmt.Sprintf("%s-%t", name, force)
			change := func(o *resource.WriteOptions) { o.Caller.Force = force }
			w.must(w.apply(w.at(v1beta1, id), "a", `"metadata":{"name":"`+id+`",`+meta+`},"hostPort":"h:1"`, change))
			got := w.must(w.apply(w.at(v1, id), "a", `"metadata":{"name":"`+id+`",`+meta+`},"host":"h","port":"1"`, change))
			if owners(got) != "a Apply" || got.GetManagedFields()[0].APIVersion != "example.com/v1" || len(got.GetLabels())+len(got.GetAnnotations()) == 0 {
				t.Errorf("%s: %v", id, got.Object)
			}
			got = w.must(w.apply(w.at(v1beta1, id), "a", `"metadata":{"name":"`+id+`"},"hostPort":"h:2"`, change))
			if owners(got) != "a Apply" || len(got.GetLabels())+len(got.GetAnnotations()) != 0 || got.Object["hostPort"] != "h:2" {
				t.Errorf("%s, without them: %v", id, got.Object)
			}
		}
	}
}

// Who does not say who it is goes by what it calls itself, as in kube-apiserver
// 1.36.
func TestManagersAreNamedByTheirProgram_SSA02(t *testing.T) {
	for agent, want := range map[string]string{
		"kubectl/v1.2 (linux)": "kubectl", "": "unknown", "/x": "unknown", "a b\tc/d": "a bc", "\t": "unknown",
		strings.Repeat("x", 200): strings.Repeat("x", 128), strings.Repeat("é", 70): strings.Repeat("é", 64), "x" + strings.Repeat("é", 70): "x" + strings.Repeat("é", 63),
	} {
		if got := manager((resource.Caller{UserAgent: agent})); got != want {
			t.Errorf("%q: %q, want %q", agent, got, want)
		}
	}
	if got := manager((resource.Caller{FieldManager: "me", UserAgent: "kubectl/1"})); got != "me" {
		t.Errorf("who says who it is is called %q", got)
	}
}

// Managers that no writer could be named are refused where clients send them.
func TestManagersThatClientsSendAreChecked_SSA29(t *testing.T) {
	w := newWorld(t)
	one := w.at(v1, "one")
	w.must(w.apply(one, "a", `"metadata":{"name":"one"},"host":"h"`))
	before := w.revision()
	for manager, want := range map[string]string{
		strings.Repeat("m", 129): "metadata.managedFields[0].manager: Too long: may not be more than 128 bytes",
		`a\u0001b`:               "metadata.managedFields[0].manager: Invalid value",
		`ok","subresource":"` + strings.Repeat("s", 257): "metadata.managedFields[0].subresource: Too long",
	} {
		body := `{"metadata":{"managedFields":[{"manager":"` + manager + `","operation":"Apply","apiVersion":"example.com/v1","fieldsType":"FieldsV1","fieldsV1":{"f:host":{}}}]}}`
		_, err := w.Patch(w.ctx(), one, types.MergePatchType, []byte(body), resource.WriteOptions{})
		refused(t, err, 422, "Invalid", want)
	}
	if w.revision() != before {
		t.Error("something was stored")
	}
	body := `{"metadata":{"managedFields":[{"manager":"b","operation":"Apply","apiVersion":"example.com/v1","fieldsType":"FieldsV1","fieldsV1":{"f:host":{}}}]}}`
	if got := w.must(w.Patch(w.ctx(), one, types.MergePatchType, []byte(body), resource.WriteOptions{})); owners(got) != "b Apply" {
		t.Errorf("owners: %s", owners(got))
	}
}

// What a schema in a definition does not have is refused, however deep it is.
func TestApplyOfADefinitionIsCheckedAllTheWay_SSA15(t *testing.T) {
	w := newWorld(t)
	crds := w.builtin("customresourcedefinitions", "", "as.example.com")
	for schema, want := range map[string]string{
		`{"typ":"object"}`: ".typ: field not declared in schema",
		`{"type":"object","properties":{"a":{"type":"object","properties":{"b":{"typ":"string"}}}}}`:                                      ".properties.a.properties.b.typ: field not declared in schema",
		`{"type":"object","properties":{"a":{"anyOf":[{"not":{"typ":1}}]}}}`:                                                              ".properties.a.anyOf[0].not.typ: field not declared in schema",
		`{"type":"object","properties":{"a":{"type":"string","x-kubernetes-validations":[{"rule":"true"},{"rule":"true"}]}}}`:             `.properties.a.x-kubernetes-validations: duplicate entries for key [rule="true"]`,
		`{"type":"object","properties":{"a":{"type":"object","properties":{"b":{"default":{"any":[1]},"enum":[{}],"items":{"typ":1}}}}}}`: "",
	} {
		_, err := w.apply(crds, "m", `"metadata":{"name":"as.example.com"},"spec":{"group":"example.com","scope":"Namespaced","names":{"plural":"as","kind":"A"},
			"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":`+schema+`}}]}`, func(o *resource.WriteOptions) { o.DryRun = true })
		if want == "" {
			if err != nil && strings.Contains(err.Error(), "typed patch object") {
				t.Errorf("%s: %v", schema, err)
			}
			continue
		}
		refused(t, err, 500, "", "failed to create typed patch object (/as.example.com; apiextensions.k8s.io/v1, Kind=CustomResourceDefinition): .spec.versions[0].schema.openAPIV3Schema"+want)
	}
}
