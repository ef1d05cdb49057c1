package extend_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wasmgate/wasmgate/crd/builtin/builtintest"
	"github.com/wasmgate/wasmgate/crd/builtin/extend"
	"github.com/wasmgate/wasmgate/crd/crdtest"
)

// podOf is a pod that has a uid, with a spec.
func podOf(t *testing.T, spec string) *unstructured.Unstructured {
	t.Helper()
	return crdtest.Shaped(t, builtintest.Definitions(t)["pod"], `{"metadata":{"name":"p","namespace":"ns","uid":"u","resourceVersion":"7"},"spec":{`+spec+`}}`)
}

// Whoever may add a container to look into a pod, or change its size, may change
// nothing else of it.
func TestSubresourcesOfPodsChangeTheirPart(t *testing.T) {
	const (
		was    = `"nodeName":"n","containers":[{"name":"c","image":"i"},{"name":"d","image":"j"}]`
		wanted = `"nodeName":"other","serviceAccountName":"admin","containers":[{"name":"c","image":"bad"},{"name":"d","image":"bad","resources":{"limits":{"cpu":"2"}}}],"ephemeralContainers":[{"name":"e","image":"busybox"}]`
	)
	for subresource, want := range map[string]string{
		"ephemeralcontainers": was + `,"ephemeralContainers":[{"name":"e","image":"busybox"}]`,
		"resize":              `"nodeName":"n","containers":[{"name":"c","image":"i"},{"name":"d","image":"j","resources":{"limits":{"cpu":"2"},"requests":{"cpu":"2"}}}]`,
	} {
		obj, old := podOf(t, wanted), podOf(t, was)
		builtintest.Definitions(t)["pod"].Versions[0].Subresources[subresource].Update.Prepare(t.Context(), obj, old)
		if got, want := obj.Object["spec"], podOf(t, want).Object["spec"]; !reflect.DeepEqual(got, want) {
			t.Errorf("%s makes\n%v, want\n%v", subresource, got, want)
		}
	}
}

// A pod is past an init container that goes on running once that one is started; one
// that has to end first is waited for, started or not.
func TestInitContainersThatAreWaitedFor(t *testing.T) {
	const running = `"state":{"running":{"startedAt":"2026-01-01T00:00:00Z"}},"started":true,"ready":true`
	for name, tc := range map[string]struct{ policy, want, ready string }{
		"a sidecar":         {`,"restartPolicy":"Always"`, "Running", "2/2"},
		"one that will end": {``, "Init:0/1", "0/1"},
	} {
		obj := podOf(t, `"initContainers":[{"name":"i","image":"i"`+tc.policy+`}],"containers":[{"name":"c","image":"i"}]`)
		var status map[string]any
		if err := json.Unmarshal([]byte(`{"phase":"Running","initContainerStatuses":[{"name":"i",`+running+`}],"containerStatuses":[{"name":"c",`+running+`}]}`), &status); err != nil {
			t.Fatal(err)
		}
		obj.Object["status"] = status
		if status, ready := extend.Cell("podStatus")(obj.Object), extend.Cell("podReady")(obj.Object); status != tc.want || ready != tc.ready {
			t.Errorf("%s: %s, %s ready", name, status, ready)
		}
	}
}

// A pod that waits for its gates says so, and only by the condition that is about that.
func TestPodsThatAreNotToBeScheduledYet(t *testing.T) {
	for conditions, want := range map[string]string{
		`{"type":"PodScheduled","status":"False","reason":"SchedulingGated"}`:                                                    "SchedulingGated",
		`{"type":"PodScheduled","status":"False","reason":"Unschedulable"}`:                                                      "Pending",
		`{"type":"Ready","status":"False","reason":"SchedulingGated"}`:                                                           "Pending",
		`{"type":"Ready","status":"False"},{"type":"PodScheduled","status":"False","reason":"SchedulingGated","message":"gate"}`: "SchedulingGated",
	} {
		obj := podOf(t, `"containers":[{"name":"c","image":"i"}]`)
		var status map[string]any
		if err := json.Unmarshal([]byte(`{"phase":"Pending","conditions":[`+conditions+`]}`), &status); err != nil {
			t.Fatal(err)
		}
		obj.Object["status"] = status
		if got := extend.Cell("podStatus")(obj.Object); got != want {
			t.Errorf("%s: %s", conditions, got)
		}
	}
}

// How well a pod says what it needs is told of its containers, or of the pod where it says
// anything of itself.
func TestQualityOfServiceOfPods(t *testing.T) {
	const (
		full = `"resources":{"requests":{"cpu":"1","memory":"1"},"limits":{"cpu":"1","memory":"1"}}`
		part = `"resources":{"requests":{"cpu":"1"}}`
		none = `"resources":{}`
	)
	for _, tc := range []struct{ pod, container, want string }{
		{none, full, "Guaranteed"}, {none, part, "Burstable"}, {none, none, "BestEffort"},
		{full, part, "Guaranteed"}, {part, full, "Burstable"}, {part, none, "Burstable"},
	} {
		obj := podOf(t, tc.pod+`,"containers":[{"name":"c","image":"i",`+tc.container+`}]`)
		builtintest.Definitions(t)["pod"].Versions[0].Strategy.Prepare(t.Context(), obj, nil)
		if got, _, _ := unstructured.NestedString(obj.Object, "status", "qosClass"); got != tc.want {
			t.Errorf("%s with %s: %s, want %s", tc.pod, tc.container, got, tc.want)
		}
	}
}

func TestEphemeralContainersStayAsTheyAre(t *testing.T) {
	const c = `"containers":[{"name":"c","image":"i"}]`
	with := func(more string) string { return c + `,"ephemeralContainers":[` + more + `]` }
	v := builtintest.Definitions(t)["pod"].Versions[0]
	if errs := v.Strategy.Validate(t.Context(), podOf(t, with(`{"name":"e","image":"b"}`)), nil).Errors; !strings.Contains(fmt.Sprint(errs), "spec.ephemeralContainers: Forbidden: cannot be set on create") {
		t.Error(errs)
	}
	for now, want := range map[string]string{
		with(`{"name":"e","image":"b"},{"name":"f","image":"b"}`): "",
		with(`{"name":"e","image":"other"}`):                      `"e" may not be changed`,
		with(`{"name":"f","image":"b"}`):                          `"e" may not be removed`,
	} {
		errs := v.Subresources["ephemeralcontainers"].Update.Validate(t.Context(), podOf(t, now), podOf(t, with(`{"name":"e","image":"b"}`))).Errors
		if want == "" && len(errs) > 0 || want != "" && !strings.Contains(fmt.Sprint(errs), want) {
			t.Errorf("%s: %v", now, errs)
		}
	}
}

// A container mounts volumes that its pod has, or that its StatefulSet makes.
// The errors are kube-apiserver's.
func TestVolumesThatAreMountedExist(t *testing.T) {
	const (
		mounts = `"containers":[{"name":"c","image":"i","volumeMounts":[{"name":"a","mountPath":"/a"},{"name":"b","mountPath":"/b"}],"volumeDevices":[{"name":"z","devicePath":"/dev/z"}]}]`
		labels = `"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{` + mounts + `}}`
		object = `{"metadata":{"name":"p","namespace":"ns"},"spec":{`
	)
	for _, tc := range []struct{ kind, spec, want string }{
		{"pod", mounts + `,"volumes":[{"name":"a"},{"name":"b"},{"name":"z","persistentVolumeClaim":{"claimName":"z"}}]`, `[]`},
		{"pod", mounts + `,"volumes":[{"name":"a"}]`, `[spec.containers[0].volumeMounts[1].name: Not found: "b" spec.containers[0].volumeDevices[0].name: Not found: "z"]`},
		{"deployment", labels, `[spec.template.spec.containers[0].volumeMounts[0].name: Not found: "a" spec.template.spec.containers[0].volumeMounts[1].name: Not found: "b" spec.template.spec.containers[0].volumeDevices[0].name: Not found: "z"]`},
		{"statefulset", labels + `,"volumeClaimTemplates":[{"metadata":{"name":"a"},"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1"}}}}]`,
			`[spec.template.spec.containers[0].volumeMounts[1].name: Not found: "b" spec.template.spec.containers[0].volumeDevices[0].name: Not found: "z"]`},
	} {
		d := builtintest.Definitions(t)[tc.kind]
		obj := crdtest.Shaped(t, d, object+tc.spec+"}}")
		d.Versions[0].Strategy.Prepare(t.Context(), obj, nil)
		if got := fmt.Sprint(d.Versions[0].Strategy.Validate(t.Context(), obj, nil).Errors); got != tc.want {
			t.Errorf("%s with %s:\n%s, want\n%s", tc.kind, tc.spec, got, tc.want)
		}
	}
}

// What a pod is to be may be changed in few ways, and only before it runs, as
// kube-apiserver has it.
func TestUpdatesOfPods(t *testing.T) {
	const c = `"containers":[{"name":"c","image":"i"}]`
	const fixed = "pod updates may not change fields other than"
	v := builtintest.Definitions(t)["pod"].Versions[0]
	for _, tc := range []struct{ was, now, want string }{
		{`"tolerations":[{"key":"k","operator":"Exists"}]`, `"tolerations":[{"key":"x","operator":"Exists"}]`, "existing toleration can not be modified"},
		{`"tolerations":[{"key":"k","operator":"Exists","effect":"NoExecute"}]`, `"tolerations":[{"key":"x","operator":"Exists"},{"key":"k","operator":"Exists","tolerationSeconds":7,"effect":"NoExecute"}]`, ""},
		{`"activeDeadlineSeconds":10`, `"activeDeadlineSeconds":20`, "must be less than or equal to previous value"},
		{`"activeDeadlineSeconds":10`, `"hostname":""`, "must not update from a positive integer to nil value"},
		{`"activeDeadlineSeconds":10`, `"activeDeadlineSeconds":5`, ""},
		{`"hostname":""`, `"activeDeadlineSeconds":5`, ""},
		{`"schedulingGates":[{"name":"a.b/c"}]`, `"schedulingGates":[{"name":"a.b/d"}]`, "only deletion is allowed, but found new scheduling gate"},
		{`"schedulingGates":[{"name":"a.b/c"}]`, `"nodeSelector":{"a":"b"}`, ""},
		{`"nodeSelector":{"x":"y"},"schedulingGates":[{"name":"a.b/c"}]`, `"nodeSelector":{"a":"b"}`, "only additions to spec.nodeSelector"},
		{`"hostname":""`, `"nodeSelector":{"a":"b"}`, fixed},
		{`"hostname":""`, `"affinity":{"nodeAffinity":{}}`, fixed},
		{`"hostname":""`, `"terminationGracePeriodSeconds":5`, fixed},
		{`"hostname":""`, `"nodeName":"n"`, fixed},
	} {
		errs := v.Strategy.Validate(t.Context(), podOf(t, c+","+tc.now), podOf(t, c+","+tc.was)).Errors
		if got := fmt.Sprint(errs); tc.want == "" && len(errs) > 0 || !strings.Contains(got, tc.want) {
			t.Errorf("%s after %s: %s", tc.now, tc.was, got)
		}
	}
}

// Readers know one of the two ways to say a pod's addresses, and writers another. What
// is made of them is what kube-apiserver makes of the same status.
func TestAddressesOfPodsAreInStep(t *testing.T) {
	for _, c := range []struct{ said, want string }{
		{`"podIP":"1.2.3.4"`, `{"podIP":"1.2.3.4","podIPs":[{"ip":"1.2.3.4"}]}`},
		{`"podIPs":[{"ip":"1.2.3.4"},{"ip":"fd00::1"}]`, `{"podIP":"1.2.3.4","podIPs":[{"ip":"1.2.3.4"},{"ip":"fd00::1"}]}`},
		{`"podIP":"1.2.3.4","podIPs":[{"ip":"1.2.3.4"},{"ip":"fd00::1"}]`, `{"podIP":"1.2.3.4","podIPs":[{"ip":"1.2.3.4"},{"ip":"fd00::1"}]}`},
		{`"podIP":"1.2.3.7","podIPs":[{"ip":"1.2.3.8"},{"ip":"fd00::1"}]`, `{"podIP":"1.2.3.7","podIPs":[{"ip":"1.2.3.7"}]}`},
		{`"phase":"Running"`, `{"phase":"Running"}`},
	} {
		pod := crdtest.Shaped(t, builtintest.Definitions(t)["pod"], `{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}]},"status":{`+c.said+`}}`)
		if got, err := json.Marshal(pod.Object["status"]); err != nil || string(got) != c.want {
			t.Errorf("%s: %s, %v, want %s", c.said, got, err, c.want)
		}
	}
}
