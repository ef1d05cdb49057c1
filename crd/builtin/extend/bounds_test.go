package extend_test

import (
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/crd/builtin/builtintest"
	"github.com/wasmgate/wasmgate/crd/crdtest"
)

// What clients write to the state of others is bounded.
func TestBoundsOfWhatIsReported(t *testing.T) {
	const (
		attachment = `"spec":{"attacher":"a","nodeName":"n","source":{"persistentVolumeName":"p"}},"status":`
		budget     = `"spec":{"minAvailable":1,"selector":{}},"status":{"disruptionsAllowed":0,"currentHealthy":0,"desiredHealthy":0,"expectedPods":0,"conditions":`
		flow       = `"spec":{"priorityLevelConfiguration":{"name":"global-default"},"matchingPrecedence":9999},"status":`
		level      = `"spec":{"type":"Limited","limited":{"limitResponse":{"type":"Reject"}}},"status":`
		quarter    = 256 << 10
	)
	defs := builtintest.Definitions(t)
	x := func(n int) string { return strings.Repeat("x", n) }
	condition := func(n int) string {
		return budget + `[{"type":"A","status":"True","reason":"R","message":"` + x(n) + `","lastTransitionTime":"2026-01-01T00:00:00Z"}]}`
	}
	for _, c := range []struct{ kind, body, want string }{
		{"volumeattachment", attachment + `{"attached":false,"attachError":{"message":"` + x(1024) + `"}}`, ""},
		{"volumeattachment", attachment + `{"attached":false,"attachError":{"message":"` + x(1025) + `"}}`, "status.attachError.message: Too long: may not be more than 262144 bytes"},
		{"volumeattachment", attachment + `{"attached":false,"detachError":{"message":"` + strings.Repeat("é", 513) + `"}}`, "status.detachError.message: Too long: may not be more than 262144 bytes"},
		{"volumeattachment", attachment + `{"attached":true,"attachmentMetadata":{"k":"` + x(quarter-1) + `"}}`, ""},
		{"volumeattachment", attachment + `{"attached":true,"attachmentMetadata":{"k":"` + x(quarter) + `"}}`, "status.attachmentMetadata: Too long: may not be more than 262144 bytes"},
		{"volumeattachment", attachment + `{"attached":true,"attachmentMetadata":{"":"x"}}`, ""},
		{"poddisruptionbudget", condition(32768), ""},
		{"poddisruptionbudget", condition(32769), "status.conditions[0].message: Too long: may not be more than 32768 bytes"},
		{"flowschema", flow + `{"conditions":[{"type":"A","status":"True"},{"type":"A"},{"type":"A","status":"Odd"}]}`, `[status.conditions[1].type: Duplicate value: "A", status.conditions[2].type: Duplicate value: "A"]`},
		{"flowschema", flow + `{"conditions":[{"type":"","status":"True"}]}`, "status.conditions[0].type: Required value"},
		{"flowschema", flow + `{"conditions":[{"type":"A","status":"Odd"},{"type":"B"}]}`, ""},
		{"prioritylevelconfiguration", level + `{"conditions":[{"type":"A","status":"True"},{"type":"A","status":"False"}]}`, `status.conditions[1].type: Duplicate value: "A"`},
		{"prioritylevelconfiguration", level + `{"conditions":[{"status":"True"}]}`, "status.conditions[0].type: Required value"},
	} {
		was, _, _ := strings.Cut(c.body, `,"status":`)
		if c.kind == "volumeattachment" {
			was += `,"status":{"attached":false}`
		}
		err := crdtest.Change(t, defs[c.kind], "status", `{"metadata":{"name":"x"},`+was+`}`, `{"metadata":{"name":"x"},`+c.body+`}`)
		if got := crdtest.Message(err); got != c.want || (err == nil) != (c.want == "") {
			t.Errorf("%s %.200s: %.400v\nwant %s", c.kind, c.body, err, c.want)
		}
	}
}

// What names of nodes and times of tokens may be.
func TestBoundsOfDrivers(t *testing.T) {
	node := func(n int) string {
		return `"spec":{"drivers":[{"name":"d","nodeID":"` + strings.Repeat("i", n) + `"}]}`
	}
	created{
		{"csinode", node(256), ""},
		{"csinode", node(257), `spec.drivers[0].nodeID: Invalid value: "` + strings.Repeat("i", 257) + `": must be 256 characters or less`},
		{"csinode", node(0), "spec.drivers[0].nodeID: Required value"},
		{"csidriver", `"spec":{"tokenRequests":[{"audience":"a","expirationSeconds":4294967296}]}`, ""},
		{"csidriver", `"spec":{"tokenRequests":[{"audience":"a","expirationSeconds":4294967297}]}`, "spec.tokenRequests[0].expirationSeconds: Invalid value: 4294967297: may not specify a duration larger than 2^32 seconds"},
	}.check(t)
}

// A new Ingress does not name two classes, of which one may be empty.
func TestClassesOfIngresses(t *testing.T) {
	const rest = `"defaultBackend":{"service":{"name":"a","port":{"number":1}}}`
	d := builtintest.Definitions(t)["ingress"]
	for _, c := range []struct {
		annotations, spec string
		refused           bool
	}{
		{`{"kubernetes.io/ingress.class":""}`, `"ingressClassName":"x",`, true},
		{`{"kubernetes.io/ingress.class":"y"}`, `"ingressClassName":"x",`, true},
		{`{"kubernetes.io/ingress.class":"x"}`, `"ingressClassName":"x",`, false},
		{`{"kubernetes.io/ingress.class":""}`, ``, false},
		{`{"a":""}`, `"ingressClassName":"x",`, false},
		{`null`, `"ingressClassName":"x",`, false},
	} {
		body := `{"metadata":{"name":"x","annotations":` + c.annotations + `},"spec":{` + c.spec + rest + `}}`
		if err := crdtest.Creation(t, d, body); (err != nil) != c.refused || c.refused && !strings.HasSuffix(crdtest.Message(err), "must match `ingressClassName` when both are specified") {
			t.Errorf("%s: %v", body, err)
		}
		if err := crdtest.Change(t, d, "", `{"metadata":{"name":"x"},"spec":{"ingressClassName":"x",`+rest+`}}`, body); err != nil {
			t.Errorf("a change to %s: %v", body, err)
		}
	}
}

// The classes of the system are what they are.
func TestClassesOfTheSystem(t *testing.T) {
	const reserved = "metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for system use only. error: "
	d := builtintest.Definitions(t)["priorityclass"]
	for _, c := range []struct{ name, rest, want string }{
		{"system-node-critical", `"value":5`, reserved + "value of system-node-critical PriorityClass must be 2000001000"},
		{"system-node-critical", `"value":2000001000`, ""},
		{"system-node-critical", `"value":2000001000,"globalDefault":true`, reserved + "globalDefault of system-node-critical PriorityClass must be false"},
		{"system-node-critical", `"value":1,"globalDefault":true`, reserved + "value of system-node-critical PriorityClass must be 2000001000"},
		{"system-cluster-critical", `"value":2000001000`, reserved + "value of system-cluster-critical PriorityClass must be 2000000000"},
		{"system-cluster-critical", `"value":2000000000,"globalDefault":false`, ""},
		{"system-x", `"value":2000001000`, reserved + "system-x is not a known system priority class"},
		{"x", `"value":5,"globalDefault":true`, ""},
	} {
		err := crdtest.Creation(t, d, `{"metadata":{"name":"`+c.name+`"},`+c.rest+`}`)
		if got := crdtest.Message(err); got != c.want || (err == nil) != (c.want == "") {
			t.Errorf("%s %s: %v\nwant %s", c.name, c.rest, err, c.want)
		}
	}
	const was = `{"metadata":{"name":"system-node-critical"},"value":2000001000,"preemptionPolicy":"PreemptLowerPriority"`
	if err := crdtest.Change(t, d, "", was+`}`, was+`,"globalDefault":true}`); err != nil {
		t.Errorf("a change, which kube-apiserver does not compare: %v", err)
	}
}

// What is said to drivers and by them is as long as a client writes it, not as JSON for
// pages of HTML does.
func TestBoundsOfTextsForDrivers(t *testing.T) {
	const (
		opaque  = `"opaque":{"driver":"d.x","parameters":{"a":"TEXT"}}`
		result  = `"results":[{"request":"r","driver":"d.x","pool":"p","device":"one"}]`
		request = `{"devices":{"requests":[{"name":"r","exactly":{"deviceClassName":"c"}}]CONFIG}}`
		more    = `: Too long: may not be more than 10240 bytes`
	)
	defs := builtintest.Definitions(t)
	spec := func(config string) string { return strings.Replace(request, "CONFIG", config, 1) }
	for name, c := range map[string]struct{ kind, subresource, body, want string }{
		"of a class":         {"deviceclass", "", `"spec":{"config":[{` + opaque + `}]}`, `spec.config[0].opaque.parameters` + more},
		"of a claim":         {"resourceclaim", "", `"spec":` + spec(`,"config":[{`+opaque+`}]`), `spec.devices.config[0].opaque.parameters` + more},
		"of a template":      {"resourceclaimtemplate", "", `"spec":{"spec":` + spec(`,"config":[{`+opaque+`}]`) + `}`, `spec.spec.devices.config[0].opaque.parameters` + more},
		"of an allocation":   {"resourceclaim", "status", `"spec":` + spec("") + `,"status":{"allocation":{"devices":{` + result + `,"config":[{"source":"FromClass",` + opaque + `}]}}}`, `status.allocation.devices.config[0].opaque.parameters` + more},
		"reported by a node": {"resourceclaim", "status", `"spec":` + spec("") + `,"status":{"allocation":{"devices":{` + result + `}},"devices":[{"driver":"d.x","pool":"p","device":"one","data":{"a":"TEXT"}}]}`, `status.devices[0].data` + more},
	} {
		for text, want := range map[string]string{
			strings.Repeat("<", 2000): "", strings.Repeat("<>&é", 2046) + "xx": "", strings.Repeat("<>&é", 2046) + "xxx": c.want,
			strings.Repeat("&", 70000): c.want, strings.Repeat(`\\u003c`, 1461): "", strings.Repeat(`\\u003c`, 1462): c.want,
		} {
			body := `{"metadata":{"name":"x"},` + strings.Replace(c.body, "TEXT", text, 1) + `}`
			err := crdtest.Creation(t, defs[c.kind], body)
			if c.subresource != "" {
				err = crdtest.Change(t, defs[c.kind], c.subresource, `{"metadata":{"name":"x"},"spec":`+spec("")+`}`, body)
			}
			if got := crdtest.Message(err); got != want || (err == nil) != (want == "") {
				t.Errorf("%s, %d bytes of %.6s: %.300s (%T), want %q", name, len(text), text, got, err, want)
			}
		}
	}
}
