package translate

import (
	"encoding/json"
	"reflect"
	"testing"
)

// renewed is an object of an older version, in JSON, as one of v1.
func renewed[V, H any](t *testing.T, renew func(*V) (*H, error), text string) string {
	t.Helper()
	in := new(V)
	if err := json.Unmarshal([]byte(text), in); err != nil {
		t.Fatal(err)
	}
	out, err := renew(in)
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(out)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// alike tells whether one object in JSON is another.
func alike(t *testing.T, got, want string) bool {
	t.Helper()
	var a, b any
	if err := json.Unmarshal([]byte(got), &a); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(want), &b); err != nil {
		t.Fatal(want, err)
	}
	return reflect.DeepEqual(a, b)
}

// What was stored at versions of long ago says the same at v1, where that has other words.
func TestWhatWasStoredLongAgo(t *testing.T) {
	const versionless = `"matchExpressions":[{"key":"pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match","operator":`
	const budget = `,"status":{"disruptionsAllowed":2,"currentHealthy":3,"desiredHealthy":1,"expectedPods":3}}`
	const shares = `"annotations":{"flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares":""}`
	role := func(more string) string { return `{"metadata":{"name":"r"}` + more + `}` }
	const rules = `,"rules":[{"verbs":["get"],"apiGroups":["g"],"resources":["r"],"resourceNames":["n"],"nonResourceURLs":["/u"]}]`
	const ref = `,"roleRef":{"apiGroup":"g","kind":"k","name":"n"}`
	for _, c := range []struct {
		was, is string
		renew   func(t *testing.T, text string) string
	}{
		{`{"metadata":{"name":"b"},"spec":{"minAvailable":1,"selector":{"matchLabels":{"a":"b"}},"unhealthyPodEvictionPolicy":"AlwaysAllow"}` + budget, `{"metadata":{"name":"b"},"spec":{"minAvailable":1,"selector":{"matchLabels":{"a":"b"}},"unhealthyPodEvictionPolicy":"AlwaysAllow"}` + budget, of(DisruptionBudget)},
		{`{"metadata":{},"spec":{"maxUnavailable":"5%","selector":{}}` + budget, `{"metadata":{},"spec":{"maxUnavailable":"5%","selector":{` + versionless + `"Exists"}]}}` + budget, of(DisruptionBudget)},
		{`{"metadata":{},"spec":{"selector":{` + versionless + `"DoesNotExist"}]}}` + budget, `{"metadata":{},"spec":{"selector":{}}` + budget, of(DisruptionBudget)},
		{`{"metadata":{},"spec":{}` + budget, `{"metadata":{},"spec":{}` + budget, of(DisruptionBudget)},
		{`{"metadata":{},"spec":{"type":"Limited","limited":{"limitResponse":{"type":"Reject"}}}}`, `{"metadata":{},"spec":{"type":"Limited","limited":{"nominalConcurrencyShares":30,"limitResponse":{"type":"Reject"}}},"status":{}}`, of(PriorityLevel)},
		{`{"metadata":{},"spec":{"type":"Limited","limited":{"nominalConcurrencyShares":0,"limitResponse":{"type":"Reject"}}}}`, `{"metadata":{},"spec":{"type":"Limited","limited":{"nominalConcurrencyShares":30,"limitResponse":{"type":"Reject"}}},"status":{}}`, of(PriorityLevel)},
		{`{"metadata":{` + shares + `},"spec":{"type":"Limited","limited":{"nominalConcurrencyShares":0,"limitResponse":{"type":"Reject"}}}}`, `{"metadata":{},"spec":{"type":"Limited","limited":{"nominalConcurrencyShares":0,"limitResponse":{"type":"Reject"}}},"status":{}}`, of(PriorityLevel)},
		{`{"metadata":{},"spec":{"type":"Limited","limited":{"nominalConcurrencyShares":7,"limitResponse":{"type":"Reject"}}}}`, `{"metadata":{},"spec":{"type":"Limited","limited":{"nominalConcurrencyShares":7,"limitResponse":{"type":"Reject"}}},"status":{}}`, of(PriorityLevel)},
		{`{"metadata":{},"spec":{"type":"Exempt"}}`, `{"metadata":{},"spec":{"type":"Exempt"},"status":{}}`, of(PriorityLevel)},
		{role(rules + `,"aggregationRule":{"clusterRoleSelectors":[{"matchLabels":{"a":"b"}}]}`), role(rules + `,"aggregationRule":{"clusterRoleSelectors":[{"matchLabels":{"a":"b"}}]}`), of(ClusterRole)},
		{role(rules), role(rules), of(Role)},
		{role(`,"subjects":[{"kind":"User","name":"*"},{"kind":"User","name":"u"},{"kind":"Group","name":"*"},{"kind":"ServiceAccount","name":"*","namespace":"n","apiVersion":"v1"}]` + ref), role(`,"subjects":[{"kind":"Group","apiGroup":"rbac.authorization.k8s.io","name":"system:authenticated"},{"kind":"User","apiGroup":"rbac.authorization.k8s.io","name":"u"},{"kind":"Group","apiGroup":"rbac.authorization.k8s.io","name":"*"},{"kind":"ServiceAccount","name":"*","namespace":"n"}]` + ref), of(ClusterRoleBinding)},
		{role(`,"subjects":[{"kind":"X","apiVersion":"x.y/v1","name":"z"},{"kind":"X","apiVersion":"a/b/c","name":"z"}]` + ref), role(`,"subjects":[{"kind":"X","apiGroup":"x.y","name":"z"},{"kind":"X","name":"z"}]` + ref), of(RoleBinding)},
		{`{"metadata":{},"spec":{"runtimeHandler":"h","overhead":{"podFixed":{"cpu":"1"}},"scheduling":{"nodeSelector":{"a":"b"},"tolerations":[{"key":"k"}]}}}`, `{"metadata":{},"handler":"h","overhead":{"podFixed":{"cpu":"1"}},"scheduling":{"nodeSelector":{"a":"b"},"tolerations":[{"key":"k"}]}}`, of(RuntimeClass)},
		{`{"metadata":{},"spec":{"runtimeHandler":"h"}}`, `{"metadata":{},"handler":"h"}`, of(RuntimeClass)},
	} {
		if got := c.renew(t, c.was); !alike(t, got, c.is) {
			t.Errorf("%s is\n%s, want\n%s", c.was, got, c.is)
		}
	}
}

// of is renewed by one way.
func of[V, H any](renew func(*V) (*H, error)) func(*testing.T, string) string {
	return func(t *testing.T, text string) string { t.Helper(); return renewed(t, renew, text) }
}

// An ingress of long ago names services in one field, and paths without a type.
func TestIngressesOfLongAgo(t *testing.T) {
	for spec, want := range map[string]string{
		`{"backend":{"serviceName":"s","servicePort":"web"},"ingressClassName":"c"}`:                               `{"defaultBackend":{"service":{"name":"s","port":{"name":"web"}}},"ingressClassName":"c"}`,
		`{"backend":{"servicePort":80}}`:                                                                           `{"defaultBackend":{"service":{"name":"","port":{"number":80}}}}`,
		`{"backend":{"serviceName":"s"}}`:                                                                          `{"defaultBackend":{"service":{"name":"s","port":{}}}}`,
		`{"backend":{"resource":{"apiGroup":"g","kind":"K","name":"n"}},"tls":[{"hosts":["h"],"secretName":"s"}]}`: `{"defaultBackend":{"resource":{"apiGroup":"g","kind":"K","name":"n"}},"tls":[{"hosts":["h"],"secretName":"s"}]}`,
		`{"rules":[{"host":"h"},{"http":{"paths":[{"path":"/p","backend":{"serviceName":"s","servicePort":80}},{"pathType":"Exact","backend":{"serviceName":"s","servicePort":80}}]}}]}`: `{"rules":[{"host":"h"},{"http":{"paths":[{"path":"/p","pathType":"ImplementationSpecific","backend":{"service":{"name":"s","port":{"number":80}}}},{"pathType":"Exact","backend":{"service":{"name":"s","port":{"number":80}}}}]}}]}`,
		`{}`: `{}`,
	} {
		const balancer = `,"status":{"loadBalancer":{"ingress":[{"ip":"192.0.2.1","hostname":"h","ports":[{"port":80,"protocol":"TCP","error":"e"}]},{"ip":"192.0.2.2"}]}}}`
		if got := renewed(t, Ingress, `{"metadata":{"name":"i"},"spec":`+spec+balancer); !alike(t, got, `{"metadata":{"name":"i"},"spec":`+want+balancer) {
			t.Errorf("%s is %s", spec, got)
		}
	}
}

// What the topology of an endpoint says that v1 has fields for is in those.
func TestEndpointsOfLongAgo(t *testing.T) {
	for was, is := range map[string]string{
		`{"addresses":["192.0.2.1"]}`: `{"addresses":["192.0.2.1"],"conditions":{}}`,
		`{"addresses":["a"],"conditions":{"ready":true,"serving":false,"terminating":true},"hostname":"h","targetRef":{"kind":"Pod","name":"p"}}`: `{"addresses":["a"],"conditions":{"ready":true,"serving":false,"terminating":true},"hostname":"h","targetRef":{"kind":"Pod","name":"p"}}`,
		`{"addresses":["a"],"nodeName":"m","topology":{"topology.kubernetes.io/zone":"z","kubernetes.io/hostname":"m"}}`:                          `{"addresses":["a"],"conditions":{},"nodeName":"m","zone":"z"}`,
		`{"addresses":["a"],"nodeName":"m","topology":{"kubernetes.io/hostname":"n","x":"y"}}`:                                                    `{"addresses":["a"],"conditions":{},"nodeName":"m","deprecatedTopology":{"kubernetes.io/hostname":"n","x":"y"}}`,
		`{"addresses":["a"],"topology":{"kubernetes.io/hostname":"n"}}`:                                                                           `{"addresses":["a"],"conditions":{},"deprecatedTopology":{"kubernetes.io/hostname":"n"}}`,
		`{"addresses":["a"],"nodeName":"m","topology":{"x":"y"}}`:                                                                                 `{"addresses":["a"],"conditions":{},"nodeName":"m","deprecatedTopology":{"x":"y"}}`,
		`{"addresses":["a"],"hints":{"forZones":[{"name":"z"}],"forNodes":[{"name":"m"}]}}`:                                                       `{"addresses":["a"],"conditions":{},"hints":{"forZones":[{"name":"z"}],"forNodes":[{"name":"m"}]}}`,
	} {
		const ports = `],"ports":[{"name":"p","protocol":"TCP","port":80,"appProtocol":"x"}]}`
		if got := renewed(t, EndpointSlice, `{"metadata":{},"addressType":"IPv4","endpoints":[`+was+ports); !alike(t, got, `{"metadata":{},"addressType":"IPv4","endpoints":[`+is+ports) {
			t.Errorf("%s is %s", was, got)
		}
	}
}

// A behavior says of one direction what it says, and nothing of the other.
func TestBehaviorOfOneDirection(t *testing.T) {
	in := read2(t, `{spec: {behavior: {scaleUp: {stabilizationWindowSeconds: 5}}}}`)
	same(t, back(t, there(t, in)).Spec.Behavior, in.Spec.Behavior)
	in = read2(t, `{spec: {behavior: {scaleDown: {selectPolicy: Min}}}}`)
	same(t, back(t, there(t, in)).Spec.Behavior, in.Spec.Behavior)
}
