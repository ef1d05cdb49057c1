package e2e

import (
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wasmgate/wasmgate/plugins/plugintest"
	"github.com/wasmgate/wasmgate/test/harness"
)

// responds answers with a fixed response.
func responds(t *testing.T, response string) harness.Answer {
	return func(http.ResponseWriter, *http.Request, harness.Object) map[string]any { return parse(t, response) }
}

// What a webhook answers decides the request; the codes and messages are those
// of kube-apiserver, against which this test runs too.
func TestAnswersOfWebhooks_DRY02(t *testing.T) {
	a := newAdmitted(t)
	a.validating(a.hook("v"))
	a.mutating(a.hook("m"))
	status := func(code int, body string) harness.Answer {
		return func(w http.ResponseWriter, _ *http.Request, _ harness.Object) map[string]any {
			w.WriteHeader(code)
			_, _ = io.WriteString(w, body)
			return nil
		}
	}
	const patch = `"patch":"W10="` // []
	for _, c := range []struct {
		name, at string
		answer   harness.Answer
		code     int
		reason   metav1.StatusReason
		message  string
	}{
		{"allowed", "v", responds(t, `{"allowed":true}`), 201, "", ""},
		{"denied", "v", responds(t, `{"allowed":false}`), 400, "", `admission webhook "v.example.com" denied the request without explanation`},
		{"denied with a message", "v", responds(t, `{"allowed":false,"status":{"message":"no way","code":403,"reason":"Forbidden"}}`), 403, "Forbidden", `admission webhook "v.example.com" denied the request: no way`},
		{"denied with a reason", "m", responds(t, `{"allowed":false,"status":{"reason":"Gone","code":410}}`), 410, "Gone", `admission webhook "m.example.com" denied the request: Gone`},
		{"denied as if it were well", "m", responds(t, `{"allowed":false,"status":{"status":"Success","message":"x","code":200}}`), 400, "", `admission webhook "m.example.com" denied the request: x`},
		{"another uid", "v", responds(t, `{"allowed":true,"uid":"other"}`), 500, "InternalError", `Internal error occurred: failed calling webhook "v.example.com": received invalid webhook response: expected response.uid="`},
		{"a patch that validates", "v", responds(t, `{"allowed":true,"patchType":"JSONPatch",`+patch+`}`), 500, "InternalError", `Internal error occurred: failed calling webhook "v.example.com": received invalid webhook response: validating webhook may not return response.patch`},
		{"a type that validates", "v", responds(t, `{"allowed":true,"patchType":"JSONPatch"}`), 500, "InternalError", `Internal error occurred: failed calling webhook "v.example.com": received invalid webhook response: validating webhook may not return response.patchType`},
		{"a patch without a type", "m", responds(t, `{"allowed":true,`+patch+`}`), 500, "InternalError", `Internal error occurred: failed calling webhook "m.example.com": received invalid webhook response: webhook returned response.patch but not response.patchType`},
		{"a type without a patch", "m", responds(t, `{"allowed":true,"patchType":"JSONPatch"}`), 500, "InternalError", `Internal error occurred: failed calling webhook "m.example.com": received invalid webhook response: webhook returned response.patchType but not response.patch`},
		{"no type", "m", responds(t, `{"allowed":true,"patchType":"",`+patch+`}`), 500, "InternalError", `Internal error occurred: failed calling webhook "m.example.com": received invalid webhook response: webhook returned invalid response.patchType of ""`},
		{"another type", "m", responds(t, `{"allowed":true,"patchType":"Merge",`+patch+`}`), 201, "", ""},
		{"another type of a patch", "m", responds(t, `{"allowed":true,"patchType":"Merge","patch":"W3sib3AiOiJyZW1vdmUiLCJwYXRoIjoiL3gifV0="}`), 500, "InternalError", `Internal error occurred: failed calling webhook "m.example.com": unsupported patch type "Merge"`},
		{"an empty patch", "m", responds(t, `{"allowed":true,"patchType":"JSONPatch",`+patch+`}`), 201, "", ""},
		{"no patch", "m", responds(t, `{"allowed":true,"patchType":"JSONPatch","patch":"e30="}`), 500, "InternalError", `Internal error occurred: failed calling webhook "m.example.com": received undecodable patch in webhook response: json: cannot unmarshal object into Go value of type jsonpatch.Patch`},
		{"a patch of nothing", "m", harness.Always(true, `[{"op":"remove","path":"/x"}]`), 500, "InternalError", `Internal error occurred: error in remove for path: '/x': Unable to remove nonexistent key: x: missing value`},
		{"a patch that makes it invalid", "m", harness.Always(true, `[{"op":"add","path":"/data/a b","value":"x"}]`), 422, "Invalid", ` is invalid: data[a b]: Invalid value: "a b"`},
		{"500", "v", status(500, "boom"), 500, "InternalError", `Internal error occurred: failed calling webhook "v.example.com": failed to call webhook: an error on the server ("boom") has prevented the request from succeeding`},
		{"404", "m", status(404, ""), 500, "InternalError", `Internal error occurred: failed calling webhook "m.example.com": failed to call webhook: the server could not find the requested resource`},
		{"403", "v", status(403, `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"not you","code":403}`), 500, "InternalError", `Internal error occurred: failed calling webhook "v.example.com": failed to call webhook: not you`},
		{"no response", "v", status(200, `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview"}`), 500, "InternalError", `Internal error occurred: failed calling webhook "v.example.com": received invalid webhook response: webhook response was absent`},
		{"no reply", "v", status(200, ``), 500, "InternalError", `Internal error occurred: failed calling webhook "v.example.com": failed to call webhook: 0-length response with status code: 200 and content type: `},
		{"hangs up", "m", func(http.ResponseWriter, *http.Request, harness.Object) map[string]any {
			panic(http.ErrAbortHandler)
		}, 500, "InternalError", `EOF`},
	} {
		a.At("v", nil)
		a.At("m", nil)
		a.At(c.at, c.answer)
		r := a.create("cm-" + unique())
		if c.code == 201 {
			r.Want(201)
			continue
		}
		if r.Code != c.code || r.Str("reason") != string(c.reason) || !strings.Contains(r.Str("message"), c.message) {
			t.Errorf("%s: got %d %s\nwant %d %s %s", c.name, r.Code, r.Body, c.code, c.reason, c.message)
		}
	}
}

// What a webhook is sent.
func TestReviewsSayWhatIsWritten_DRY05(t *testing.T) {
	a := newAdmitted(t)
	a.validating(a.hook("v"))
	a.mutating(a.hook("m"))
	review := func(path string, calls []harness.Review) harness.Review {
		t.Helper()
		i := slices.IndexFunc(calls, func(r harness.Review) bool { return r.Path == path })
		if i < 0 {
			t.Fatalf("no call of %s", path)
		}
		return calls[i]
	}
	wants := func(r harness.Review, want map[string]string) {
		t.Helper()
		for path, value := range want {
			if got := r.Str(path); got != value {
				t.Errorf("%s is %q, want %q", path, got, value)
			}
		}
	}
	a.create("one").Want(201)
	calls := a.Calls()
	about := map[string]string{
		"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
		"request.kind": `{"group":"","kind":"ConfigMap","version":"v1"}`, "request.resource": `{"group":"","resource":"configmaps","version":"v1"}`,
		"request.requestKind": `{"group":"","kind":"ConfigMap","version":"v1"}`, "request.requestResource": `{"group":"","resource":"configmaps","version":"v1"}`,
		"request.subResource": "", "request.name": "one", "request.namespace": a.ns, "request.dryRun": "false",
	}
	with := func(more map[string]string) map[string]string {
		out := map[string]string{}
		for _, m := range []map[string]string{about, more} {
			for k, v := range m {
				out[k] = v
			}
		}
		return out
	}
	m, v := review("m", calls), review("v", calls)
	wants(m, with(map[string]string{"request.operation": "CREATE", "request.oldObject": "", "request.object.data.k": "v", "request.object.metadata.uid": "",
		"request.options": `{"apiVersion":"meta.k8s.io/v1","kind":"CreateOptions"}`}))
	wants(v, with(map[string]string{"request.operation": "CREATE", "request.oldObject": "", "request.object.data.k": "v"}))
	if v.Str("request.object.metadata.uid") == "" || v.Str("request.object.metadata.managedFields.0.operation") != "Update" || m.Str("request.object.metadata.managedFields.0.operation") != "Update" {
		t.Errorf("object %s", v.Str("request.object"))
	}
	if v.Query != "timeout=10s" || v.Str("request.userInfo.username") == "" || !strings.Contains(v.Str("request.userInfo.groups"), "system:masters") {
		t.Errorf("called with %q by %s", v.Query, v.Str("request.userInfo"))
	}

	one := configMaps(a.ns) + "/one"
	a.api.Do("PATCH", one+"?fieldManager=me&dryRun=All", `{"data":{"k":"w"}}`, "Content-Type", "application/merge-patch+json").Want(200)
	wants(review("v", a.Calls()), with(map[string]string{"request.operation": "UPDATE", "request.oldObject.data.k": "v", "request.object.data.k": "w", "request.dryRun": "true",
		"request.options": `{"apiVersion":"meta.k8s.io/v1","dryRun":["All"],"fieldManager":"me","kind":"UpdateOptions"}`}))

	a.api.Do("DELETE", one, `{"propagationPolicy":"Background"}`).Want(200)
	calls = a.Calls()
	deleted := with(map[string]string{"request.operation": "DELETE", "request.oldObject.data.k": "v", "request.object": "",
		"request.options.kind": "DeleteOptions", "request.options.apiVersion": "meta.k8s.io/v1", "request.options.propagationPolicy": "Background"})
	wants(review("v", calls), deleted)
	wants(review("m", calls), deleted)

	made := a.api.Post(configMaps(a.ns), parse(t, `{"metadata":{"generateName":"gen-"}}`)).Want(201).Str("metadata.name")
	calls = a.Calls()
	wants(review("v", calls), map[string]string{"request.name": made, "request.object.metadata.generateName": "gen-"})
	wants(review("m", calls), map[string]string{"request.name": "", "request.object.metadata.name": ""})
}

// Webhooks change objects one after the other, in the order of names, before
// others judge them; who asks for it is asked again about the changes of later
// ones.
func TestMutationAndItsOrder_DRY02(t *testing.T) {
	a := newAdmitted(t)
	appends := func(text string) harness.Answer {
		return func(_ http.ResponseWriter, _ *http.Request, r harness.Object) map[string]any {
			value, _ := json.Marshal(r.Str("request.object.data.log") + text)
			return harness.Always(true, `[{"op":"add","path":"/data/log","value":`+string(value)+`}]`, "warned by "+text)(nil, nil, nil)
		}
	}
	for _, n := range []string{"a", "b", "c"} {
		a.At(n, appends(n))
	}
	a.At("idle", harness.Always(true, `[{"op":"add","path":"/data/k","value":"v"}]`))
	a.mutating(a.hook("a", `{"reinvocationPolicy":"IfNeeded"}`), a.hook("b"), a.hook("c", `{"reinvocationPolicy":"IfNeeded"}`), a.hook("idle", `{"reinvocationPolicy":"IfNeeded"}`))
	a.validating(a.hook("v"))
	r := a.create("one").Want(201)
	r.Equal("data.log", "abcac")
	a.wantCalled("a b c idle a c idle v")
	if w := strings.Join(r.Header.Values("Warning"), "\n"); strings.Count(w, "warned by") != 3 || !strings.Contains(w, `299 - "warned by a"`) {
		t.Errorf("warnings %s", w)
	}
	a.api.Get(configMaps(a.ns)+"/one").Equal("data.log", "abcac")
}

// A dry run asks webhooks that have no side effects then, and says what it is.
func TestDryRunsAreSaidToBeSuch_DRY05(t *testing.T) {
	a := newAdmitted(t)
	a.validating(a.hook("v", `{"sideEffects":"NoneOnDryRun"}`))
	a.api.Post(configMaps(a.ns)+"?dryRun=All", configMap(t, a.ns, "dry", `{}`)).Want(201)
	calls := a.Calls()
	if len(calls) != 1 || calls[0].Str("request.dryRun") != "true" || calls[0].Str("request.options.dryRun") != `["All"]` {
		t.Errorf("calls %v", calls)
	}
	a.api.Get(configMaps(a.ns) + "/dry").Want(404)
}

// What does not answer refuses the request, or is ignored.
func TestFailurePolicies(t *testing.T) {
	a := newAdmitted(t)
	for _, at := range []string{"ignored", "fails"} {
		a.At(at, func(_ http.ResponseWriter, r *http.Request, _ harness.Object) map[string]any {
			<-r.Context().Done()
			return nil
		})
	}
	a.validating(a.hook("ignored", `{"failurePolicy":"Ignore","timeoutSeconds":3}`), a.hook("gone", `{"failurePolicy":"Ignore","clientConfig":{"url":"https://127.0.0.1:1/x"}}`))
	a.create("one").Want(201)
	if c := a.Calls(); len(c) != 1 || c[0].Query != "timeout=3s" {
		t.Errorf("calls %v", c)
	}
	a.mutating(a.hook("fails", `{"timeoutSeconds":3}`))
	a.create("two").WantStatus(500, "InternalError", `Internal error occurred: failed calling webhook "fails.example.com": failed to call webhook: Post "`+a.URL+`/fails?timeout=3s": context deadline exceeded`)
	a.At("fails", responds(t, `{"allowed":false}`))
	a.create("two").WantStatus(400, "", "denied the request")
	a.At("fails", nil)
	a.create("two").Want(201)
}

// Rules, selectors and conditions decide who is asked.
func TestWhoIsAsked(t *testing.T) {
	a := newAdmitted(t)
	a.validating(
		a.hook("all", `{"rules":[{"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*/*"]}]}`),
		a.hook("updates", `{"rules":[{"operations":["UPDATE","DELETE"],"apiGroups":[""],"apiVersions":["v1"],"resources":["configmaps"]}]}`),
		a.hook("cluster", `{"rules":[{"operations":["*"],"apiGroups":[""],"apiVersions":["v1"],"resources":["*"],"scope":"Cluster"}]}`),
		a.hook("secrets", `{"rules":[{"operations":["*"],"apiGroups":[""],"apiVersions":["v1"],"resources":["secrets"]}]}`),
		a.hook("subresources", `{"rules":[{"operations":["*"],"apiGroups":[""],"apiVersions":["v1"],"resources":["configmaps/*"]}]}`),
		a.hook("labelled", `{"objectSelector":{"matchLabels":{"a":"b"}}}`),
		a.hook("elsewhere", `{"namespaceSelector":{"matchLabels":{"kubernetes.io/metadata.name":"default"}}}`),
		a.hook("condition", `{"matchConditions":[{"name":"x","expression":"request.operation == 'CREATE' && object.data.k == 'v' && oldObject == null"}]}`),
		a.hook("unmet", `{"matchConditions":[{"name":"x","expression":"request.userInfo.username == 'nobody'"}]}`),
		a.hook("authorized", `{"matchConditions":[{"name":"x","expression":"authorizer.group('').resource('pods').namespace('default').check('get').allowed()"}]}`),
		a.hook("undecided", `{"failurePolicy":"Ignore","matchConditions":[{"name":"x","expression":"object.nothing == 1"}]}`),
	)
	one := configMaps(a.ns) + "/one"
	asked := func(want ...string) {
		t.Helper()
		got := strings.Fields(a.called())
		slices.Sort(got)
		got = slices.Compact(got) // a write that meets a newer state asks again
		a.api.Get(one)            // after which the next write begins with this state
		if slices.Sort(want); !slices.Equal(got, want) {
			t.Errorf("asked %q, want %q", got, want)
		}
	}
	a.create("one").Want(201)
	asked("all", "condition", "authorized", "subresources")
	a.api.Merge(one, `{"metadata":{"labels":{"a":"b"}}}`).Want(200)
	asked("all", "updates", "labelled", "authorized", "subresources")
	a.api.Merge(one, `{"metadata":{"labels":{"a":"c"}}}`).Want(200) // the old one is selected
	asked("all", "updates", "labelled", "authorized", "subresources")
	a.api.Delete(one).Want(200)
	asked("all", "updates", "authorized", "subresources")
	a.api.Merge(namespacePath+"/"+a.ns, `{"metadata":{"labels":{"x":"y"}}}`).Want(200)
	asked("all", "cluster")

	a.validating(a.hook("refused", `{"matchConditions":[{"name":"x","expression":"object.nothing == 1"}]}`))
	a.create("one").WantStatus(403, "Forbidden", `configmaps "one" is forbidden: expression 'object.nothing == 1' resulted in error: no such key: nothing`)
}

// Configurations are not subject to webhooks.
func TestConfigurationsCanAlwaysBeRemoved(t *testing.T) {
	a := newAdmitted(t)
	a.At("no", harness.Always(false, ""))
	everything := `{"objectSelector":{"matchLabels":{"only":"` + a.ns + `"}},"namespaceSelector":{},"rules":[{"operations":["*"],"apiGroups":["admissionregistration.k8s.io"],"apiVersions":["*"],"resources":["*/*"]}]}`
	a.validating(a.hook("no", everything))
	path := hooksPath + "validatingwebhookconfigurations"
	a.api.Post(path, object{"metadata": map[string]any{"name": a.ns, "labels": map[string]any{"only": a.ns}}}).Want(201)
	a.api.Delete(path + "/" + a.ns).Want(200)
	a.wantCalled("")
}

// A webhook that knows one version is asked about writes at another, and its
// patch arrives where the write is.
func TestEquivalentVersions_CRD11(t *testing.T) {
	a := newAdmitted(t)
	c := newCronTabs(t, harness.Shared(t), nil)
	rules := func(version string) string {
		return `{"namespaceSelector":{"matchLabels":{"kubernetes.io/metadata.name":"` + c.ns + `"}},
			"rules":[{"operations":["CREATE"],"apiGroups":["` + c.group + `"],"apiVersions":["` + version + `"],"resources":["crontabs"]}]}`
	}
	a.At("equivalent", harness.Always(true, `[{"op":"add","path":"/spec/host","value":"patched"}]`))
	a.mutating(a.hook("equivalent", rules("v1beta1")), a.hook("exact", rules("v1beta1"), `{"matchPolicy":"Exact"}`))
	a.validating(a.hook("v", rules("v1")))
	c.api.Post(c.list("v1"), c.object("v1", "one", `{"host":"h"}`)).Want(201).Equal("spec.host", "patched").Equal("apiVersion", c.group+"/v1")
	calls := a.Calls()
	if len(calls) != 2 || calls[0].Path != "equivalent" || calls[0].Str("request.object.apiVersion") != c.group+"/v1beta1" ||
		calls[0].Str("request.kind.version")+calls[0].Str("request.resource.version") != "v1beta1v1beta1" ||
		calls[0].Str("request.requestKind.version")+calls[0].Str("request.requestResource.version") != "v1v1" ||
		calls[1].Str("request.object.spec.host") != "patched" {
		t.Errorf("calls %v", calls)
	}
}

// A module judges, changes and warns like a webhook; when it fails, the
// failurePolicy decides.
func TestModulesJudgeWrites_WP02(t *testing.T) {
	harness.SkipExternal(t)
	a := newAdmitted(t)
	name := "policy-" + unique()
	pushModule(t, a.api, name, plugintest.Build(t, plugintest.Policy))
	url := `{"clientConfig":{"url":"wasm://` + name + `"}}`
	a.validating(a.hook("v", url))
	a.mutating(a.hook("m", url))
	a.create("one").WantStatus(403, "Forbidden", `admission webhook "m.example.com" denied the request: ConfigMap one needs a label "team"`)
	r := a.create("one", `{"metadata":{"name":"one","labels":{"team":"none"}}}`).Want(201).Equal("metadata.labels.tier", "standard")
	if w := strings.Join(r.Header.Values("Warning"), "\n"); w != `299 - "nobody is responsible for one"` {
		t.Errorf("warnings %s", w)
	}
	a.api.Do("PATCH", configMaps(a.ns)+"/one", `{"metadata":{"labels":{"team":null}}}`, "Content-Type", "application/merge-patch+json").WantStatus(403, "Forbidden", `needs a label`)
	a.api.Delete(configMaps(a.ns) + "/one").Want(200)

	a.api.Delete(modulePath+"/"+name).WantStatus(409, "Conflict", "the module is in use by mutatingwebhookconfigurations/e2e-", "validatingwebhookconfigurations/e2e-")

	a = newAdmitted(t)
	a.validating(a.hook("gone", `{"clientConfig":{"url":"wasm://gone-`+name+`"}}`))
	a.create("one").WantStatus(500, "InternalError", `Internal error occurred: failed calling webhook "gone.example.com": failed to call webhook: wasm module "gone-`+name+`": wasmgate_admit: NotReady: there is no such module`)
}

// What refers to a module is judged when it is written, not by the first read.
func TestReferencesToModulesAreChecked_WP01_WP02_WP03(t *testing.T) {
	harness.SkipExternal(t)
	a := newAdmitted(t)
	name := "policy-" + unique()
	configuration := func(module string) object {
		return object{"metadata": object{"name": "e2e-" + module}, "webhooks": []object{a.hook("x", `{"clientConfig":{"url":"wasm://`+module+`"}}`)}}
	}
	validating := hooksPath + "validatingwebhookconfigurations"
	r := a.api.Post(validating+"?dryRun=All", configuration("none-"+name)).Want(201)
	if w := r.Header.Get("Warning"); w != `299 - "webhooks[0].clientConfig.url: there is no WasmModule \"none-`+name+`\"; until there is, the failurePolicy decides"` {
		t.Errorf("warned %s", w)
	}
	pushModule(t, a.api, name, plugintest.Build(t, plugintest.Policy))
	if r := a.api.Post(validating+"?dryRun=All", configuration(name)).Want(201); len(r.Header.Values("Warning")) != 0 {
		t.Errorf("warned %q", r.Header.Values("Warning"))
	}
	order := object{"apiVersion": "wasmgate.dev/v1", "kind": "VersionPriority", "metadata": object{"name": name}, "spec": object{"groups": []string{"x.example.com"}, "module": name}}
	a.api.Post("/apis/wasmgate.dev/v1/versionpriorities", order).WantStatus(422, "Invalid", `spec.module: Invalid value: "`+name+`": the module does not have the hook wasmgate_prioritize; it has wasmgate_admit`)
	a.api.Post(modulePath+"/"+name+"/prioritize", object{"apiVersion": "wasmgate.dev/v1", "kind": "VersionPriorityReview", "request": object{"group": "x.example.com", "versions": []string{"v1", "v2"}}}).
		WantStatus(400, "BadRequest", `module "`+name+`" orders nothing: `, `the module does not have this hook; it has [wasmgate_admit]`)
	a.api.Delete(modulePath + "/" + name).Want(200)
}
