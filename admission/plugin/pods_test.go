package plugin_test

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/admission/plugin"
	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/gateway/resource/local"
)

func TestPodsGetAPriority(t *testing.T) {
	w := newWorld(t)
	pod := func(more string) string {
		return `{"metadata":{"name":"p"},"spec":{` + more + `"containers":[{"name":"c","image":"i"}]}}`
	}
	check := func(body string, want ...any) {
		t.Helper()
		p, refusal := w.create(pods, body, true)
		got := []any{at(p, "spec", "priority"), at(p, "spec", "preemptionPolicy"), at(p, "spec", "priorityClassName")}
		if refusal != "" || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, %s", body, got, refusal)
		}
	}
	check(pod(""), int64(0), "PreemptLowerPriority", nil)
	check(pod(`"priorityClassName":"system-node-critical",`), int64(2000001000), "PreemptLowerPriority", "system-node-critical")
	if _, refusal := w.create(pods, pod(`"priorityClassName":"none",`), true); refusal != `pods "p" is forbidden: no PriorityClass with name none was found` {
		t.Error(refusal)
	}
	w.must(priorityClasses, "", `{"metadata":{"name":"high"},"value":7,"preemptionPolicy":"Never"}`)
	w.must(priorityClasses, "", `{"metadata":{"name":"usual"},"value":3,"globalDefault":true}`)
	if err := w.Fresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	check(pod(`"priorityClassName":"high",`), int64(7), "Never", "high")
	check(pod(""), int64(3), "PreemptLowerPriority", "usual")
	p := w.must(pods, "", pod(`"tolerations":[{"key":"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute","tolerationSeconds":7}],`))
	if list := at(p, "spec", "tolerations").([]any); len(list) != 2 || at(list[0].(map[string]any), "tolerationSeconds") != int64(7) || at(list[1].(map[string]any), "tolerationSeconds") != int64(300) {
		t.Errorf("%v", list)
	}
	if p, _ = w.create(pods, strings.Replace(pod(`"tolerations":[{"operator":"Exists"}],`), `"p"`, `"q"`, 1), true); len(at(p, "spec", "tolerations").([]any)) != 1 {
		t.Errorf("who tolerates everything gets more: %v", at(p, "spec", "tolerations"))
	}
	p = w.must(pods, "p", `{"metadata":{"name":"p"},"spec":{"priorityClassName":"usual","containers":[{"name":"c","image":"j"}]}}`)
	if at(p, "spec", "priority") != int64(3) || len(at(p, "spec", "tolerations").([]any)) != 2 {
		t.Errorf("after an update %v", p["spec"])
	}
	delete(p["spec"].(map[string]any), "priority") // which is all that the plugins add now
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	if p = w.must(pods, "p", string(text)); at(p, "spec", "priority") != int64(3) {
		t.Errorf("after another %v", p["spec"])
	}
}

// One class is the default; which one it is, is changed in two steps. The words are
// kube-apiserver 1.36.3's.
func TestOnePriorityClassIsTheDefault(t *testing.T) {
	w := newWorld(t)
	const already = ` is forbidden: PriorityClass usual is already marked as default. Only one default can exist`
	w.must(priorityClasses, "", `{"metadata":{"name":"usual"},"value":3,"globalDefault":true}`)
	w.must(priorityClasses, "", `{"metadata":{"name":"other"},"value":2}`)
	for _, c := range []struct{ what, name, body, want string }{
		{"a second", "", `{"metadata":{"name":"second"},"value":4,"globalDefault":true}`, `priorityclasses.scheduling.k8s.io "second"` + already},
		{"the same again", "", `{"metadata":{"name":"usual"},"value":4,"globalDefault":true}`, `priorityclasses.scheduling.k8s.io "usual"` + already},
		{"another that is changed", "other", `{"metadata":{"name":"other"},"value":2,"globalDefault":true}`, `priorityclasses.scheduling.k8s.io "other"` + already},
		{"the default itself", "usual", `{"metadata":{"name":"usual"},"value":3,"globalDefault":true,"description":"d"}`, ""},
		{"another that is none", "", `{"metadata":{"name":"third"},"value":4,"globalDefault":false}`, ""},
		{"none any more", "usual", `{"metadata":{"name":"usual"},"value":3}`, ""},
		{"another", "other", `{"metadata":{"name":"other"},"value":2,"globalDefault":true}`, ""},
	} {
		if _, got := w.write(priorityClasses, c.name, c.body, false); got != c.want {
			t.Errorf("%s: %s\nwant %s", c.what, got, c.want)
		}
	}
}

// relabelled is an update of a class that is the default already.
type relabelled struct{ admission.Attributes }

func (relabelled) GetResource() schema.GroupVersionResource { return priorityClasses.WithVersion("v1") }
func (relabelled) GetSubresource() string                   { return "" }
func (relabelled) GetOperation() admission.Operation        { return admission.Update }
func (relabelled) GetObject() *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": "usual2", "labels": map[string]any{"a": "b"}}, "value": int64(9), "globalDefault": true}}
}
func (r relabelled) GetOldObject(context.Context) (*unstructured.Unstructured, error) {
	return r.GetObject(), nil
}

// Of two classes that two gateways made the default at a time both can be changed and go.
func TestOneOfTwoDefaultClassesCanBeChanged(t *testing.T) {
	w := newWorld(t)
	w.must(priorityClasses, "", `{"metadata":{"name":"usual"},"value":1,"globalDefault":true}`)
	if err := (plugin.Priority{Classes: local.New(w.Verbs, resource.Component("test"))}).Validate(t.Context(), relabelled{}); err != nil {
		t.Error(err)
	}
}

// All was tried on kube-apiserver 1.36.3.
// What a pod's class decides the pod does not, but may repeat.
func TestPodsDoNotChooseTheirPriority(t *testing.T) {
	w := newWorld(t)
	pod := func(spec string) string {
		return `{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}],` + spec + `}}`
	}
	const critical = `"priorityClassName":"system-node-critical"`
	for spec, want := range map[string]string{
		critical + `,"priority":7`:                               `pods "p" is forbidden: the integer value of priority (7) must not be provided in pod spec; priority admission controller computed 2000001000 from the given PriorityClass name`,
		`"priority":7`:                                           "priority admission controller computed 0 from the given PriorityClass name",
		critical + `,"preemptionPolicy":"Never"`:                 `the string value of PreemptionPolicy (Never) must not be provided in pod spec; priority admission controller computed PreemptLowerPriority from the given PriorityClass name`,
		critical + `,"priority":2000001000`:                      "",
		critical + `,"preemptionPolicy":"PreemptLowerPriority"`:  "",
		`"priority":0,"preemptionPolicy":"PreemptLowerPriority"`: "",
	} {
		if _, refusal := w.create(pods, pod(spec), true); !strings.Contains(refusal, want) || want == "" && refusal != "" {
			t.Errorf("%s: %q", spec, refusal)
		}
	}
}

func TestPodsGetWhatTheirRuntimeClassSays(t *testing.T) {
	w := newWorld(t)
	w.must(runtimeClasses, "", `{"metadata":{"name":"kata"},"handler":"kata","overhead":{"podFixed":{"cpu":"250m","memory":"1Gi"}},"scheduling":{"nodeSelector":{"vm":"yes"},"tolerations":[{"key":"vm","operator":"Exists","effect":"NoSchedule"}]}}`)
	w.must(runtimeClasses, "", `{"metadata":{"name":"plain"},"handler":"runc"}`)
	pod := func(spec string) string {
		return `{"metadata":{"name":"p"},"spec":{` + spec + `"containers":[{"name":"c","image":"i"}]}}`
	}
	for spec, want := range map[string]string{
		`"runtimeClassName":"none",`:                            `pod rejected: RuntimeClass "none" not found`,
		`"runtimeClassName":"kata","nodeSelector":{"vm":"no"},`: `conflict: runtimeClass.scheduling.nodeSelector[vm] = yes; pod.spec.nodeSelector[vm] = no`,
		`"runtimeClassName":"kata","overhead":{"cpu":"1"},`:     `pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead`,
		`"runtimeClassName":"plain","overhead":{"cpu":"1"},`:    `pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead`,
		`"overhead":{"cpu":"1"},`:                               `pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead`,
		`"runtimeClassName":"kata","tolerations":[` + strings.Repeat(`{"key":"a","operator":"Exists"},`, 2000) + `{"key":"b","operator":"Exists"}],`: `pod rejected: it and its RuntimeClass have more than 2000 tolerations`,
	} {
		if _, refusal := w.create(pods, pod(spec), true); refusal != `pods "p" is forbidden: `+want {
			t.Errorf("%.80s: %s", spec, refusal)
		}
	}
	const own = `{"effect":"NoExecute","key":"node.kubernetes.io/not-ready","operator":"Exists","tolerationSeconds":300},{"effect":"NoExecute","key":"node.kubernetes.io/unreachable","operator":"Exists","tolerationSeconds":300}`
	const vm = `{"effect":"NoSchedule","key":"vm","operator":"Exists"}`
	for spec, want := range map[string]string{
		`"runtimeClassName":"plain",`: `[null null [` + own + `]]`,
		`"runtimeClassName":"kata",`:  `[{"cpu":"250m","memory":"1Gi"} {"vm":"yes"} [` + own + `,` + vm + `]]`,
		`"runtimeClassName":"kata","overhead":{"cpu":"0.25","memory":"1024Mi"},"nodeSelector":{"a":"b"},"tolerations":[{"key":"vm","operator":"Equal","value":"x","effect":"NoSchedule"}],`: `[{"cpu":"250m","memory":"1Gi"} {"a":"b","vm":"yes"} [` + own + `,` + vm + `]]`,
	} {
		p, refusal := w.create(pods, pod(spec), true)
		var got []string
		for _, field := range []string{"overhead", "nodeSelector", "tolerations"} {
			text, _ := json.Marshal(at(p, "spec", field))
			got = append(got, string(text))
		}
		if fmt.Sprint(got) != want {
			t.Errorf("%s: %s %s", spec, got, refusal)
		}
	}
}
