package server

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/admission/order"
)

// Plugins that are off say nothing, and the one that makes namespaces does when
// it is on, but not for a dry run.
func TestPluginsAreSwitched_ADM05(t *testing.T) {
	o := servingIn(filepath.Join(t.TempDir(), "data"))
	o.EnableAdmissionPlugins = []string{order.NamespaceAutoProvision}
	o.DisableAdmissionPlugins = []string{order.LimitRanger, order.ResourceQuota, order.ValidatingAdmissionPolicy, order.ValidatingAdmissionWebhook, order.MutatingAdmissionPolicy, order.MutatingAdmissionWebhook}
	g := start(t, o)
	const space, policies = "/api/v1/namespaces/made", "/apis/admissionregistration.k8s.io/v1/"
	post := func(path, body string, code int) {
		t.Helper()
		if got := g.do("POST", path, body); got.code != code {
			t.Errorf("%s: %d %s", path, got.code, got.body)
		}
	}
	unreachable := `"clientConfig":{"url":"https://127.0.0.1:1/"},"sideEffects":"None","admissionReviewVersions":["v1"],"rules":[{"operations":["*"],"apiGroups":[""],"apiVersions":["v1"],"resources":["configmaps"]}]`
	match := `"matchConstraints":{"resourceRules":[{"operations":["CREATE"],"apiGroups":[""],"apiVersions":["v1"],"resources":["configmaps"]}]}`
	for _, kind := range []string{"validating", "mutating"} {
		post(policies+kind+"webhookconfigurations", `{"metadata":{"name":"w"},"webhooks":[{"name":"w.example.com",`+unreachable+`}]}`, 201)
		post(policies+kind+"admissionpolicybindings", `{"metadata":{"name":"p"},"spec":{"policyName":"p"`+map[string]string{"validating": `,"validationActions":["Deny"]`}[kind]+`}}`, 201)
	}
	post(policies+"validatingadmissionpolicies", `{"metadata":{"name":"p"},"spec":{`+match+`,"validations":[{"expression":"false"}]}}`, 201)
	post(policies+"mutatingadmissionpolicies", `{"metadata":{"name":"p"},"spec":{`+match+`,"reinvocationPolicy":"Never","mutations":[{"patchType":"ApplyConfiguration","applyConfiguration":{"expression":"Object{data: {'a': object.data.nothing}}"}}]}}`, 201)

	post(space+"/configmaps?dryRun=All", configMap, 404)
	if got := g.do("GET", space, ""); got.code != 404 {
		t.Errorf("a dry run made %s", got.body)
	}
	post(space+"/limitranges", `{"metadata":{"name":"l"},"spec":{"limits":[{"type":"Container","max":{"cpu":"1"}}]}}`, 201)
	if got := g.do("GET", space, ""); got.code != 200 || !strings.Contains(got.body, `"manager":"kube-apiserver"`) {
		t.Errorf("%d %s", got.code, got.body)
	}
	made := g.do("POST", space+"/resourcequotas", `{"metadata":{"name":"q"},"spec":{"hard":{"count/configmaps":"0"}}}`)
	g.do("PUT", space+"/resourcequotas/q/status", strings.Replace(made.body, `"status":{}`, `"status":{"hard":{"count/configmaps":"0"},"used":{"count/configmaps":"0"}}`, 1))
	post(space+"/configmaps", configMap, 201)
	post(space+"/pods", `{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i","resources":{"limits":{"cpu":"2"}}}]}}`, 201)
}

// Limits are kept by pods where LimitRanges are served, whatever else is; where they
// are not, there are none.
func TestLimitsAreAskedWhereTheyAreServed_ADM05(t *testing.T) {
	const pods = "/api/v1/namespaces/default/pods"
	big := `{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i","resources":{"limits":{"cpu":"2"}}}]}}`
	for off, code := range map[string]int{"services": 403, "limitranges": 201} {
		o := servingIn(filepath.Join(t.TempDir(), "data"))
		o.RuntimeConfig = []string{"/v1/" + off + "=false"}
		g := start(t, o)
		if off == "services" {
			if got := g.do("POST", "/api/v1/namespaces/default/limitranges", `{"metadata":{"name":"l"},"spec":{"limits":[{"type":"Container","max":{"cpu":"1"}}]}}`); got.code != 201 {
				t.Errorf("%d %s", got.code, got.body)
			}
		}
		if got := g.do("POST", pods, big); got.code != code {
			t.Errorf("without %s: %d %s", off, got.code, got.body)
		}
	}
}

// Pods are all that they are where services are not served.
func TestPodsNeedNoServices(t *testing.T) {
	o := servingIn(filepath.Join(t.TempDir(), "data"))
	o.RuntimeConfig = []string{"/v1/services=false"}
	g := start(t, o)
	const pods = "/api/v1/namespaces/default/pods"
	if got := g.do("POST", pods, `{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}]}}`); got.code != 201 || !strings.Contains(got.body, "tolerationSeconds") {
		t.Errorf("%d %s", got.code, got.body)
	}
	if got := g.do("POST", pods+"/p/binding", `{"metadata":{"name":"p"},"target":{"name":"n"}}`); got.code != 201 {
		t.Errorf("%d %s", got.code, got.body)
	}
}
