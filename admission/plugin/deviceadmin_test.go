package plugin_test

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/admission/admissiontest"
	"github.com/wasmgate/wasmgate/admission/plugin"
	"github.com/wasmgate/wasmgate/gateway/resource"
)

// Who may make objects in a namespace must not reach devices that others use,
// unless the namespace's label says that it is for that.
func TestAdminAccessTakesALabel(t *testing.T) {
	const devices = `{"devices":{"requests":[
		{"name":"a","exactly":{"deviceClassName":"x"}},
		{"name":"b","exactly":{"deviceClassName":"x","adminAccess":true}},
		{"name":"c","exactly":{"deviceClassName":"x","adminAccess":true}}]}}`
	const claim, template = `{"metadata":{"name":"c"},"spec":` + devices + `}`, `{"metadata":{"name":"c"},"spec":{"spec":` + devices + `}}`
	const which = "spec.devices.requests[1].adminAccess"
	const needed = ": Forbidden: admin access to devices requires the `resource.kubernetes.io/admin-access: true` label on the containing namespace"
	w := newWorld(t)
	label := func(value string) {
		w.must(namespaces, "default", `{"metadata":{"name":"default","labels":{"resource.kubernetes.io/admin-access":"`+value+`"}}}`)
	}
	taken := func(gr schema.GroupResource, body, path string, others ...string) {
		t.Helper()
		_, refusal := w.create(gr, body, true)
		if path == "" && refusal != "" || path != "" && !strings.Contains(refusal, path+needed) {
			t.Errorf("%s %s: %q", gr.Resource, body, refusal)
		}
		for _, other := range others {
			if !strings.Contains(refusal, other) {
				t.Errorf("%s is not told of: %q", other, refusal)
			}
		}
	}
	taken(claims, claim, which)
	taken(templates, template, which)
	taken(claims, strings.Replace(claim, `"a"`, `"A"`, 1), which, "spec.devices.requests[0].name: Invalid value")
	taken(claims, strings.ReplaceAll(claim, "true", "false"), "")
	label("false")
	taken(claims, claim, which)
	w.must(claims, "", `{"metadata":{"name":"there"},"spec":{"devices":{"requests":[{"name":"a","exactly":{"deviceClassName":"x"}}]}}}`)
	allocate := func(more string) string {
		r := w.Catalog.Snapshot().Resource(claims)
		_, err := w.Verbs.Update(t.Context(), resource.Target{Resource: r, Version: r.Def.Version("v1"), Namespace: "default", Name: "there", Subresource: "status"},
			[]byte(`{"metadata":{"name":"there"},"status":{`+more+`"allocation":{"devices":{"results":[{"request":"a","driver":"d","pool":"p","device":"d","adminAccess":true}]}}}}`),
			resource.WriteOptions{Caller: resource.Component("test")})
		return fmt.Sprint(err)
	}
	if got := allocate(""); !strings.Contains(got, "status.allocation.devices.results[0].adminAccess"+needed) {
		t.Errorf("what is allocated: %s", got)
	}
	label("true")
	taken(claims, claim, "")
	taken(templates, template, "")
	if got := allocate(""); got != "<nil>" {
		t.Errorf("what is allocated: %s", got)
	}
	label("false")
	if got := allocate(`"devices":[{"driver":"d","pool":"p","device":"d"}],`); got != "<nil>" { // it has it
		t.Errorf("what was allocated: %s", got)
	}
}

// What is deleted asks for nothing, and has no new state to look at.
func TestDeletionsOfClaimsAreNotLookedAt(t *testing.T) {
	a := &admissiontest.Attributes{Objects: &admissiontest.Objects{}, Operation: admission.Delete, Resource: claims.WithVersion("v1"), Namespace: "default", Name: "c"}
	if err := (plugin.DeviceAdmin{}).Mutate(t.Context(), a); err != nil {
		t.Error(err)
	}
}
