package extend_test

import (
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/crd/builtin/builtintest"
	"github.com/wasmgate/wasmgate/crd/crdtest"
)

// created are objects that are made, with what kube-apiserver 1.36.3 says.
type created []struct{ kind, body, want string }

func (all created) check(t *testing.T) {
	t.Helper()
	for _, c := range all {
		err := crdtest.Creation(t, builtintest.Definitions(t)[c.kind], `{"metadata":{"name":"x"},`+c.body+`}`)
		if got := crdtest.Message(err); got != c.want || (err == nil) != (c.want == "") {
			t.Errorf("%.200s: %.400v (%v)\nwant %.400s", c.body, got, err == nil, c.want)
		}
	}
}

// What cannot be overcommitted is limited to what it requests.
func TestDefaultsOfWhatCannotBeOvercommitted(t *testing.T) {
	limit := func(rest string) string { return `"spec":{"limits":[{` + rest + `}]}` }
	created{
		{"limitrange", limit(`"type":"Container","default":{"example.com/gpu":"2"},"defaultRequest":{"example.com/gpu":"1"}`), `spec.limits[0].defaultRequest[example.com/gpu]: Invalid value: "1": default value 2 must equal to defaultRequest value 1 in example.com/gpu`},
		{"limitrange", limit(`"type":"Container","default":{"hugepages-2Mi":"4Mi"},"defaultRequest":{"hugepages-2Mi":"2Mi"}`), `spec.limits[0].defaultRequest[hugepages-2Mi]: Invalid value: "2Mi": default value 4Mi must equal to defaultRequest value 2Mi in hugepages-2Mi`},
		{"limitrange", limit(`"type":"Container","default":{"example.com/gpu":"1"},"defaultRequest":{"example.com/gpu":"2"}`), `[spec.limits[0].defaultRequest[example.com/gpu]: Invalid value: "2": default request value 2 is greater than default limit value 1, spec.limits[0].defaultRequest[example.com/gpu]: Invalid value: "2": default value 1 must equal to defaultRequest value 2 in example.com/gpu]`},
		{"limitrange", limit(`"type":"Container","default":{"hugepages-2Mi":"2Mi"},"defaultRequest":{"hugepages-2Mi":"2048Ki"}`), ""},
		{"limitrange", limit(`"type":"Container","default":{"kubernetes.io/gpu":"2"},"defaultRequest":{"kubernetes.io/gpu":"1"}`), ""},
		{"limitrange", limit(`"type":"Container","default":{"ephemeral-storage":"2"},"defaultRequest":{"ephemeral-storage":"1"}`), ""},
		{"limitrange", limit(`"type":"Container","default":{"example.com/gpu":"2"}`), ""},
		{"limitrange", limit(`"type":"x.io/y","default":{"requests.hugepages-2Mi":"2"},"defaultRequest":{"requests.hugepages-2Mi":"1"}`), ""},
	}.check(t)
}

// A bound of storage that is 0 is one.
func TestLimitsOfClaims(t *testing.T) {
	limit := func(rest string) string { return `"spec":{"limits":[{"type":"PersistentVolumeClaim",` + rest + `}]}` }
	created{
		{"limitrange", limit(`"min":{"storage":"0"}`), ""},
		{"limitrange", limit(`"max":{"storage":"0"}`), ""},
		{"limitrange", limit(`"min":{"cpu":"1"}`), "spec.limits[0].limits: Required value: either minimum or maximum storage value is required, but neither was provided"},
	}.check(t)
}

// Quotas of some pods limit what pods compute with, and no storage of nodes or huge pages.
func TestWhatQuotasOfSomePodsLimit(t *testing.T) {
	var all created
	for scope, names := range map[string]string{
		"NotTerminating": "requests.ephemeral-storage", "BestEffort": "hugepages-2Mi", "NotBestEffort": "requests.hugepages-2Mi hugepages-2Mi", "PriorityClass": "ephemeral-storage",
		"CrossNamespacePodAffinity": "limits.ephemeral-storage", "VolumeAttributesClass": "hugepages-2Mi cpu",
	} {
		for name := range strings.FieldsSeq(names) {
			all = append(all, created{{"resourcequota", `"spec":{"scopes":["` + scope + `"],"hard":{"` + name + `":"1"}}`, `spec.scopes: Invalid value: ["` + scope + `"]: unsupported scope applied to resource`}}...)
		}
	}
	for name := range strings.FieldsSeq("cpu memory requests.cpu limits.memory pods requests.example.com/gpu") {
		all = append(all, created{{"resourcequota", `"spec":{"scopes":["Terminating"],"hard":{"` + name + `":"1"}}`, ""}}...)
	}
	all.check(t)
}

// Quotas of requests for what others define may be parts of one.
func TestPartsOfQuotas(t *testing.T) {
	var all created
	for name, whole := range map[string]bool{
		"requests.example.com/gpu": false, "example.com/gpu": true, "limits.example.com/gpu": true, "count/pods": true, "requests.kubernetes.io/gpu": false, "kubernetes.io/gpu": false,
		"gold.storageclass.storage.k8s.io/requests.storage": true, "requests.hugepages-2Mi": false, "pods": true,
	} {
		want := ""
		if whole {
			want = `spec.hard[` + name + `]: Invalid value: "500m": must be an integer`
		}
		all = append(all, created{{"resourcequota", `"spec":{"hard":{"` + name + `":"500m"}}`, want}}...)
	}
	all.check(t)
}
