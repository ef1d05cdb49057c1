package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/test/harness"
	"github.com/wasmgate/wasmgate/test/story"
	"github.com/wasmgate/wasmgate/test/story/standards"
)

// TestTableOfStandards_ADM01 tells what admission plugins decide that nobody configures,
// and compares each reply with kube-apiserver's. The stories make classes that are
// defaults for everybody.
func TestTableOfStandards_ADM01(t *testing.T) {
	harness.SkipExternal(t)
	g := harness.Start(t, harness.Options{Args: []string{"--controllers="}})
	c := newTable(t, standards.Table, false, standards.Stories())
	for _, told := range standards.Stories() {
		t.Run(told.Name, func(t *testing.T) { c.tell(t, told, sender(g.API(t)), story.TextsOf) })
	}
}

// TestAdmissionPluginsAreConfigured_ADM01 has a gateway whose pods are held to a level
// unless somebody says otherwise, that has plugins on which are off by default, and
// whose tokens are for somebody else than who issues them, and where balancers are limited.
func TestAdmissionPluginsAreConfigured_ADM01(t *testing.T) {
	harness.SkipExternal(t)
	file := filepath.Join(t.TempDir(), "admission.yaml")
	text := "apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\nplugins:\n- name: PodSecurity\n  configuration: {apiVersion: pod-security.admission.config.k8s.io/v1, kind: PodSecurityConfiguration, defaults: {enforce: baseline}}\n- name: ResourceQuota\n  configuration: {apiVersion: apiserver.config.k8s.io/v1, kind: ResourceQuotaConfiguration, limitedResources: [{resource: services, matchContains: [services.loadbalancers]}]}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	g := harness.Start(t, harness.Options{Args: []string{"--controllers=", "--admission-control-config-file=" + file, "--enable-admission-plugins=AlwaysPullImages,DenyServiceExternalIPs", "--disable-admission-plugins=Priority", "--api-audiences=api,api.example"}})
	api := g.API(t)
	const pod = `{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i:1"}]}}`
	if r := api.Post("/api/v1/namespaces/default/pods", json.RawMessage(strings.Replace(pod, `"containers"`, `"hostPID":true,"containers"`, 1))).Want(403); !strings.Contains(string(r.Body), "violates PodSecurity") {
		t.Errorf("%s", r.Body)
	}
	if r := api.Post("/api/v1/namespaces/default/pods", json.RawMessage(pod)).Want(201); !strings.Contains(string(r.Body), `"imagePullPolicy":"Always"`) || strings.Contains(string(r.Body), `"priority"`) {
		t.Errorf("%s", r.Body)
	}
	api.Post("/api/v1/namespaces/default/services", json.RawMessage(`{"metadata":{"name":"s"},"spec":{"ports":[{"port":1}],"externalIPs":["1.2.3.4"]}}`)).Want(403)
	// Balancers are for namespaces that a quota of them covers.
	const balancer = `{"metadata":{"name":"b"},"spec":{"type":"LoadBalancer","ports":[{"port":1}]}}`
	if r := api.Post("/api/v1/namespaces/default/services", json.RawMessage(balancer)).Want(403); !strings.Contains(string(r.Body), "insufficient quota to consume: services.loadbalancers") {
		t.Errorf("%s", r.Body)
	}
	api.Post("/api/v1/namespaces/default/services", json.RawMessage(strings.Replace(balancer, "LoadBalancer", "ClusterIP", 1))).Want(201)
	api.Post("/api/v1/namespaces/default/resourcequotas", json.RawMessage(`{"metadata":{"name":"q"},"spec":{"hard":{"services.loadbalancers":"1"}}}`)).Want(201)
	api.Merge("/api/v1/namespaces/default/resourcequotas/q/status", json.RawMessage(`{"status":{"hard":{"services.loadbalancers":"1"},"used":{"services.loadbalancers":"0"}}}`)).Want(200)
	api.Post("/api/v1/namespaces/default/services", json.RawMessage(strings.Replace(balancer, `"b"`, `"c"`, 1))).Want(201)
	api.Post("/api/v1/namespaces/default/serviceaccounts", json.RawMessage(`{"metadata":{"name":"a"}}`)).Want(201)
	token := api.Post("/api/v1/namespaces/default/serviceaccounts/a/token", json.RawMessage(`{}`)).Want(201)
	if !strings.Contains(string(token.Body), `"audiences":["api","api.example"]`) {
		t.Errorf("%s", token.Body)
	}
	if r := api.Get("/metrics").Want(200); !strings.Contains(string(r.Body), `pod_security_evaluations_total{decision="deny",mode="enforce",policy_level="baseline"`) {
		t.Error("the refusal is not counted")
	}
}
