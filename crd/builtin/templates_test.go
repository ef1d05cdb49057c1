package builtin

import (
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/crd/crdtest"
)

// What no pod may be made with is refused where its template is written, of every kind.
func TestTemplatesHaveNoEphemeralContainers(t *testing.T) {
	const template = `{"metadata":{"labels":{"a":"b"}},"spec":{"restartPolicy":"POLICY","containers":[{"name":"a","image":"i"}],"ephemeralContainers":[{"name":"d","image":"i"}]}}`
	defs := definitions(t)
	for kind, spec := range map[string]string{
		"statefulset": `"spec":{"serviceName":"s","selector":{"matchLabels":{"a":"b"}},"template":TEMPLATE}`, "daemonset": `"spec":{"selector":{"matchLabels":{"a":"b"}},"template":TEMPLATE}`,
		"deployment": `"spec":{"selector":{"matchLabels":{"a":"b"}},"template":TEMPLATE}`, "replicationcontroller": `"spec":{"template":TEMPLATE}`,
		"job": `"spec":{"template":TEMPLATE}`, "cronjob": `"spec":{"schedule":"* * * * *","jobTemplate":{"spec":{"template":TEMPLATE}}}`, "podtemplate": `"template":TEMPLATE`,
	} {
		policy := "Always"
		if strings.HasSuffix(kind, "job") {
			policy = "Never"
		}
		object := `{"metadata":{"name":"x","namespace":"n"},` + strings.Replace(spec, "TEMPLATE", strings.Replace(template, "POLICY", policy, 1), 1) + `}`
		if said := crdtest.Message(crdtest.Creation(t, defs[kind], object)); !strings.Contains(said, "spec.ephemeralContainers: Forbidden: ephemeral containers not allowed in pod template") {
			t.Errorf("%s: %s", kind, said)
		}
	}
}

// A job's own labels and selector are made where there are none; others are refused, and
// not replaced without a word.
func TestLabelsOfJobsAreNotReplaced(t *testing.T) {
	def := definitions(t)["job"]
	for spec, want := range map[string]string{
		`"template":{"metadata":{"labels":{"job-name":"other"}},POD}`:                                "spec.template.metadata.labels[job-name]",
		`"template":{"metadata":{"labels":{"batch.kubernetes.io/controller-uid":"other"}},POD}`:      "spec.template.metadata.labels[batch.kubernetes.io/controller-uid]",
		`"selector":{"matchLabels":{"batch.kubernetes.io/controller-uid":"other"}},"template":{POD}`: "spec.selector",
		`"template":{"metadata":{"labels":{"job-name":"x"}},POD}`:                                    "",
	} {
		object := `{"metadata":{"name":"x","uid":"u"},"spec":{` + strings.Replace(spec, "POD", `"spec":{"restartPolicy":"Never","containers":[{"name":"a","image":"i"}]}`, 1) + `}}`
		if said := crdtest.Message(crdtest.Creation(t, def, object)); (said == "") != (want == "") || !strings.Contains(said, want) {
			t.Errorf("%s: %s, want %s", spec, said, want)
		}
	}
}
