package extend_test

import (
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/crd/builtin/builtintest"
	"github.com/wasmgate/wasmgate/crd/crdtest"
)

// Long messages of apimachinery.
const (
	notQualified = `name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')`
	not1035      = `a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')`
	notSubdomain = `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`
	noParams     = ": compilation failed: ERROR: <input>:1:1: undeclared reference to 'params' (in container '')\n | params."
	mustExist    = `must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity`
)

// ruled is what a policy of pods matches.
const ruled = `"matchConstraints":{"resourceRules":[{"operations":["CREATE"],"apiGroups":[""],"apiVersions":["v1"],"resources":["pods"]}]}`

// judged are what is said of new policies, of bindings and of their like, in the words of
// kube-apiserver. None stands for an object that is fine.
var judged = []struct{ kind, spec, want string }{
	{"mutatingadmissionpolicy", ruled + `,"reinvocationPolicy":"Never","mutations":[{"patchType":"JSONPatch","jsonPatch":{"expression":"[JSONPatch{op: 'test', path: '/a', value: 1}]"}}]`, ""},
	{"mutatingadmissionpolicy", ruled + `,"reinvocationPolicy":"Never","mutations":[{"patchType":"ApplyConfiguration","applyConfiguration":{"expression":"Object{}"}}]`, ""},
	{"mutatingadmissionpolicy", ruled + `,"reinvocationPolicy":"Never"`, "spec.mutations: Required value: mutations must contain at least one item"},
	{"mutatingadmissionpolicy", ruled + `,"mutations":[{"patchType":"JSONPatch","jsonPatch":{"expression":"[]"}}]`, `[spec.mutations[0].jsonPatch.expression: Invalid value: "[]": must evaluate to list(JSONPatch) but got list(dyn), spec.reinvocationPolicy: Required value]`},
	{"mutatingadmissionpolicy", ruled + `,"reinvocationPolicy":"Odd","mutations":[{"patchType":"JSONPatch","jsonPatch":{"expression":" "},"applyConfiguration":{"expression":"a"}},{"patchType":"JSONPatch"},{"patchType":"ApplyConfiguration"},{"patchType":"ApplyConfiguration","jsonPatch":{"expression":"[]"},"applyConfiguration":{"expression":""}},{"patchType":"Odd"},{}]`, `[spec.mutations[0].jsonPatch.expression: Required value, spec.mutations[0].applyConfiguration: Invalid value: "{applyConfiguration}": must not be specified when patchType is JSONPatch, spec.mutations[1].jsonPatch: Required value: must be specified when patchType is JSONPatch, spec.mutations[2].applyConfiguration: Required value: must be specified when patchType is ApplyConfiguration, spec.mutations[3].applyConfiguration.expression: Required value, spec.mutations[3].jsonPatch: Invalid value: "{jsonPatch}": must not be specified when patchType is ApplyConfiguration, spec.mutations[4].patchType: Unsupported value: "Odd": supported values: "ApplyConfiguration", "JSONPatch", spec.mutations[5].patchType: Required value, spec.reinvocationPolicy: Unsupported value: "Odd": supported values: "IfNeeded", "Never"]`},
	{"mutatingadmissionpolicy", ruled + `,"reinvocationPolicy":"IfNeeded","mutations":[{"patchType":"JSONPatch","jsonPatch":{"expression":"1"}},{"patchType":"ApplyConfiguration","applyConfiguration":{"expression":"params.x"}}]`, `[spec.mutations[0].jsonPatch.expression: Invalid value: "1": must evaluate to list(JSONPatch) but got int, spec.mutations[1].applyConfiguration.expression: Invalid value: "params.x"` + noParams + "x\n | ^]"},
	{"mutatingadmissionpolicy", ruled + `,"reinvocationPolicy":"IfNeeded","paramKind":{"apiVersion":"v1","kind":"ConfigMap"},"variables":[{"name":"v","expression":"params.data.x"}],"mutations":[{"patchType":"JSONPatch","jsonPatch":{"expression":"[JSONPatch{op: 'test', path: '/a', value: variables.v}]"}}]`, ""},
	{"mutatingadmissionpolicy", `"matchConstraints":{"resourceRules":[{"operations":["CREATE","DELETE"],"apiGroups":[""],"apiVersions":["v1"],"resources":["pods"]}]},"reinvocationPolicy":"Never","mutations":[{"patchType":"JSONPatch","jsonPatch":{"expression":"[]"}}]`, `[spec.matchConstraints.resourceRules.operations: Unsupported value: "DELETE": supported values: "*", "CONNECT", "CREATE", "UPDATE", spec.mutations[0].jsonPatch.expression: Invalid value: "[]": must evaluate to list(JSONPatch) but got list(dyn)]`},
	{"mutatingadmissionpolicy", `"matchConstraints":{},"reinvocationPolicy":"Never","mutations":[{"patchType":"JSONPatch","jsonPatch":{"expression":"[]"}}]`, `[spec.matchConstraints.resourceRules: Required value, spec.mutations[0].jsonPatch.expression: Invalid value: "[]": must evaluate to list(JSONPatch) but got list(dyn)]`},
	{"validatingadmissionpolicy", ruled, "[spec.validations: Required value: validations or auditAnnotations must contain at least one item, spec.auditAnnotations: Required value: validations or auditAnnotations must contain at least one item]"},
	{"validatingadmissionpolicy", `"validations":[{"expression":"true"}]`, "spec.matchConstraints: Required value"},
	{"validatingadmissionpolicy", ruled + `,"validations":[{"expression":"authorizer.path('/a').check('get').allowed()","messageExpression":"'a'","message":"b","reason":"Invalid"}]`, ""},
	{"validatingadmissionpolicy", ruled + `,"validations":[{"expression":" ","messageExpression":" ","message":" ","reason":"Odd"},{"expression":"1","messageExpression":"1","message":"a\nb"},{"expression":"params.a","messageExpression":"params.a"}]`, `[spec.validations[0].expression: Required value: expression is not specified, spec.validations[0].messageExpression: Invalid value: " ": must be non-empty if specified, spec.validations[0].message: Invalid value: " ": must be non-empty if specified, spec.validations[0].reason: Unsupported value: "Odd": supported values: "Forbidden", "Invalid", "RequestEntityTooLarge", spec.validations[1].expression: Invalid value: "1": must evaluate to bool but got int, spec.validations[1].messageExpression: Invalid value: "1": must evaluate to string but got int, spec.validations[1].message: Invalid value: "a\nb": must not contain line breaks, spec.validations[2].expression: Invalid value: "params.a"` + noParams + "a\n | ^, spec.validations[2].messageExpression: Invalid value: \"params.a\"" + noParams + "a\n | ^]"},
	{"validatingadmissionpolicy", ruled + `,"paramKind":{"apiVersion":"a.b/v1","kind":"Widget"},"validations":[{"expression":"params.a","messageExpression":"string(params.a)"}]`, `spec.validations[0].expression: Invalid value: "params.a": must evaluate to bool but got dyn`},
	{"validatingadmissionpolicy", ruled + `,"auditAnnotations":[{"key":"a","valueExpression":"'x'"},{"key":"a","valueExpression":" "},{"key":"b c","valueExpression":"1"},{"key":"","valueExpression":"'a'"}]`, `[spec.auditAnnotations[1].valueExpression: Required value: valueExpression is not specified, spec.auditAnnotations[1].key: Duplicate value: "a", spec.auditAnnotations[2].key: Invalid value: "x/b c": ` + notQualified + `, spec.auditAnnotations[2].valueExpression: Invalid value: "1": must evaluate to one of [string null_type] but got int, spec.auditAnnotations[3].key: Invalid value: "x/": name part must be non-empty, spec.auditAnnotations[3].key: Invalid value: "x/": ` + notQualified + "]"},
	{"validatingadmissionpolicy", ruled + `,"auditAnnotations":[{"key":"a","valueExpression":"'` + strings.Repeat("x", 5118) + `'"}]`, ""},
	{"validatingadmissionpolicy", ruled + `,"auditAnnotations":[{"key":"a","valueExpression":"'` + strings.Repeat("x", 5119) + `'"}]`, "spec.auditAnnotations[0].valueExpression: Required value: must not exceed 5120 bytes in length"},
	{"validatingadmissionpolicy", ruled + `,"auditAnnotations":[` + annotated(20) + `]`, ""},
	{"validatingadmissionpolicy", ruled + `,"auditAnnotations":[` + annotated(21) + `]`, `spec.auditAnnotations: Invalid value: [{"Key":"ka","ValueExpression":"'a'"},{"Key":"kb","ValueExpression":"'a'"},{"Key":"kc","ValueExpression":"'a'"},{"Key":"kd","ValueExpression":"'a'"},{"Key":"ke","ValueExpression":"'a'"},{"Key":"kf","ValueExpression":"'a'"},{"Key":"kg","ValueExpression":"'a'"},{"Key":"kh","ValueExpression":"'a'"},{"Key":"ki","ValueExpression":"'a'"},{"Key":"kj","ValueExpression":"'a'"},{"Key":"kk","ValueExpression":"'a'"},{"Key":"kl","ValueExpression":"'a'"},{"Key":"km","ValueExpression":"'a'"},{"Key":"kn","ValueExpression":"'a'"},{"Key":"ko","ValueExpression":"'a'"},{"Key":"kp","ValueExpression":"'a'"},{"Key":"kq","ValueExpression":"'a'"},{"Key":"kr","ValueExpression":"'a'"},{"Key":"ks","ValueExpression":"'a'"},{"Key":"kt","ValueExpression":"'a'"},{"Key":"ku","ValueExpression":"'a'"}]: must not have more than 20 auditAnnotations`},
	{"validatingadmissionpolicy", ruled + `,"variables":[{"name":"a","expression":"1"},{"name":"if","expression":"2"},{"name":" ","expression":" "},{"name":"b-c","expression":"variables.a"}],"validations":[{"expression":"variables.a == 1"}]`, `[spec.variables[1].name: Invalid value: "if": must be a valid CEL identifier, spec.variables[2].name: Required value: name is not specified, spec.variables[2].expression: Required value: expression is not specified, spec.variables[3].name: Invalid value: "b-c": must be a valid CEL identifier]`},
	{"validatingadmissionpolicy", ruled + `,"paramKind":{},"validations":[{"expression":"true"}]`, "[spec.paramKind.apiVersion: Required value, spec.paramKind.kind: Required value]"},
	{"validatingadmissionpolicy", ruled + `,"paramKind":{"apiVersion":"a/b/c","kind":"a b"},"validations":[{"expression":"true"}]`, `[spec.paramKind.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c, spec.paramKind.kind: Invalid value: "a b": may have mixed case, but should otherwise match: ` + not1035 + "]"},
	{"validatingadmissionpolicy", ruled + `,"paramKind":{"apiVersion":"A/V1","kind":"Widget"},"validations":[{"expression":"true"}]`, `[spec.paramKind.apiVersion: Invalid value: "A": ` + notSubdomain + `, spec.paramKind.apiVersion: Invalid value: "V1": ` + not1035 + "]"},
	{"validatingadmissionpolicy", ruled + `,"paramKind":{"apiVersion":"a/","kind":"Widget"},"validations":[{"expression":"true"}]`, `spec.paramKind.apiVersion: Invalid value: "a/": version must be specified`},
	{"validatingadmissionpolicy", `"matchConstraints":{"matchPolicy":"Odd","namespaceSelector":{"matchLabels":{"a b":""}},"objectSelector":{"matchLabels":{"c d":""}},"resourceRules":[{"resourceNames":["a","a/b","a"],"operations":["CREATE"],"apiGroups":[""],"apiVersions":["v1"],"resources":["pods"]}],"excludeResourceRules":[{"operations":["CREATE"],"apiGroups":[""],"apiVersions":["v1"]}]},"validations":[{"expression":"true"}]`, `[spec.matchConstraints.matchPolicy: Unsupported value: "Odd": supported values: "Equivalent", "Exact", spec.matchConstraints.namespaceSelector.matchLabels: Invalid value: "a b": ` + notQualified + `, spec.matchConstraints.objectSelector.matchLabels: Invalid value: "c d": ` + notQualified + `, spec.matchConstraints.resourceRules[0].resourceNames[1]: Invalid value: "a/b": may not contain '/', spec.matchConstraints.resourceRules[0].resourceNames[2]: Duplicate value: "a", spec.matchConstraints.excludeResourceRules[0].resources: Required value]`},
	{"validatingadmissionpolicy", ruled + `,"matchConditions":[{"name":"a","expression":"params.a"}],"validations":[{"expression":"true"}]`, `spec.matchConditions[0].expression: Invalid value: "params.a"` + noParams + "a\n | ^"},
	{"validatingadmissionpolicybinding", `"policyName":"p","validationActions":["Deny","Audit"],"paramRef":{"name":"n","parameterNotFoundAction":"Deny"}`, ""},
	{"validatingadmissionpolicybinding", `"validationActions":[]`, "[spec.policyName: Required value, spec.validationActions: Required value: at least one validation action is required]"},
	{"validatingadmissionpolicybinding", `"policyName":"P","validationActions":["Deny","Warn","Odd","Deny"],"paramRef":{}`, `[spec.policyName: Invalid value: "P": ` + notSubdomain + `, spec.paramRef: Required value: one of name or selector must be specified, spec.paramRef.parameterNotFoundAction: Required value, spec.validationActions[2]: Unsupported value: "Odd": supported values: "Audit", "Deny", "Warn", spec.validationActions[3]: Duplicate value: "Deny", spec.validationActions: Invalid value: ["Deny","Warn","Odd","Deny"]: must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)]`},
	{"validatingadmissionpolicybinding", `"policyName":"p","validationActions":["Warn"],"paramRef":{"name":"a/b","selector":{"matchLabels":{"a b":""}},"parameterNotFoundAction":"Odd"}`, `[spec.paramRef.name: Invalid value: "a/b": may not contain '/', spec.paramRef.name: Forbidden: name and selector are mutually exclusive, spec.paramRef.selector.matchLabels: Invalid value: "a b": ` + notQualified + `, spec.paramRef.selector: Forbidden: name and selector are mutually exclusive, spec.paramRef.parameterNotFoundAction: Unsupported value: "Odd": supported values: "Deny", "Allow"]`},
	{"validatingadmissionpolicybinding", `"policyName":"p","validationActions":["Warn"],"paramRef":{"selector":{},"parameterNotFoundAction":""},"matchResources":{"resourceRules":[{"operations":["DELETE"],"apiGroups":[""],"apiVersions":["v1"],"resources":["pods"]}]}`, "spec.paramRef.parameterNotFoundAction: Required value"},
	{"mutatingadmissionpolicybinding", `"policyName":"p"`, ""},
	{"mutatingadmissionpolicybinding", `"policyName":"p","matchResources":{"resourceRules":[{"operations":["DELETE"],"apiGroups":[""],"apiVersions":["v1"],"resources":["pods"]}]}`, `spec.matchResources.resourceRules.operations: Unsupported value: "DELETE": supported values: "*", "CONNECT", "CREATE", "UPDATE"`},
	{"storageversionmigration", `"resource":{"group":"apps","resource":"deployments"}`, ""},
	{"storageversionmigration", `"resource":{"resource":"pods"}`, ""},
	{"storageversionmigration", `"resource":{"group":"A","resource":"P"}`, `[spec.resource.resource: Invalid value: "P": ` + not1035 + `, spec.resource.group: Invalid value: "A": ` + notSubdomain + "]"},
	{"storageversionmigration", `"resource":{"group":"a"}`, "spec.resource.resource: Required value: resource is required to be set"},
	{"resourcequota", `"hard":{"pods":"1"},"scopeSelector":{"matchExpressions":[{"scopeName":"PriorityClass","operator":"In"},{"scopeName":"PriorityClass","operator":"Exists","values":["a"]}]}`, "[spec.scopeSelector.matchExpressions.values: Required value: must be at least one value when `operator` is 'In' or 'NotIn' for scope selector, spec.scopeSelector.matchExpressions.values: Invalid value: [\"a\"]: must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector]"},
	{"resourcequota", `"hard":{"pods":"1"},"scopeSelector":{"matchExpressions":[{"scopeName":"PriorityClass","operator":"NotIn","values":["a"]},{"scopeName":"Terminating","operator":"DoesNotExist"},{"scopeName":"NotTerminating","operator":"Odd"}]}`, `[spec.scopeSelector.matchExpressions.operator: Invalid value: "DoesNotExist": ` + mustExist + `, spec.scopeSelector.matchExpressions.operator: Invalid value: "Odd": ` + mustExist + `, spec.scopeSelector.matchExpressions.operator: Invalid value: "Odd": not a valid selector operator, spec.scopeSelector.matchExpressions: Invalid value: null: conflicting scopes]`},
	{"resourcequota", `"hard":{"pods":"1"},"scopeSelector":{"matchExpressions":[{"scopeName":"PriorityClass","operator":"DoesNotExist"}]}`, ""},
	{"resourcequota", `"hard":{"pods":"1"},"scopes":["BestEffort","NotBestEffort"]`, `spec.scopes: Invalid value: ["BestEffort","NotBestEffort"]: conflicting scopes`},
	{"resourcequota", `"hard":{"pods":"1"},"scopes":["BestEffort","Terminating"]`, ""},
	{"apiservice", `"group":"example.com","version":"v1","groupPriorityMinimum":1,"versionPriority":1`, ""},
	{"apiservice", `"group":"example.com","version":"v2","groupPriorityMinimum":0,"versionPriority":0`, "[metadata.name: Invalid value: \"v1.example.com\": must be `spec.version+\".\"+spec.group`: \"v2.example.com\", spec.groupPriorityMinimum: Invalid value: 0: must be positive and less than 20000, spec.versionPriority: Invalid value: 0: must be positive and less than 1000]"},
}

// annotated are n audit annotations.
func annotated(n int) string {
	var all []string
	for i := range n {
		all = append(all, `{"key":"k`+string(rune('a'+i))+`","valueExpression":"'a'"}`)
	}
	return strings.Join(all, ",")
}

func TestWhatIsSaidOfNewObjects(t *testing.T) {
	defs := builtintest.Definitions(t)
	names := map[string]string{"apiservice": "v1.example.com"}
	for _, c := range judged {
		name := names[c.kind]
		if name == "" {
			name = "x"
		}
		said := []string{crdtest.Message(crdtest.Creation(t, defs[c.kind], `{"metadata":{"name":"`+name+`"},"spec":{`+c.spec+`}}`))}
		if got := strings.Join(said, "\n"); got != c.want {
			t.Errorf("%s %.200s:\n%s\nwant\n%s", c.kind, c.spec, got, c.want)
		}
	}
}
