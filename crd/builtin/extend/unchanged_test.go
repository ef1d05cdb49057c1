package extend_test

import (
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/crd/builtin/builtintest"
	"github.com/wasmgate/wasmgate/crd/crdtest"
)

// What was taken once and is refused now stays as long as nobody changes it, in the words of
// kube-apiserver 1.36.3.
func TestWhatUpdatesDoNotTouch(t *testing.T) {
	const (
		set = `{"metadata":{"name":"x"MORE},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}},
			"volumeClaimTemplates":[{"metadata":{"name":"v"},"spec":{"accessModes":[MODE],"resources":{"requests":{"storage":"1"}}}}]}}`
		fixedSet = `spec: Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden`
		scaler   = `{"metadata":{"name":"x"MORE},"spec":{"maxReplicas":3,"scaleTargetRef":{"name":"n",REF}}}`
		version  = `spec.scaleTargetRef.apiVersion: Invalid value: `
		label    = `,"labels":{"a":"b"}`
		noLabel  = `: a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')`
	)
	pod := func(labels string) string {
		return `{"metadata":{"name":"x"},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{` + labels + `}},"spec":{"containers":[{"name":"c","image":"i","imagePullPolicy":"Odd"}]}}}}`
	}
	endpoints := func(more, subsets string) string {
		return `{"metadata":{"name":"x"` + more + `},"subsets":[` + subsets + `]}`
	}
	slice := func(more, endpoints string) string {
		return `{"metadata":{"name":"x"` + more + `},"addressType":"IPv4","endpoints":[` + endpoints + `]}`
	}
	d := builtintest.Definitions(t)
	for name, c := range map[string]struct{ kind, was, now, want string }{
		"templates of claims":           {"statefulset", filled(set, "MODE", "", `"Odd"`), filled(set, "MODE", label, `"Odd"`), ""},
		"other templates of claims":     {"statefulset", filled(set, "MODE", "", `"Odd"`), filled(set, "MODE", "", `"Other"`), fixedSet},
		"new templates of claims":       {"statefulset", "", filled(set, "MODE", "", `"Odd"`), `spec.volumeClaimTemplates[0].spec.accessModes: Unsupported value: "Odd": supported values: "ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"`},
		"a template":                    {"statefulset", pod(`"a":"b"`), strings.Replace(pod(`"a":"b"`), `"spec":{`, `"spec":{"replicas":3,`, 1), ""},
		"a template of another set":     {"statefulset", pod(`"a":"b"`), pod(`"a":"c"`), "spec.template.metadata.labels: Invalid value: {\"a\":\"c\"}: `selector` does not match template `labels`"},
		"subsets":                       {"endpoints", endpoints("", `{}`), endpoints(label, `{}`), ""},
		"other subsets":                 {"endpoints", endpoints("", `{}`), endpoints("", `{},{}`), "[subsets[0]: Required value: must specify `addresses` or `notReadyAddresses`, subsets[1]: Required value: must specify `addresses` or `notReadyAddresses`]"},
		"new subsets":                   {"endpoints", "", endpoints("", `{}`), "subsets[0]: Required value: must specify `addresses` or `notReadyAddresses`"},
		"endpoints":                     {"endpointslice", slice("", `{"addresses":[]}`), slice(label, `{"addresses":[]}`), ""},
		"other endpoints":               {"endpointslice", slice("", `{"addresses":[]}`), slice("", `{"addresses":["10.0.0.1"],"hostname":"A"}`), `endpoints[0].hostname: Invalid value: "A"` + noLabel},
		"a target":                      {"horizontalpodautoscaler", filled(scaler, "REF", "", `"kind":"Deployment"`), filled(scaler, "REF", label, `"kind":"Deployment"`), ""},
		"a target with an odd version":  {"horizontalpodautoscaler", filled(scaler, "REF", "", `"kind":"A","apiVersion":"a/b/c"`), filled(scaler, "REF", label, `"kind":"A","apiVersion":"a/b/c"`), ""},
		"another kind of target":        {"horizontalpodautoscaler", filled(scaler, "REF", "", `"kind":"Deployment"`), filled(scaler, "REF", "", `"kind":"ReplicaSet"`), version + `"": apiVersion must specify API group`},
		"another version of target":     {"horizontalpodautoscaler", filled(scaler, "REF", "", `"kind":"A"`), filled(scaler, "REF", "", `"kind":"A","apiVersion":"v1"`), version + `"v1": apiVersion must specify API group`},
		"a group without a name":        {"horizontalpodautoscaler", "", filled(scaler, "REF", "", `"kind":"A","apiVersion":"/v1"`), version + `"/v1": apiVersion must specify API group`},
		"more than a version":           {"horizontalpodautoscaler", "", filled(scaler, "REF", "", `"kind":"A","apiVersion":"a/b/c"`), version + `"a/b/c": unexpected GroupVersion string: a/b/c`},
		"more than a version of a core": {"horizontalpodautoscaler", "", filled(scaler, "REF", "", `"kind":"ReplicationController","apiVersion":"a/b/c"`), version + `"a/b/c": unexpected GroupVersion string: a/b/c`},
		"a core target":                 {"horizontalpodautoscaler", "", filled(scaler, "REF", "", `"kind":"ReplicationController"`), ""},
	} {
		var err error
		if c.was == "" {
			err = crdtest.Creation(t, d[c.kind], c.now)
		} else {
			err = crdtest.Change(t, d[c.kind], "", c.was, c.now)
		}
		if got := crdtest.Message(err); got != c.want || (err == nil) != (c.want == "") {
			t.Errorf("%s: %s (%v)\nwant %s", name, got, err, c.want)
		}
	}
}

// filled is a body with more metadata, and with something in a place.
func filled(body, place, more, what string) string {
	return strings.NewReplacer("MORE", more, place, what).Replace(body)
}

// A cost that was none before may stay or be another that is none, and one that was a cost
// may not become such, in the words of kube-apiserver 1.36.3.
func TestCostsThatAreNone(t *testing.T) {
	d := builtintest.Definitions(t)["pod"]
	const cost, refused = `"annotations":{"controller.kubernetes.io/pod-deletion-cost":"COST"}`, `metadata.annotations[controller.kubernetes.io/pod-deletion-cost]: Invalid value: "abc": must be a 32bit integer`
	pod := func(annotation string) string {
		return `{"metadata":{"name":"x",` + annotation + `},"spec":{"containers":[{"name":"c","image":"i"}]}}`
	}
	of := func(value string) string { return pod(strings.Replace(cost, "COST", value, 1)) }
	for _, subresource := range []string{"", "status"} {
		for name, c := range map[string]struct{ was, now, want string }{
			"the same": {of("abc"), of("abc"), ""}, "another": {of("+1"), of("abc"), ""}, "of nothing": {of(""), of("abc"), ""},
			"of one": {of("-1"), of("abc"), refused}, "a first": {pod(`"labels":{}`), of("abc"), refused},
		} {
			if got := crdtest.Message(crdtest.Change(t, d, subresource, c.was, c.now)); got != c.want {
				t.Errorf("%s, %q: %s, want %s", name, subresource, got, c.want)
			}
		}
	}
	if got := crdtest.Message(crdtest.Creation(t, d, of("abc"))); got != refused {
		t.Errorf("new: %s", got)
	}
}

// A pod with block devices and users of its own, which is refused now, stays as it was; a
// new one is refused, and templates with users of their own from now on, too.
func TestDevicesOfPodsWithUsersOfTheirOwn(t *testing.T) {
	d := builtintest.Definitions(t)
	const (
		devices = `"volumeDevices":[{"name":"b","devicePath":"/b"}]`
		volumes = `"volumes":[{"name":"b","persistentVolumeClaim":{"claimName":"b"}}]`
		refused = `volumeDevices: Forbidden: when ` + "`hostUsers`" + ` is false`
	)
	plain := `"containers":[{"name":"c","image":"i"}]`
	pod := func(label, users, spec string) string {
		return `{"metadata":{"name":"x","labels":{"a":"` + label + `"}},"spec":{` + users + volumes + `,` + spec + `}}`
	}
	for list, spec := range map[string]string{
		"containers":          `"containers":[{"name":"c","image":"i",` + devices + `}]`,
		"initContainers":      plain + `,"initContainers":[{"name":"d","image":"i",` + devices + `}]`,
		"ephemeralContainers": plain + `,"ephemeralContainers":[{"name":"d","image":"i",` + devices + `}]`,
	} {
		for _, subresource := range []string{"", "status"} {
			if err := crdtest.Change(t, d["pod"], subresource, pod("a", `"hostUsers":false,`, spec), pod("b", `"hostUsers":false,`, spec)); err != nil {
				t.Errorf("%s, %q: %v", list, subresource, err)
			}
		}
		if got := crdtest.Message(crdtest.Creation(t, d["pod"], pod("a", `"hostUsers":false,`, spec))); !strings.Contains(got, "spec."+list+"[0]."+refused) {
			t.Errorf("new, %s: %s", list, got)
		}
		if err := crdtest.Change(t, d["pod"], "", pod("a", "", spec), pod("a", `"hostUsers":false,`, spec)); err == nil {
			t.Errorf("%s: users of its own from now on are taken", list)
		}
	}
	if got := crdtest.Message(crdtest.Change(t, d["pod"], "ephemeralcontainers", pod("a", `"hostUsers":false,`, plain), pod("a", `"hostUsers":false,`, plain+`,"ephemeralContainers":[{"name":"d","image":"i",`+devices+`}]`))); !strings.Contains(got, refused) {
		t.Errorf("a debugger with a device: %s", got)
	}
	deployment := func(users string) string {
		return `{"metadata":{"name":"x"},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{` + users + volumes + `,"containers":[{"name":"c","image":"i",` + devices + `}]}}}}`
	}
	if got := crdtest.Message(crdtest.Change(t, d["deployment"], "", deployment(""), deployment(`"hostUsers":false,`))); got != "spec.template.spec.containers[0]."+refused {
		t.Errorf("a template: %s", got)
	}
}

// What a revision holds is asked to be an object once, when it is made.
func TestDataOfRevisionsThatStays(t *testing.T) {
	d := builtintest.Definitions(t)["controllerrevision"]
	revision := func(label, data string) string {
		return `{"metadata":{"name":"x","labels":{"a":"` + label + `"}},"revision":1,"data":` + data + `}`
	}
	for _, data := range []string{`"abc"`, `[1]`, `3`} {
		if err := crdtest.Change(t, d, "", revision("a", data), revision("b", data)); err != nil {
			t.Errorf("%s: %v", data, err)
		}
		if got := crdtest.Message(crdtest.Creation(t, d, revision("a", data))); got != "data: Required value: data must be a valid JSON object" {
			t.Errorf("new, %s: %s", data, got)
		}
		if err := crdtest.Change(t, d, "", revision("a", `{}`), revision("a", data)); err == nil {
			t.Errorf("%s in place of an object is taken", data)
		}
	}
}
