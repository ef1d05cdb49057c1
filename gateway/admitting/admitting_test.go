package admitting

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/rs/zerolog"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/admission/admissiontest"
	"github.com/wasmgate/wasmgate/gateway/authn"
	"github.com/wasmgate/wasmgate/gateway/authz"
	"github.com/wasmgate/wasmgate/gateway/catalog/catalogtest"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest/realengine"
	"github.com/wasmgate/wasmgate/gateway/metrics"
	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/gateway/resource/engine"
	"github.com/wasmgate/wasmgate/storage/storagetest"
	"github.com/wasmgate/wasmgate/test/logtest"
)

// world is an engine whose writes are subject to webhooks that are modules.
type world struct {
	*engine.Engine
	t testing.TB
	// validating are the webhooks in force, and counted what was decided.
	validating *hooks
	counted    *metrics.Metrics
	log        logtest.Log
	store      *storagetest.Memory
	// sent are the requests that modules got, and answer what they say.
	sent   []map[string]any
	answer func(module string, request map[string]any) string
	mu     sync.Mutex // of sent and asked
	// may answers what users may do, and asked are the questions.
	may   authz.Authorizer
	asked []authz.Attributes
}

// Authorize implements [authz.Authorizer]: it notes what it is asked.
func (w *world) Authorize(ctx context.Context, a authz.Attributes) (bool, string, error) {
	w.mu.Lock()
	w.asked = append(w.asked, a)
	w.mu.Unlock()
	return w.may.Authorize(ctx, a)
}

func newWorld(t testing.TB) *world {
	t.Helper()
	w := &world{t: t, may: authz.Masters{}, counted: metrics.New()}
	e := realengine.With(t, func(e *engine.Engine) admission.Chain {
		all := Plugins(Config{Catalog: e.Catalog(), Authorizer: w, Module: w.module, Metrics: w.counted, Log: zerolog.New(&w.log)})
		w.validating = all[3].(validatingWebhooks).all
		return admissiontest.Chain(t, all...)
	})
	w.Engine, w.store = e.Verbs, e.Store
	w.create("", "namespaces", "", `{"metadata":{"name":"default","labels":{"team":"x"}}}`)
	text, err := yaml.YAMLToJSON([]byte(catalogtest.CronTab("v1", false)))
	if err != nil {
		t.Fatal(err)
	}
	revision, err := w.store.Create(t.Context(), "/registry/apiextensions.k8s.io/customresourcedefinitions/crontabs.example.com", text, 0)
	if err == nil {
		err = w.Catalog().WaitApplied(t.Context(), revision)
	}
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// module implements ModuleCall.
func (w *world) module(_ context.Context, name string, review []byte, accept func([]byte) error) (string, error) {
	var sent struct{ Request map[string]any }
	if err := json.Unmarshal(review, &sent); err != nil {
		return "", err
	}
	w.mu.Lock()
	w.sent = append(w.sent, sent.Request)
	w.mu.Unlock()
	response := `"allowed":true`
	if w.answer != nil {
		response = w.answer(name, sent.Request)
	}
	if response == "" {
		return "", errors.New("the module is broken")
	}
	return "sha256:" + name, accept(fmt.Appendf(nil, `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{"uid":%q,%s}}`, sent.Request["uid"], response))
}

func patch(text string) string {
	return `"allowed":true,"patchType":"JSONPatch","patch":"` + base64.StdEncoding.EncodeToString([]byte(text)) + `"`
}

var alice = resource.WriteOptions{Caller: resource.Caller{User: &authn.User{Name: "alice"}, FieldManager: "m"}}

func (w *world) target(group, plural, version, name string) resource.Target {
	w.t.Helper()
	r := w.Catalog().Snapshot().Resource(schema.GroupResource{Group: group, Resource: plural})
	if r == nil {
		w.t.Fatalf("%s is not served", plural)
	}
	if version == "" {
		version = r.Def.StorageVersion
	}
	out := resource.Target{Resource: r, Version: r.Def.Version(version), Name: name}
	if r.Def.Namespaced {
		out.Namespace = "default"
	}
	return out
}

func (w *world) create(group, plural, version, body string) string {
	w.t.Helper()
	out, err := w.try(group, plural, version, body, alice)
	if err != nil {
		w.t.Fatal(err)
	}
	return out
}

func (w *world) try(group, plural, version, body string, o resource.WriteOptions) (string, error) {
	t := w.target(group, plural, version, "")
	var tree map[string]any
	if err := json.Unmarshal([]byte(body), &tree); err != nil {
		w.t.Fatal(err)
	}
	tree["apiVersion"], tree["kind"] = t.Resource.Def.APIVersion(t.Version.Name), t.Resource.Def.Kind
	data, err := json.Marshal(tree)
	if err != nil {
		w.t.Fatal(err)
	}
	out, err := w.Create(w.t.Context(), t, data, o)
	if err != nil {
		return "", err
	}
	return string(out.Object), nil
}

// configure installs one webhook, a module called like the configuration.
func (w *world) configure(kind, name, group, version, resources, more string) {
	w.t.Helper()
	w.create("admissionregistration.k8s.io", kind+"webhookconfigurations", "", `{"metadata":{"name":"`+name+`"},"webhooks":[{
		"name":"`+name+`.example.com","clientConfig":{"url":"wasm://`+name+`"},"sideEffects":"None","admissionReviewVersions":["v1"],`+more+`
		"rules":[{"operations":["*"],"apiGroups":["`+group+`"],"apiVersions":["`+version+`"],"resources":["`+resources+`"]}]}]}`)
	w.settled()
}

// settled waits until the cache has all that was written.
func (w *world) settled() {
	w.t.Helper()
	if _, err := w.Catalog().Cache().Fresh(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
}

func field(o map[string]any, path ...string) any {
	var v any = o
	for _, p := range path {
		m, _ := v.(map[string]any)
		v = m[p]
	}
	return v
}

func TestConfigurationsAreInForceAsTheyChange(t *testing.T) {
	w := newWorld(t)
	w.create("", "configmaps", "", `{"metadata":{"name":"before"}}`)
	if len(w.sent) != 0 || w.validating.stored.current.Load() != nil {
		t.Error("nothing is configured, and something was done")
	}
	w.configure("validating", "one", "", "v1", "configmaps", "")
	w.create("", "configmaps", "", `{"metadata":{"name":"a"}}`)
	first := w.validating.stored.current.Load()
	w.create("", "secrets", "", `{"metadata":{"name":"a"}}`)
	if len(w.sent) != 1 || w.validating.stored.current.Load() != first {
		t.Errorf("%d calls", len(w.sent))
	}
	w.configure("validating", "two", "", "v1", "configmaps", "")
	w.create("", "configmaps", "", `{"metadata":{"name":"b"}}`)
	second := w.validating.stored.current.Load()
	if len(w.sent) != 3 || second == first || len(second.of) != 2 {
		t.Errorf("%d calls", len(w.sent))
	}
	for e, hooks := range first.of {
		if second.of[e][0] != hooks[0] {
			t.Error("what did not change was compiled again")
		}
	}
	if _, err := w.Delete(t.Context(), w.target("admissionregistration.k8s.io", "validatingwebhookconfigurations", "", "one"), &metav1.DeleteOptions{}, alice); err != nil {
		t.Fatal(err)
	}
	w.sent = nil
	w.settled()
	w.create("", "configmaps", "", `{"metadata":{"name":"c"}}`)
	if len(w.sent) != 1 {
		t.Errorf("%d calls", len(w.sent))
	}
}

func TestConfigurationsAreNotSubject(t *testing.T) {
	w := newWorld(t)
	w.answer = func(string, map[string]any) string { return `"allowed":false` }
	w.configure("validating", "no", "*", "*", "*", "")
	w.configure("mutating", "no", "*", "*", "*", "")
	if len(w.sent) != 0 {
		t.Errorf("%d calls", len(w.sent))
	}
	if _, err := w.try("", "configmaps", "", `{"metadata":{"name":"a"}}`, alice); err == nil || err.Error() != `admission webhook "no.example.com" denied the request without explanation` {
		t.Errorf("got %v", err)
	}
}

func TestWhatWebhooksSeeOfWrites_WP02(t *testing.T) {
	w := newWorld(t)
	w.configure("validating", "all", "*", "*", "*/*", `"namespaceSelector":{"matchLabels":{"team":"x"}},`)
	last := func() map[string]any { return w.sent[len(w.sent)-1] }
	wants := func(what string, want map[string]string) {
		t.Helper()
		for path, value := range want {
			if got := fmt.Sprint(field(last(), strings.Split(path, ".")...)); got != value {
				t.Errorf("%s: %s is %s, want %s", what, path, got, value)
			}
		}
	}
	dry := alice
	dry.DryRun, dry.FieldValidation = true, "Strict"
	if _, err := w.try("example.com", "crontabs", "v1beta1", `{"metadata":{"name":"a"},"hostPort":"h:1"}`, dry); err != nil {
		t.Fatal(err)
	}
	wants("a dry run", map[string]string{"dryRun": "true", "options": "map[apiVersion:meta.k8s.io/v1 dryRun:[All] fieldManager:m fieldValidation:Strict kind:CreateOptions]",
		"kind": "map[group:example.com kind:CronTab version:v1beta1]", "object.hostPort": "h:1", "userInfo.username": "alice", "namespace": "default", "name": "a"})
	w.create("example.com", "crontabs", "v1", `{"metadata":{"name":"a"},"host":"h","port":"1","spec":{"replicas":3}}`)
	one := w.target("example.com", "crontabs", "v1", "a")
	scale := one
	scale.Subresource = "scale"
	if _, err := w.Patch(t.Context(), scale, types.MergePatchType, []byte(`{"spec":{"replicas":4}}`), alice); err != nil {
		t.Fatal(err)
	}
	wants("a scale", map[string]string{"kind": "map[group:autoscaling kind:Scale version:v1]", "requestKind": "map[group:autoscaling kind:Scale version:v1]",
		"resource": "map[group:example.com resource:crontabs version:v1]", "subResource": "scale", "object.kind": "Scale", "object.spec.replicas": "4", "oldObject.spec.replicas": "3", "options.kind": "UpdateOptions"})
	background := metav1.DeletePropagationBackground
	old := w.target("example.com", "crontabs", "v1beta1", "a")
	if _, err := w.Delete(t.Context(), old, &metav1.DeleteOptions{PropagationPolicy: &background}, resource.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	wants("a deletion", map[string]string{"operation": "DELETE", "object": "<nil>", "oldObject.hostPort": "h:1", "oldObject.apiVersion": "example.com/v1beta1",
		"options.propagationPolicy": "Background", "options.kind": "DeleteOptions", "userInfo.username": "system:anonymous", "name": "a"})
	w.create("", "namespaces", "", `{"metadata":{"name":"x","labels":{"team":"x"}}}`)
	wants("a namespace", map[string]string{"name": "x", "namespace": "x", "object.metadata.labels.team": "x"})
	calls := len(w.sent)
	w.create("", "namespaces", "", `{"metadata":{"name":"y"}}`)
	if len(w.sent) != calls {
		t.Error("a namespace that is not selected")
	}
}

func TestPatchesArriveAtTheVersionOfTheWrite_WP02(t *testing.T) {
	w := newWorld(t)
	w.answer = func(string, map[string]any) string {
		return patch(`[{"op":"replace","path":"/hostPort","value":"new:2"},{"op":"add","path":"/metadata/labels","value":{"a":"b"}},{"op":"add","path":"/unknown","value":1}]`)
	}
	w.configure("mutating", "m", "example.com", "v1beta1", "crontabs", "")
	got := w.create("example.com", "crontabs", "v1", `{"metadata":{"name":"a"},"host":"h","port":"1"}`)
	if !strings.Contains(got, `"host":"new"`) || !strings.Contains(got, `"port":"2"`) || !strings.Contains(got, `"a":"b"`) || strings.Contains(got, "unknown") || !strings.Contains(got, `"managedFields":[{`) {
		t.Errorf("got %s", got)
	}
}

func TestPatchesOfScales(t *testing.T) {
	w := newWorld(t)
	w.create("example.com", "crontabs", "v1", `{"metadata":{"name":"a"},"host":"h","spec":{"replicas":3}}`)
	w.answer = func(string, map[string]any) string {
		return patch(`[{"op":"replace","path":"/spec/replicas","value":9}]`)
	}
	w.configure("mutating", "m", "example.com", "v1", "crontabs/scale", "")
	scale := w.target("example.com", "crontabs", "v1", "a")
	scale.Subresource = "scale"
	out, err := w.Patch(t.Context(), scale, types.MergePatchType, []byte(`{"spec":{"replicas":4}}`), alice)
	if err != nil || !strings.Contains(string(out.Object), `"spec":{"replicas":9}`) {
		t.Errorf("got %s, %v", out.Object, err)
	}
}

// A version without the subresource is no equivalent of one that has it.
func TestRulesAboutASubresourceThatAVersionLacks_WP02(t *testing.T) {
	w := newWorld(t)
	w.create("example.com", "crontabs", "v1", `{"metadata":{"name":"a"},"host":"h","spec":{"replicas":3}}`)
	w.configure("validating", "scales", "example.com", "v1beta1", "crontabs/scale", "")
	w.configure("validating", "tabs", "example.com", "v1beta1", "crontabs", "")
	one := w.target("example.com", "crontabs", "v1", "a")
	scale := one
	scale.Subresource = "scale"
	if _, err := w.Patch(t.Context(), scale, types.MergePatchType, []byte(`{"spec":{"replicas":4}}`), alice); err != nil || len(w.sent) != 0 {
		t.Errorf("%v, %d calls", err, len(w.sent))
	}
	w.settled()
	if _, err := w.Patch(t.Context(), one, types.MergePatchType, []byte(`{"host":"i"}`), alice); err != nil || len(w.sent) != 1 {
		t.Errorf("%v, %d calls", err, len(w.sent))
	}
}

func TestManagedFieldsAreTheWebhooksToo(t *testing.T) {
	w := newWorld(t)
	w.configure("mutating", "m", "*", "v1", "*", "")
	for value, want := range map[string]string{
		`[]`: "",
		`[{"manager":"w","operation":"Update","apiVersion":"v1","time":"2026-01-01T00:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:data":{}}}]`: `"manager":"w"`,
	} {
		w.answer = func(string, map[string]any) string {
			return patch(`[{"op":"replace","path":"/metadata/managedFields","value":` + value + `}]`)
		}
		for plural, group := range map[string]string{"configmaps": "", "crontabs": "example.com"} {
			got, err := w.try(group, plural, "v1", `{"metadata":{"generateName":"a-"},"data":{"k":"v"},"host":"h"}`, alice)
			if err != nil || want == "" && strings.Contains(got, "managedFields") || !strings.Contains(got, want) {
				t.Errorf("%s %s: %s, %v", plural, value, got, err)
			}
		}
	}
}

func TestIgnoredFailuresAreLogged(t *testing.T) {
	w := newWorld(t)
	w.answer = func(string, map[string]any) string { return "" }
	w.configure("validating", "one", "", "v1", "configmaps", `"failurePolicy":"Ignore",`)
	w.create("", "configmaps", "", `{"metadata":{"name":"a"}}`)
	if got := w.log.String(); !strings.Contains(got, `failed calling webhook \"one.example.com\": failed to call webhook: the module is broken`) || !strings.Contains(got, `"configuration":"one"`) {
		t.Errorf("logged %s", got)
	}
}

func TestAnUnreadableConfigurationRefusesAllWritesButThoseOfConfigurations(t *testing.T) {
	for _, kind := range []string{"validating", "mutating"} {
		w := newWorld(t)
		if _, err := w.store.Create(t.Context(), "/registry/"+kind+"webhookconfigurations/odd", []byte("k8s\x00nonsense"), 0); err != nil {
			t.Fatal(err)
		}
		w.settled()
		dry := alice
		dry.DryRun = true
		for _, o := range []resource.WriteOptions{alice, dry} {
			_, err := w.try("", "configmaps", "", `{"metadata":{"name":"a"}}`, o)
			if !apierrors.IsInternalError(err) || !strings.Contains(err.Error(), `failed calling webhook "odd": its configuration cannot be read: `) {
				t.Errorf("%s: got %v", kind, err)
			}
		}
		if _, err := w.try("example.com", "crontabs", "v1beta1", `{"metadata":{"name":"a"},"hostPort":"h:1"}`, alice); !apierrors.IsInternalError(err) {
			t.Errorf("%s: got %v", kind, err)
		}
		if got := w.log.String(); !strings.Contains(got, "what is to be asked about them cannot be read") || !strings.Contains(got, `"name":"odd"`) {
			t.Errorf("%s: logged %s", kind, got)
		}
		w.configure("validating", "one", "", "v1", "secrets", "")
	}
}

func TestConditionsThatDoNotCompileFailAsThePolicySays(t *testing.T) {
	for policy, want := range map[string]string{"Fail": "undeclared reference to 'nobody'", "Ignore": ""} {
		w := newWorld(t)
		hook := admissionv1.ValidatingWebhook{
			Name: "one.example.com", ClientConfig: admissionv1.WebhookClientConfig{URL: new("wasm://one")},
			FailurePolicy: new(admissionv1.FailurePolicyType(policy)), SideEffects: new(admissionv1.SideEffectClassNone), AdmissionReviewVersions: []string{"v1"},
			MatchConditions: []admissionv1.MatchCondition{{Name: "x", Expression: "nobody == 'x'"}},
			Rules: []admissionv1.RuleWithOperations{{Operations: []admissionv1.OperationType{"*"}, Rule: admissionv1.Rule{
				APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"},
			}}},
		}
		c := admissionv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "one", UID: "u"}, Webhooks: []admissionv1.ValidatingWebhook{hook}}
		c.APIVersion, c.Kind = "admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration"
		data, err := json.Marshal(c)
		if err == nil {
			_, err = w.store.Create(t.Context(), "/registry/validatingwebhookconfigurations/one", data, 0)
		}
		if err != nil {
			t.Fatal(err)
		}
		w.settled()
		_, err = w.try("", "configmaps", "", `{"metadata":{"name":"a"}}`, alice)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) || len(w.sent) != 0 {
			t.Errorf("%s: %v, %d calls", policy, err, len(w.sent))
		}
	}
}

func TestAModuleHasNoSayInItsOwnReplacement(t *testing.T) {
	w := newWorld(t)
	w.answer = func(string, map[string]any) string { return "" }
	w.configure("validating", "one", "*", "*", "*/*", "")
	w.configure("mutating", "one", "*", "*", "*/*", "")
	const spec = `,"spec":{"source":{"upload":{}}}}`
	w.create("wasmgate.dev", "wasmmodules", "", `{"metadata":{"name":"one"}`+spec)
	if _, err := w.Delete(t.Context(), w.target("wasmgate.dev", "wasmmodules", "", "one"), &metav1.DeleteOptions{}, alice); err != nil || len(w.sent) != 0 {
		t.Errorf("%v, %d calls", err, len(w.sent))
	}
	for _, body := range []string{`{"metadata":{"name":"two"}` + spec, `{"metadata":{"generateName":"one"}` + spec} {
		if _, err := w.try("wasmgate.dev", "wasmmodules", "", body, alice); !apierrors.IsInternalError(err) {
			t.Errorf("another module: %v", err)
		}
	}
	if _, err := w.try("", "configmaps", "", `{"metadata":{"name":"one"}}`, alice); !apierrors.IsInternalError(err) {
		t.Errorf("another kind: %v", err)
	}
}

func TestConditionsAskTheAuthorizer(t *testing.T) {
	w := newWorld(t)
	w.configure("validating", "one", "", "v1", "configmaps", `"matchConditions":[{"name":"x","expression":"authorizer.group('').resource('pods').check('get').allowed()"}],`)
	w.create("", "configmaps", "", `{"metadata":{"name":"a"}}`)
	master := resource.WriteOptions{Caller: resource.Caller{User: &authn.User{Name: "root", Groups: []string{authn.Masters}}}}
	if _, err := w.try("", "configmaps", "", `{"metadata":{"name":"b"}}`, master); err != nil || len(w.sent) != 1 {
		t.Errorf("%v, %d calls", err, len(w.sent))
	}
}

func TestServersThatCannotBeCalledFailAsTheyAreAsked(t *testing.T) {
	w := newWorld(t)
	w.create("admissionregistration.k8s.io", "validatingwebhookconfigurations", "", `{"metadata":{"name":"s"},"webhooks":[{
		"name":"s.example.com","clientConfig":{"service":{"namespace":"ns","name":"svc","path":"/p","port":8443},"caBundle":""},"sideEffects":"None","admissionReviewVersions":["v1"],"timeoutSeconds":1,
		"rules":[{"operations":["*"],"apiGroups":[""],"apiVersions":["v1"],"resources":["configmaps"]}]}]}`)
	w.settled()
	_, err := w.try("", "configmaps", "", `{"metadata":{"name":"a"}}`, alice)
	if !apierrors.IsInternalError(err) || !strings.Contains(err.Error(), `failed to call webhook: Post "https://svc.ns.svc:8443/p?timeout=1s"`) {
		t.Errorf("got %v", err)
	}
}

// BenchmarkNothingMatches is what admission costs a write that no webhook is
// about: with no configuration at all, and with one about something else.
func BenchmarkNothingMatches(b *testing.B) {
	w := newWorld(b)
	for _, name := range []string{"none", "another"} {
		if name == "another" {
			w.configure("validating", "one", "", "v1", "secrets", "")
		}
		write := &admissiontest.Attributes{Resource: schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if w.validating.about(b.Context(), write) != nil {
					b.Fatal("something matches")
				}
			}
		})
	}
}
