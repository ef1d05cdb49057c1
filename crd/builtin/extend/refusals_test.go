package extend_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/crd/builtin/builtintest"
	"github.com/wasmgate/wasmgate/crd/crdtest"
)

// What the round-trip files of k8s.io/api showed to be accepted that kube-apiserver
// refuses. The messages are kube-apiserver 1.36's, whose order is not compared.
func TestWhatIsRefused(t *testing.T) {
	const (
		label     = `a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')`
		subdomain = `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`
		both      = `rules[0].nonResourceURLs: Invalid value: ["/a"]: rules cannot apply to both regular resources and non-resource URLs`
	)
	defs := builtintest.Definitions(t)
	for name, tc := range map[string]struct{ kind, body, want string }{
		"role of urls": {"role", `{"metadata":{"name":"x"},"rules":[{"verbs":["get"],"nonResourceURLs":["/a"]}]}`,
			`rules[0].nonResourceURLs: Invalid value: ["/a"]: namespaced rules cannot apply to non-resource URLs`},
		"role of all": {"role", `{"metadata":{"name":"x"},"rules":[{"verbs":["get"],"nonResourceURLs":["/a"],"resources":["pods"],"apiGroups":[""]}]}`,
			`[rules[0].nonResourceURLs: Invalid value: ["/a"]: namespaced rules cannot apply to non-resource URLs, ` + both + `]`},
		"cluster role of all": {"clusterrole", `{"metadata":{"name":"x"},"rules":[{"verbs":["get"],"nonResourceURLs":["/a"],"resourceNames":["b"]}]}`,
			both},
		"cluster role of urls": {"clusterrole", `{"metadata":{"name":"x"},"rules":[{"verbs":["get"],"nonResourceURLs":["/a"]}]}`,
			``},
		"driver": {"csidriver", `{"metadata":{"name":"x"},"spec":{"tokenRequests":[{"audience":"a","expirationSeconds":2}],"volumeLifecycleModes":["x"]}}`,
			`[spec.tokenRequests[0].expirationSeconds: Invalid value: 2: may not specify a duration less than 10 minutes, spec.volumeLifecycleModes: Unsupported value: "x": supported values: "Persistent", "Ephemeral"]`},
		"driver twice": {"csidriver", `{"metadata":{"name":"x"},"spec":{"tokenRequests":[{"audience":"a"},{"audience":"a"}],"nodeAllocatableUpdatePeriodSeconds":5}}`,
			`[spec.tokenRequests[1].audience: Duplicate value: "a", spec.nodeAllocatableUpdatePeriodSeconds: Invalid value: 5: must be greater than or equal to 10 seconds]`},
		"service families": {"service", `{"metadata":{"name":"x"},"spec":{"ports":[{"port":1}],"ipFamilies":["x"],"ipFamilyPolicy":"y"}}`,
			`[spec.ipFamilies[0]: Unsupported value: "x": supported values: "IPv4", "IPv6", spec.ipFamilyPolicy: Unsupported value: "y": supported values: "PreferDualStack", "RequireDualStack", "SingleStack"]`},
		"budget": {"poddisruptionbudget", `{"metadata":{"name":"x"},"spec":{"unhealthyPodEvictionPolicy":"x"}}`,
			`spec.unhealthyPodEvictionPolicy: Unsupported value: "x": supported values: "AlwaysAllow", "IfHealthyBudget"`},
		"address of nobody": {"ipaddress", `{"metadata":{"name":"1.2.3.4"},"spec":{"parentRef":{"group":"A_","resource":"B_/c","name":"C/","namespace":"D_%"}}}`,
			`[spec.parentRef.group: Invalid value: "A_": ` + subdomain + `, spec.parentRef.resource: Invalid value: "B_/c": may not contain '/', spec.parentRef.name: Invalid value: "C/": may not contain '/', spec.parentRef.namespace: Invalid value: "D_%": may not contain '%']`},
		"claim": {"persistentvolumeclaim", `{"metadata":{"name":"x"},"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1"}},"volumeAttributesClassName":"A_"}}`,
			`spec.volumeAttributesClassName: Invalid value: "A_": ` + subdomain},
		"endpoints": {"endpoints", `{"metadata":{"name":"x"},"subsets":[{"addresses":[{"ip":"1.2.3.4","hostname":"A_","nodeName":"B_"}],"ports":[{"port":1}]}]}`,
			`[subsets[0].addresses[0].hostname: Invalid value: "A_": ` + label + `, subsets[0].addresses[0].nodeName: Invalid value: "B_": ` + subdomain + `]`},
		"slice": {"endpointslice", `{"metadata":{"name":"x"},"addressType":"IPv4","ports":[],"endpoints":[{"addresses":["1.2.3.4"],"hostname":"A_","nodeName":"B_","hints":{"forNodes":[{"name":"C_"}]}}]}`,
			`[endpoints[0].nodeName: Invalid value: "B_": ` + subdomain + `, endpoints[0].hostname: Invalid value: "A_": ` + label + `, endpoints[0].hints.forNodes[0].name: Invalid value: "C_": ` + subdomain + `]`},
		"quota of a scope":     {"resourcequota", `{"metadata":{"name":"x"},"spec":{"hard":{"pods":"1","limits.cpu":"1"},"scopes":["Terminating"]}}`, ``},
		"quota of another":     {"resourcequota", `{"metadata":{"name":"x"},"spec":{"hard":{"services":"1"},"scopes":["Terminating"]}}`, `spec.scopes: Invalid value: ["Terminating"]: unsupported scope applied to resource`},
		"quota of the best":    {"resourcequota", `{"metadata":{"name":"x"},"spec":{"hard":{"limits.cpu":"1"},"scopes":["BestEffort"]}}`, `spec.scopes: Invalid value: ["BestEffort"]: unsupported scope applied to resource`},
		"quota of volumes":     {"resourcequota", `{"metadata":{"name":"x"},"spec":{"hard":{"requests.storage":"1"},"scopes":["VolumeAttributesClass"]}}`, ``},
		"quota of no volumes":  {"resourcequota", `{"metadata":{"name":"x"},"spec":{"hard":{"limits.cpu":"1"},"scopes":["VolumeAttributesClass"]}}`, `spec.scopes: Invalid value: ["VolumeAttributesClass"]: unsupported scope applied to resource`},
		"quota of other kinds": {"resourcequota", `{"metadata":{"name":"x"},"spec":{"hard":{"count/widgets.example.com":"1"},"scopes":["Terminating"]}}`, ``},
		"pod with less than its containers": {"pod", `{"metadata":{"name":"x"},"spec":{"resources":{"requests":{"memory":"1"}},"containers":[{"name":"a","image":"i","resources":{"requests":{"cpu":"1","memory":"2"}}}]}}`,
			`spec.resources.requests[memory]: Invalid value: "1": must be greater than or equal to aggregate container requests of 2`},
		"pod with another resource than its containers": {"pod", `{"metadata":{"name":"x"},"spec":{"resources":{"requests":{"memory":"1"}},"containers":[{"name":"a","image":"i","resources":{"requests":{"cpu":"1"}}}]}}`, ``},
		"field with a subscript": {"pod", `{"metadata":{"name":"x"},"spec":{"containers":[{"name":"a","image":"i","env":[{"name":"n","valueFrom":{"fieldRef":{"fieldPath":"spec.nodeName['x']"}}}]}]}}`,
			`spec.containers[0].env[0].valueFrom.fieldRef.fieldPath: Invalid value: "spec.nodeName['x']": error converting fieldPath: field label does not support subscript: spec.nodeName['x']`},
		"ingress": {"ingress", `{"metadata":{"name":"x"},"spec":{"defaultBackend":{"service":{"name":"a","port":{"number":1}}},"tls":[{"hosts":["A_"],"secretName":"B_"}]}}`,
			`[spec.tls[0].hosts[0]: Invalid value: "A_": ` + subdomain + `, spec.tls[0].secretName: Invalid value: "B_": ` + subdomain + `]`},
	} {
		t.Run(name, func(t *testing.T) {
			err := crdtest.Creation(t, defs[tc.kind], tc.body)
			if got := crdtest.Message(err); !slices.Equal(said(got), said(tc.want)) || (err == nil) != (tc.want == "") {
				t.Errorf("got  %v\nwant %v", err, tc.want)
			}
		})
	}
}

// said are the parts of a message, in order.
func said(message string) []string {
	parts := strings.Split(strings.Trim(message, "[]"), ", ")
	slices.Sort(parts)
	return parts
}
