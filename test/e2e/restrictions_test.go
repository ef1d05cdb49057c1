package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/test/harness"
)

const restrictions = `apiVersion: apiserver.config.k8s.io/v1
kind: AdmissionConfiguration
plugins:
- name: EventRateLimit
  configuration:
    apiVersion: eventratelimit.admission.k8s.io/v1alpha1
    kind: Configuration
    limits: [{type: SourceAndObject, qps: 1, burst: 1}]
- name: PodNodeSelector
  path: selectors.yaml
- name: PodTolerationRestriction
  configuration:
    apiVersion: podtolerationrestriction.admission.k8s.io/v1alpha1
    kind: Configuration
    default: [{key: dk, operator: Exists}]
`

// TestRestrictionsAreSwitchedOn_ADM01 has a gateway with the plugins that restrict pods,
// events and owners, which are off by default.
func TestRestrictionsAreSwitchedOn_ADM01(t *testing.T) {
	harness.SkipExternal(t)
	dir := t.TempDir()
	for name, text := range map[string]string{"admission.yaml": restrictions, "selectors.yaml": "podNodeSelectorPluginConfig: {clusterDefaultNodeSelector: env=all}\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	plugins := "OwnerReferencesPermissionEnforcement,EventRateLimit,PodNodeSelector,PodTolerationRestriction,ExtendedResourceToleration,NamespaceExists,AlwaysAdmit,LimitPodHardAntiAffinityTopology"
	g := harness.Start(t, harness.Options{Args: []string{"--controllers=", "--admission-control-config-file=" + filepath.Join(dir, "admission.yaml"), "--enable-admission-plugins=" + plugins}})
	api := g.API(t)
	const pod = `{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i","resources":{"limits":{"example.com/device":"1"}}}],"nodeSelector":{}}}`
	made := string(api.Post("/api/v1/namespaces/default/pods", json.RawMessage(pod)).Want(201).Body)
	for _, want := range []string{`"nodeSelector":{"env":"all"}`, `{"key":"dk","operator":"Exists"}`, `{"effect":"NoSchedule","key":"example.com/device","operator":"Exists"}`} {
		if !strings.Contains(made, want) {
			t.Errorf("%s has no %s", made, want)
		}
	}
	api.Post("/api/v1/namespaces/default/pods", json.RawMessage(strings.Replace(pod, `{}}}`, `{"env":"x"}}}`, 1))).WantStatus(403, "Forbidden", "conflicts with its namespace node label selector")
	api.Post("/api/v1/namespaces/default/pods", json.RawMessage(strings.Replace(pod, `"nodeSelector"`, `"affinity":{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"zone"}]}},"nodeSelector"`, 1))).Want(403)
	api.Merge("/api/v1/namespaces/default", json.RawMessage(`{"metadata":{"annotations":{"scheduler.alpha.kubernetes.io/tolerationsWhitelist":"[{\"key\":\"k\"}]"}}}`)).Want(200)
	api.Post("/api/v1/namespaces/default/pods", json.RawMessage(strings.Replace(pod, `"p"`, `"q"`, 1))).WantStatus(500, "", "conflict with its namespace whitelist")

	api.Post("/apis/authorization.k8s.io/v1/namespaces/none/localsubjectaccessreviews", json.RawMessage(`{"metadata":{"namespace":"none"},"spec":{"user":"u","resourceAttributes":{"namespace":"none","verb":"get","resource":"pods"}}}`)).WantStatus(404, "NotFound", `namespaces "none" not found`)

	const event = `{"metadata":{"name":"e","namespace":"default"},"involvedObject":{"namespace":"default","name":"x"}}`
	api.Post("/api/v1/namespaces/default/events?dryRun=All", json.RawMessage(event)).Want(201)
	api.Post("/api/v1/namespaces/default/events", json.RawMessage(event)).Want(201)
	api.Post("/api/v1/namespaces/default/events", json.RawMessage(strings.Replace(event, `"e"`, `"f"`, 1))).WantStatus(429, "TooManyRequests", "limit reached on type SourceAndObject for key defaultx")

	api.Post("/apis/rbac.authorization.k8s.io/v1/clusterroles", json.RawMessage(`{"metadata":{"name":"maps"},"rules":[{"apiGroups":[""],"resources":["configmaps"],"verbs":["create","patch"]}]}`)).Want(201)
	api.Post("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", json.RawMessage(`{"metadata":{"name":"maps"},"subjects":[{"kind":"User","name":"bob"}],"roleRef":{"kind":"ClusterRole","name":"maps"}}`)).Want(201)
	const owned = `{"metadata":{"name":"m","ownerReferences":[{"apiVersion":"v1","kind":"Secret","name":"o","uid":"u","blockOwnerDeletion":true}]}}`
	api.Do("POST", "/api/v1/namespaces/default/configmaps", json.RawMessage(owned), "Impersonate-User", "bob").WantStatus(403, "Forbidden", "you can't set finalizers on: , <nil>")
	api.Do("POST", "/api/v1/namespaces/default/configmaps", json.RawMessage(strings.Replace(owned, "true", "false", 1)), "Impersonate-User", "bob").Want(201)
	api.Post("/api/v1/namespaces/default/configmaps", json.RawMessage(strings.Replace(owned, `"m"`, `"n"`, 1))).Want(201)
}
