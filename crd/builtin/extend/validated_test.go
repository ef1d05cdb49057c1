package extend_test

import (
	"encoding/json"
	"maps"
	"testing"

	"github.com/wasmgate/wasmgate/crd/builtin/builtintest"
	"github.com/wasmgate/wasmgate/crd/crdtest"
)

// What the rules of a webhook may name, in the words of kube-apiserver 1.36.3: no item may
// cover another.
func TestRulesOfWebhooks(t *testing.T) {
	d := builtintest.Definitions(t)["validatingwebhookconfiguration"]
	for _, c := range []struct{ rule, want string }{
		{`"operations":["*","CREATE"]`, `webhooks[0].rules[0].operations: Invalid value: ["*","CREATE"]: if '*' is present, must not specify other operations`},
		{`"operations":["*"]`, ""},
		{`"operations":[]`, `webhooks[0].rules[0].operations: Required value`},
		{`"operations":["Odd"]`, `webhooks[0].rules[0].operations[0]: Unsupported value: "Odd": supported values: "*", "CONNECT", "CREATE", "DELETE", "UPDATE"`},
		{`"apiGroups":["*","a"]`, `webhooks[0].rules[0].apiGroups: Invalid value: ["*","a"]: if '*' is present, must not specify other API groups`},
		{`"apiVersions":["v1","*",""]`, `[webhooks[0].rules[0].apiVersions: Invalid value: ["v1","*",""]: if '*' is present, must not specify other API versions, webhooks[0].rules[0].apiVersions[2]: Required value]`},
		{`"apiGroups":[],"apiVersions":[]`, `[webhooks[0].rules[0].apiGroups: Required value, webhooks[0].rules[0].apiVersions: Required value]`},
		{`"apiGroups":["*"],"apiVersions":["*"]`, ""},
		{`"resources":[]`, `webhooks[0].rules[0].resources: Required value`},
		{`"resources":["","pods"]`, `webhooks[0].rules[0].resources[0]: Required value`},
		{`"resources":["pods/*","pods/status"]`, `webhooks[0].rules[0].resources[1]: Invalid value: "pods/status": if 'pods/*' is present, must not specify pods/status`},
		{`"resources":["*/status","pods/status"]`, `webhooks[0].rules[0].resources[1]: Invalid value: "pods/status": if '*/status' is present, must not specify pods/status`},
		{`"resources":["pods/status","pods/*"]`, ""},
		{`"resources":["*/*","pods"]`, `webhooks[0].rules[0].resources: Invalid value: ["*/*","pods"]: if '*/*' is present, must not specify other resources`},
		{`"resources":["*/*"]`, ""},
		{`"resources":["*","pods"]`, `webhooks[0].rules[0].resources: Invalid value: ["*","pods"]: if '*' is present, must not specify other resources without subresources`},
		{`"resources":["pods","*"]`, ""},
		{`"resources":["*","pods/status"]`, ""},
		{`"resources":["*"]`, ""},
		{`"resources":["pods/*","*/status","pods","a/b"]`, ""},
		{`"scope":"Odd"`, `webhooks[0].rules[0].scope: Unsupported value: "Odd": supported values: "*", "Cluster", "Namespaced"`},
		{`"scope":"Cluster"`, ""},
	} {
		rule := map[string]any{"operations": []any{"CREATE"}, "apiGroups": []any{""}, "apiVersions": []any{"v1"}, "resources": []any{"pods"}}
		maps.Copy(rule, crdtest.Parse(t, []byte("{"+c.rule+"}")))
		text, err := json.Marshal(rule)
		if err != nil {
			t.Fatal(err)
		}
		err = crdtest.Creation(t, d, `{"metadata":{"name":"x"},"webhooks":[{"name":"a.example.com","clientConfig":{"url":"https://a.example.com"},"admissionReviewVersions":["v1"],"sideEffects":"None","rules":[`+string(text)+`]}]}`)
		if got := crdtest.Message(err); got != c.want || (err == nil) != (c.want == "") {
			t.Errorf("%s: %v (%v)\nwant %s", c.rule, got, err, c.want)
		}
	}
}

// What a quota may limit and for which objects, in the words of kube-apiserver 1.36.3.
func TestWhatQuotasLimit(t *testing.T) {
	d := builtintest.Definitions(t)["resourcequota"]
	for _, c := range []struct{ spec, want string }{
		{`"hard":{"services":"1"},"scopeSelector":{"matchExpressions":[{"scopeName":"PriorityClass","operator":"Exists"}]}`, `spec.scopeSelector.matchExpressions: Invalid value: {"MatchExpressions":[{"ScopeName":"PriorityClass","Operator":"Exists","Values":null}]}: unsupported scope applied to resource`},
		{`"hard":{"services":"1"},"scopes":["BestEffort"]`, `spec.scopes: Invalid value: ["BestEffort"]: unsupported scope applied to resource`},
		{`"hard":{"cpu":"1"},"scopes":["BestEffort","VolumeAttributesClass"]`, `spec.scopes: Invalid value: ["BestEffort","VolumeAttributesClass"]: unsupported scope applied to resource`},
		{`"hard":{"pods":"1","requests.storage":"1"},"scopes":["NotBestEffort"]`, `spec.scopes: Invalid value: ["NotBestEffort"]: unsupported scope applied to resource`},
		{`"hard":{"persistentvolumeclaims":"1","requests.storage":"1"},"scopes":["VolumeAttributesClass"]`, ""},
		{`"hard":{"persistentvolumeclaims":"1"},"scopes":["Odd"]`, `spec.scopes: Invalid value: ["Odd"]: unsupported scope`},
		{`"hard":{"a.b/c":"1"},"scopes":["BestEffort"]`, ""},
		{`"hard":{"pods":"1"},"scopeSelector":{"matchExpressions":[{"scopeName":"Terminating","operator":"Exists"},{"scopeName":"NotTerminating","operator":"Exists"}]}`, `spec.scopeSelector.matchExpressions: Invalid value: null: conflicting scopes`},
		{`"hard":{"pods":"1.5","count/a.b":"1500m","storage":"1","x":"1","a b":"1","hugepages-2Mi":"1","requests.hugepages-2Mi":"1","cpu":"-1","a.kubernetes.io/x":"1500m","secrets":"-1"}`, `[spec.hard[a b]: Invalid value: "a b": ` + notQualified + `, spec.hard[a b]: Invalid value: "a b": must be a standard resource for quota, spec.hard[count/a.b]: Invalid value: "1500m": must be an integer, spec.hard[cpu]: Invalid value: "-1": must be greater than or equal to 0, spec.hard[pods]: Invalid value: "1500m": must be an integer, spec.hard[secrets]: Invalid value: "-1": must be greater than or equal to 0, spec.hard[storage]: Invalid value: "storage": must be a standard resource for quota, spec.hard[x]: Invalid value: "x": must be a standard resource type or fully qualified, spec.hard[x]: Invalid value: "x": must be a standard resource for quota]`},
		{`"hard":{"services":"1","secrets":"1"},"scopeSelector":{"matchExpressions":[{"scopeName":"PriorityClass","operator":"In","values":["a"]},{"scopeName":"Odd","operator":"Exists"}]}`, `[spec.scopeSelector.matchExpressions: Invalid value: {"MatchExpressions":[{"ScopeName":"PriorityClass","Operator":"In","Values":["a"]},{"ScopeName":"Odd","Operator":"Exists","Values":null}]}: unsupported scope applied to resource, spec.scopeSelector.matchExpressions.scopeName: Invalid value: "Odd": unsupported scope]`},
		{`"hard":{"services":"1"},"scopes":["Terminating"],"scopeSelector":{"matchExpressions":[{"scopeName":"Terminating","operator":"Exists"},{"scopeName":"NotTerminating","operator":"Exists"}]}`, `[spec.scopes: Invalid value: ["Terminating"]: unsupported scope applied to resource, spec.scopeSelector.matchExpressions: Invalid value: {"MatchExpressions":[{"ScopeName":"Terminating","Operator":"Exists","Values":null},{"ScopeName":"NotTerminating","Operator":"Exists","Values":null}]}: unsupported scope applied to resource, spec.scopeSelector.matchExpressions: Invalid value: ["Terminating"]: conflicting scopes]`},
		{`"hard":{"cpu":"1"},"scopes":["Terminating"],"scopeSelector":{"matchExpressions":[{"scopeName":"BestEffort","operator":"Exists"},{"scopeName":"NotBestEffort","operator":"In"}]}`, "[spec.scopeSelector.matchExpressions: Invalid value: {\"MatchExpressions\":[{\"ScopeName\":\"BestEffort\",\"Operator\":\"Exists\",\"Values\":null},{\"ScopeName\":\"NotBestEffort\",\"Operator\":\"In\",\"Values\":null}]}: unsupported scope applied to resource, spec.scopeSelector.matchExpressions.operator: Invalid value: \"In\": must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity, spec.scopeSelector.matchExpressions.values: Required value: must be at least one value when `operator` is 'In' or 'NotIn' for scope selector, spec.scopeSelector.matchExpressions: Invalid value: [\"Terminating\"]: conflicting scopes]"},
	} {
		err := crdtest.Creation(t, d, `{"metadata":{"name":"x"},"spec":{`+c.spec+`}}`)
		if got := crdtest.Message(err); got != c.want || (err == nil) != (c.want == "") {
			t.Errorf("%s: %v (%v)\nwant %s", c.spec, got, err, c.want)
		}
	}
}
