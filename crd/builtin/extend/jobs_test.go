package extend_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/crd/builtin/builtintest"
	"github.com/wasmgate/wasmgate/crd/builtin/extend"
	"github.com/wasmgate/wasmgate/crd/crdtest"
)

// What a job may count, and be called, in the words of kube-apiserver 1.36.3.
func TestWhatJobsMayCount(t *testing.T) {
	d := builtintest.Definitions(t)["job"]
	job := func(name, mode, more, status string) string {
		return `{"metadata":{"name":"` + name + `"},"spec":{"completions":3,"completionMode":"` + mode + `"` + more + `,"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}},"status":{` + status + `}}`
	}
	for _, c := range []struct{ mode, more, was, now, want string }{
		{"NonIndexed", ``, ``, `"completedIndexes":"1"`, `status.completedIndexes: Invalid value: "1": cannot set non-empty completedIndexes when non-indexed completion mode`},
		{"NonIndexed", ``, `"completedIndexes":"1"`, ``, ``},
		{"Indexed", ``, ``, `"failedIndexes":"1"`, `status.failedIndexes: Invalid value: "1": cannot set non-null failedIndexes when backoffLimitPerIndex is null`},
		{"Indexed", ``, `"failedIndexes":"1"`, `"failedIndexes":"1"`, ``},
		{"Indexed", `,"backoffLimitPerIndex":1`, ``, `"failedIndexes":"1"`, ``},
		{"Indexed", ``, ``, `"completedIndexes":"0-1-2"`, `status.completedIndexes: Invalid value: "0-1-2": error parsing completedIndexes: the fragment "0-1-2" violates the requirement that an index interval can have at most two parts separated by '-'`},
		{"Indexed", ``, done("5"), done("5"), ``},
		{"Indexed", ``, done("5"), done("6"), `status.completionTime: Invalid value: "2026-01-01T00:00:06Z": field is immutable`},
	} {
		err := crdtest.Change(t, d, "status", job("j", c.mode, c.more, c.was), job("j", c.mode, c.more, c.now))
		if got := crdtest.Message(err); got != c.want || (err == nil) != (c.want == "") {
			t.Errorf("%+v: %v (%v)", c, got, err)
		}
	}
	long := strings.Repeat("a", 62)
	for name, want := range map[string]string{
		job(long, "Indexed", ``, ``):     `metadata.name: Invalid value: "` + long + `": will not able to create pod with invalid DNS label: ` + long + `-2`,
		job(long[1:], "Indexed", ``, ``): ``, job(long, "NonIndexed", ``, ``): ``,
	} {
		err := crdtest.Creation(t, d, name)
		if got := crdtest.Message(err); got != want || (err == nil) != (want == "") {
			t.Errorf("%s: %v (%v)", name, got, err)
		}
	}
}

func done(second string) string {
	return `"startTime":"2026-01-01T00:00:00Z","completionTime":"2026-01-01T00:00:0` + second + `Z","completedIndexes":"0-2","succeeded":3,"conditions":[{"type":"SuccessCriteriaMet","status":"True"},{"type":"Complete","status":"True"}]`
}

// The selector and the labels of a job that its client did not choose are those that were
// made for it.
func TestLabelsOfJobs(t *testing.T) {
	validate := extend.Of(schema.GroupResource{Group: "batch", Resource: "jobs"}).Validate
	job := func(labels, selector string) map[string]any {
		return crdtest.Parse(t, []byte(`{"metadata":{"name":"j","uid":"u"},"spec":{"selector":{"matchLabels":{`+selector+`}},"template":{"metadata":{"labels":{`+labels+`}},"spec":{}}}}`))
	}
	const ours, theirs = `"controller-uid":"u","job-name":"j"`, `"batch.kubernetes.io/controller-uid":"u","batch.kubernetes.io/job-name":"j"`
	const at = "spec.template.metadata.labels"
	for _, c := range []struct {
		obj, old map[string]any
		want     string
	}{
		{job(ours+","+theirs, `"controller-uid":"u"`), nil, ""},
		{job(ours, `"controller-uid":"u"`), nil, at + `[batch.kubernetes.io/controller-uid]: Required value: must be 'u';` + at + `[batch.kubernetes.io/job-name]: Required value: must be 'j'`},
		{job(ours, `"controller-uid":"u"`), job(ours, `"controller-uid":"u"`), ""},
		{job(`"controller-uid":"v","job-name":"j",`+theirs, `"controller-uid":"u"`), nil, at + `[controller-uid]: Invalid value: "v": must be 'u'`},
		{job(ours+","+theirs, `"controller-uid":"v"`), nil, "spec.selector: Invalid value: {\"matchLabels\":{\"controller-uid\":\"v\"}}: `selector` not auto-generated"},
	} {
		var got []string
		for _, e := range validate("", c.obj, c.old) {
			got = append(got, e.Error())
		}
		if all := strings.Join(got, ";"); all != c.want {
			t.Errorf("%v after %v: %s, want %s", c.obj, c.old, all, c.want)
		}
	}
}

// A resize leaves other containers, and those that have ended by then, as they are.
func TestWhatAResizeLeaves(t *testing.T) {
	d := builtintest.Definitions(t)["pod"]
	pod := func(inits, more string) string {
		return `{"metadata":{"name":"x"},"spec":{"containers":[{"name":"c","image":"i"}],"initContainers":[` + inits + `]` + more + `},"status":{"qosClass":"Burstable"}}`
	}
	init := func(name, cpu, policy, more string) string {
		return `{"name":"` + name + `","image":"i","resources":{"requests":{"cpu":"` + cpu + `"}},"resizePolicy":[{"resourceName":"cpu","restartPolicy":"` + policy + `"}]` + more + `}`
	}
	const sidecar, ends = `,"restartPolicy":"Always"`, "spec.initContainers[0]: Forbidden: non-sidecar init containers with a resize policy of RestartContainer cannot be resized"
	others := "spec.initContainers: Forbidden: initContainers may not be added or removed on resize"
	for _, c := range []struct{ was, now, want string }{
		{pod(init("i", "1", "NotRequired", ``), ``), pod(init("i", "2", "NotRequired", ``), ``), ``},
		{pod(init("i", "1", "RestartContainer", ``), ``), pod(init("i", "2", "RestartContainer", ``), ``), ends},
		{pod(init("i", "1", "RestartContainer", sidecar), ``), pod(init("i", "2", "RestartContainer", sidecar), ``), ``},
		{pod(init("i", "1", "NotRequired", ``), ``), pod(init("k", "1", "NotRequired", ``), ``), others},
		{pod(init("i", "1", "NotRequired", ``), ``), pod(``, ``), others},
		{pod(init("i", "1", "NotRequired", ``), ``), pod(init("i", "1", "NotRequired", ``), `,"resources":{"requests":{"cpu":"3"}}`), ``},
		{pod(``, `,"resources":{"requests":{"cpu":"2"}}`), pod(``, `,"resources":{"requests":{"cpu":"2","hugepages-2Mi":"2Mi"},"limits":{"hugepages-2Mi":"2Mi"}}`), "spec: Forbidden: only cpu and memory resources are mutable at pod-level"},
	} {
		err := crdtest.Change(t, d, "resize", c.was, c.now)
		if got := crdtest.Message(err); !strings.Contains(got, c.want) || (err == nil) != (c.want == "") {
			t.Errorf("%s: %v (%v), want %s", c.now, got, err, c.want)
		}
	}
}

// Names that static configuration has are warned of, for all kinds that there is one of.
func TestNamesOfStaticConfiguration(t *testing.T) {
	for _, plural := range []string{"validatingwebhookconfigurations", "mutatingwebhookconfigurations", "validatingadmissionpolicies", "mutatingadmissionpolicies", "validatingadmissionpolicybindings", "mutatingadmissionpolicybindings"} {
		warn := extend.Of(schema.GroupResource{Group: "admissionregistration.k8s.io", Resource: plural}).Warn
		for name, want := range map[string]int{"a.static.k8s.io": 1, "static.k8s.io.a": 0, "a": 0} {
			got := warn(crdtest.Parse(t, []byte(`{"metadata":{"name":"`+name+`"}}`)), nil)
			if len(got) != want || want == 1 && got[0] != `metadata.name: names ending with ".static.k8s.io" are reserved for static manifest-based configurations and cannot be managed via the API` {
				t.Errorf("%s %s: %q", plural, name, got)
			}
		}
	}
}
