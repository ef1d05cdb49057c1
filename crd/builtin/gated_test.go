package builtin

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/crd/crdtest"
)

// Fields behind gates that are off, and those that were given up, are dropped, unless the
// object has them already.
func TestFieldsOfGatesThatAreOff(t *testing.T) {
	const (
		group, claims = `"schedulingGroup":{"podGroupName":"g"}`, `"nodeAllocatableResourceClaimStatuses":[{"resourceClaimName":"c","containers":["c"],"resources":{"cpu":"1"}}]`
		bare, source  = `"containers":[{"name":"c","image":"i"}]`, `"configSource":{"configMap":{"namespace":"n","name":"m","kubeletConfigKey":"k"}}`
		template      = `{"metadata":{"name":"x"},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{FIELD,` + bare + `}}}}`
	)
	defs := definitions(t)
	for _, c := range []struct{ kind, subresource, body, field string }{
		{"pod", "", `{"metadata":{"name":"x"},"spec":{FIELD,` + bare + `}}`, group},
		{"deployment", "", template, group},
		{"statefulset", "", template, group},
		{"pod", "status", `{"metadata":{"name":"x"},"spec":{` + bare + `},"status":{FIELD,"phase":"Running"}}`, claims},
		{"csidriver", "", `{"metadata":{"name":"x"},"spec":{FIELD,"podInfoOnMount":true}}`, `"preventPodSchedulingIfMissing":true`},
		{"node", "", `{"metadata":{"name":"x"},"spec":{FIELD,"podCIDR":"10.0.0.0/24"}}`, source},
		{"node", "status", `{"metadata":{"name":"x"},"status":{FIELD,"phase":"Running"}}`, `"config":{"error":"e"}`},
	} {
		with, without := strings.Replace(c.body, "FIELD", c.field, 1), strings.Replace(c.body, "FIELD,", "", 1)
		d := defs[c.kind]
		has := func(was, now string) bool {
			obj, strategy := crdtest.Shaped(t, d, now), d.Versions[0].Strategy
			if was == "" {
				strategy.Prepare(t.Context(), obj, nil)
			} else {
				if c.subresource != "" {
					strategy = d.Versions[0].Subresources[c.subresource].Update
				}
				strategy.Prepare(t.Context(), obj, crdtest.Shaped(t, d, was))
			}
			text, err := json.Marshal(obj.Object)
			if err != nil {
				t.Fatal(err)
			}
			name, _, _ := strings.Cut(c.field, ":")
			return strings.Contains(string(text), name)
		}
		for _, w := range []struct {
			was, now string
			has      bool
		}{{"", with, false}, {without, with, false}, {with, with, true}, {with, without, false}} {
			if got := has(w.was, w.now); got != w.has {
				t.Errorf("%s %s, %s after %q: %t", c.kind, c.subresource, w.now, w.was, got)
			}
		}
	}
}

// Endpoints say no more in the way of beta versions where they are, and stay on the nodes
// that they were on by it.
func TestTopologyOfEndpoints(t *testing.T) {
	d := definitions(t)["endpointslice"]
	slice := func(endpoints string) string {
		return `{"metadata":{"name":"x"},"addressType":"IPv4","endpoints":[` + endpoints + `]}`
	}
	const (
		bare = `{"addresses":["10.0.0.1"],"conditions":{}}`
		onA  = `{"addresses":["10.0.0.1"],"conditions":{},"deprecatedTopology":{"kubernetes.io/hostname":"a"}}`
		onB  = `{"addresses":["10.0.0.2"],"conditions":{},"deprecatedTopology":{"kubernetes.io/hostname":"b"}}`
		odd  = `{"addresses":["10.0.0.1"],"conditions":{},"deprecatedTopology":{"kubernetes.io/hostname":"a b"}}`
		zone = `{"addresses":["10.0.0.1"],"conditions":{},"nodeName":"z","deprecatedTopology":{"kubernetes.io/hostname":"a"}}`
	)
	for _, c := range []struct{ was, now, want string }{
		{"", onA, bare},
		{bare, onA, bare},
		{onA, onA, onA},
		{onA, bare, bare},
		{onA, onA + "," + onB, `{"addresses":["10.0.0.1"],"conditions":{},"nodeName":"a"},{"addresses":["10.0.0.2"],"conditions":{}}`},
		{onA, zone, `{"addresses":["10.0.0.1"],"conditions":{},"nodeName":"z"}`},
		{odd, odd + "," + onB, bare + `,{"addresses":["10.0.0.2"],"conditions":{}}`},
	} {
		obj := crdtest.Shaped(t, d, slice(c.now))
		if c.was == "" {
			d.Versions[0].Strategy.Prepare(t.Context(), obj, nil)
		} else {
			d.Versions[0].Strategy.Prepare(t.Context(), obj, crdtest.Shaped(t, d, slice(c.was)))
		}
		want := crdtest.Shaped(t, d, slice(c.want)).Object["endpoints"]
		if got := obj.Object["endpoints"]; !reflect.DeepEqual(got, want) {
			t.Errorf("%s after %s: %v", c.now, c.was, got)
		}
	}
}
