package extend_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/crd/builtin/builtintest"
	"github.com/wasmgate/wasmgate/crd/builtin/extend"
	"github.com/wasmgate/wasmgate/crd/crdtest"
)

// ended is a condition of a migration.
func ended(kind, status string) string {
	return `{"type":"` + kind + `","status":"` + status + `","reason":"R","message":"","lastTransitionTime":"2026-01-01T00:00:00Z"}`
}

const (
	migration = `{"metadata":{"name":"x"},"spec":{"resource":{"resource":"pods"}}`
	namespace = `{"metadata":{"name":"x"`
	leaving   = `,"deletionTimestamp":"2026-01-01T00:00:00Z","deletionGracePeriodSeconds":0`
	mutating  = `{"metadata":{"name":"x"},"spec":{` + ruled + `,"reinvocationPolicy":"Never","matchConditions":[{"name":"a","expression":"params.a"}],"mutations":[{"patchType":"JSONPatch","jsonPatch":{"expression":"[JSONPatch{op: 'test', path: '/a'}]"}}]`
	local     = `{"metadata":{"name":"v1.example.com"},"spec":{"group":"example.com","version":"v1","groupPriorityMinimum":1,"versionPriority":1}`
)

// changed are what is said of changes, in the words of kube-apiserver.
var changed = []struct{ kind, sub, was, now, want string }{
	{"storageversionmigration", "", migration + "}", migration + "}", ""},
	{"storageversionmigration", "", migration + "}", strings.Replace(migration, "pods", "nodes", 1) + "}", `spec: Invalid value: {"resource":{"group":"","resource":"nodes"}}: field is immutable`},
	{"storageversionmigration", "status", migration + "}", migration + `,"status":{"resourceVersion":"5","conditions":[` + ended("Running", "True") + `]}}`, ""},
	{"storageversionmigration", "status", migration + "}", migration + `,"status":{"resourceVersion":"x"}}`, `status.resourceVersion: Invalid value: "x": resource version is not well formed: x`},
	{"storageversionmigration", "status", migration + `,"status":{"resourceVersion":"5"}}`, migration + `,"status":{"resourceVersion":"5"}}`, ""},
	{"storageversionmigration", "status", migration + `,"status":{"resourceVersion":"5"}}`, migration + `,"status":{"resourceVersion":"6"}}`, `status.resourceVersion: Invalid value: "6": field is immutable`},
	{"storageversionmigration", "status", migration + "}", migration + `,"status":{"conditions":[` + ended("Succeeded", "True") + `,` + ended("Failed", "False") + `]}}`, ""},
	{"storageversionmigration", "status", migration + "}", migration + `,"status":{"conditions":[` + ended("Succeeded", "True") + `,` + ended("Failed", "True") + `]}}`, `status.conditions: Invalid value: [{"type":"Succeeded","status":"True","lastTransitionTime":"2026-01-01T00:00:00Z","reason":"R","message":""},{"type":"Failed","status":"True","lastTransitionTime":"2026-01-01T00:00:00Z","reason":"R","message":""}]: Both success and failed conditions cannot be true at the same time`},
	{"storageversionmigration", "status", migration + `,"status":{"conditions":[` + ended("Succeeded", "True") + `]}}`, migration + `,"status":{"conditions":[` + ended("Succeeded", "True") + `]}}`, ""},
	{"storageversionmigration", "status", migration + `,"status":{"conditions":[` + ended("Failed", "True") + `]}}`, migration + `,"status":{"conditions":[` + ended("Failed", "False") + `]}}`, `status.conditions: Invalid value: [{"type":"Failed","status":"False","lastTransitionTime":"2026-01-01T00:00:00Z","reason":"R","message":""}]: Failed condition cannot be set to false once it is true`},
	{"storageversionmigration", "status", migration + `,"status":{"conditions":[` + ended("Succeeded", "True") + `]}}`, migration + `,"status":{}}`, "status.conditions: Invalid value: null: Success condition cannot be set to false once it is true"},
	{"namespace", "status", namespace + `}}`, namespace + `},"status":{"phase":"Active"}}`, ""},
	{"namespace", "status", namespace + `}}`, namespace + `},"status":{"phase":"Terminating"}}`, "status.Phase: Invalid value: \"Terminating\": may only be 'Active' if `deletionTimestamp` is empty"},
	{"namespace", "status", namespace + leaving + `}}`, namespace + leaving + `},"status":{"phase":"Terminating"}}`, ""},
	{"namespace", "status", namespace + leaving + `}}`, namespace + leaving + `},"status":{"phase":"Active"}}`, "status.Phase: Invalid value: \"Active\": may only be 'Terminating' if `deletionTimestamp` is not empty"},
	{"namespace", "finalize", namespace + `}}`, namespace + `},"spec":{"finalizers":["a b"]}}`, `[spec.finalizers[0]: Invalid value: "a b": ` + notQualified + `, spec.finalizers[0]: Invalid value: "a b": name is neither a standard finalizer name nor is it fully qualified]`},
	{"mutatingadmissionpolicy", "", mutating + `}}`, mutating + `}}`, ""},
	{"mutatingadmissionpolicy", "", mutating + `}}`, mutating + `,"paramKind":{"apiVersion":"v1","kind":"ConfigMap"}}}`, `spec.matchConditions[0].expression: Invalid value: "params.a": must evaluate to bool but got dyn`},
	{"mutatingadmissionpolicy", "", mutating + `,"paramKind":{"apiVersion":"v1","kind":"ConfigMap"}}}`, mutating + `}}`, `spec.matchConditions[0].expression: Invalid value: "params.a"` + noParams + "a\n | ^"},
	{"apiservice", "", local + "}", local + "}", ""},
	{"apiservice", "", local + "}", strings.Replace(local, `"versionPriority":1`, `"versionPriority":0`, 1) + "}", "spec.versionPriority: Invalid value: 0: must be positive and less than 1000"},
	{"apiservice", "status", local + "}", strings.Replace(local, `"versionPriority":1`, `"versionPriority":0`, 1) + "}", ""},
}

// The policy MountOption is behind a gate that is off: nothing new has it, but what has any
// policy stays, and may have it, as pods and templates of pods.
func TestPoliciesOfSELinuxThatWereThere(t *testing.T) {
	const (
		mount, recursive, odd = "MountOption", "Recursive", "odd"
		only, both            = `: supported values: "Recursive"`, `: supported values: "MountOption", "Recursive"`
	)
	defs := builtintest.Definitions(t)
	for kind, k := range map[string]struct{ path, restarts, body string }{
		"pod":        {"spec", "Never", `{"metadata":{"name":"x"},"spec":POD}`},
		"cronjob":    {"spec.jobTemplate.spec.template.spec", "Never", `{"metadata":{"name":"x"},"spec":{"schedule":"* * * * *","jobTemplate":{"spec":{"template":{"spec":POD}}}}}`},
		"deployment": {"spec.template.spec", "Always", `{"metadata":{"name":"x"},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":POD}}}`},
	} {
		with := func(policy string) string {
			if policy != "" {
				policy = `"seLinuxChangePolicy":"` + policy + `"`
			}
			return strings.Replace(k.body, "POD", `{"restartPolicy":"`+k.restarts+`","securityContext":{`+policy+`},"containers":[{"name":"c","image":"i"}]}`, 1)
		}
		for _, c := range []struct{ was, now, among string }{
			{"new", mount, only}, {"new", odd, only}, {"new", recursive, ""},
			{"", mount, only}, {"", "", ""}, {mount, mount, ""}, {mount, odd, both}, {recursive, mount, ""}, {mount, recursive, ""},
		} {
			var err error
			if c.was == "new" {
				err = crdtest.Creation(t, defs[kind], with(c.now))
			} else {
				err = crdtest.Change(t, defs[kind], "", with(c.was), with(c.now))
			}
			got, want := crdtest.Message(err), ""
			if c.among != "" {
				want = k.path + ".securityContext.seLinuxChangePolicy: Unsupported value: " + strconv.Quote(c.now) + c.among
			}
			fixed := kind == "pod" && c.was != "new" && c.was != c.now // which the policies of pods are
			if !strings.Contains(got, want) || c.among == "" && (strings.Contains(got, "Unsupported") || err != nil && !fixed) {
				t.Errorf("%s, from %q to %q: %v (%s), want %s", kind, c.was, c.now, err, got, want)
			}
		}
	}
}

func TestWhatIsSaidOfChanges(t *testing.T) {
	defs := builtintest.Definitions(t)
	for _, c := range changed {
		said := []string{crdtest.Message(crdtest.Change(t, defs[c.kind], c.sub, c.was, c.now))}
		if got := strings.Join(said, "\n"); got != c.want {
			t.Errorf("%s %s %s to %s:\n%s\nwant\n%s", c.kind, c.sub, c.was, c.now, got, c.want)
		}
	}
}

// A namespace is there as long as it has finalizers.
func TestNamespacesThatAreStillFinalized(t *testing.T) {
	hooks := extend.Of(schema.GroupResource{Resource: "namespaces"}).Hooks
	for spec, want := range map[string]bool{`{}`: false, `{"finalizers":[]}`: false, `{"finalizers":["kubernetes"]}`: true} {
		if got := hooks.StillFinalizing(crdtest.Parse(t, []byte(`{"spec":`+spec+`}`))); got != want {
			t.Errorf("%s: %t", spec, got)
		}
	}
}

// Conditions of signing requests get the times that they lack, each of them.
func TestTimesOfConditions(t *testing.T) {
	d := builtintest.Definitions(t)["certificatesigningrequest"]
	const at = "2020-01-01T00:00:00Z"
	body := `{"metadata":{"name":"r","uid":"u","resourceVersion":"7"},"spec":{"request":"YQ==","signerName":"example.com/s","usages":["client auth"]},"status":{"conditions":[%s]}}`
	was := crdtest.Shaped(t, d, fmt.Sprintf(body, `{"type":"Failed","status":"True","lastTransitionTime":"`+at+`"}`))
	now := crdtest.Shaped(t, d, fmt.Sprintf(body, `{"type":"A","status":"True","lastUpdateTime":"`+at+`","lastTransitionTime":"`+at+`"},{"type":"Failed","status":"True"},{"type":"B","status":"True"}`))
	d.Versions[0].Subresources["status"].Update.Prepare(t.Context(), now, was)
	conditions := now.Object["status"].(map[string]any)["conditions"].([]any)
	for i, want := range [][2]bool{{true, true}, {false, true}, {false, false}} {
		c := conditions[i].(map[string]any)
		if c["lastUpdateTime"] == nil || c["lastTransitionTime"] == nil || (c["lastUpdateTime"] == at) != want[0] || (c["lastTransitionTime"] == at) != want[1] {
			t.Errorf("condition %d: %v", i, c)
		}
	}
}
