package e2e

import (
	"encoding/json"
	"os"
	"reflect"
	"testing"

	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"k8s.io/kube-aggregator/pkg/apis/apiregistration/v1/helper"

	"github.com/wasmgate/wasmgate/test/harness"
)

const apiServices = "/apis/apiregistration.k8s.io/v1/apiservices"

// testdata/apiservices.json are those that a kube-apiserver 1.36.3 made of its own
// built-in versions.
func TestBuiltInVersionsHaveAPIServices(t *testing.T) {
	data, err := os.ReadFile("testdata/apiservices.json")
	if err != nil {
		t.Fatal(err)
	}
	var want []struct {
		Name   string
		Labels map[string]string
		Spec   apiregistrationv1.APIServiceSpec
	}
	if err := json.Unmarshal(data, &want); err != nil {
		t.Fatal(err)
	}
	api := harness.Shared(t).API(t)
	for _, w := range want {
		var got apiregistrationv1.APIService
		if err := json.Unmarshal(api.Get(apiServices+"/"+w.Name).Want(200).Body, &got); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got.Labels, w.Labels) || !reflect.DeepEqual(got.Spec, w.Spec) {
			t.Errorf("%s is %v %+v", w.Name, got.Labels, got.Spec)
		}
		if c := helper.GetAPIServiceConditionByType(&got, apiregistrationv1.Available); c == nil || c.Status != "True" || c.Reason != "Local" {
			t.Errorf("%s: %+v", w.Name, got.Status)
		}
	}
	api.Get(apiServices + "/v1.apiregistration.k8s.io").Want(404)
}

// A definition has an APIService for each version that it serves, as long as it does.
func TestDefinitionsHaveAPIServices(t *testing.T) {
	api := harness.Shared(t).API(t)
	version := func(name string, served, storage bool) map[string]any {
		return map[string]any{"name": name, "served": served, "storage": storage, "schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object"}}}
	}
	const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
	api.Post(definitions, map[string]any{
		"metadata": map[string]any{"name": "books.registered.example.com"},
		"spec": map[string]any{
			"group": "registered.example.com", "scope": "Namespaced", "names": map[string]any{"plural": "books", "kind": "Book"},
			"versions": []any{version("v1", true, true), version("v1beta1", true, false), version("v1alpha1", false, false)},
		},
	}).Want(201)
	there := func(r *harness.Reply) bool {
		var s apiregistrationv1.APIService
		return r.Code == 200 && json.Unmarshal(r.Body, &s) == nil && s.Labels["kube-aggregator.kubernetes.io/automanaged"] == "true"
	}
	gone := func(r *harness.Reply) bool { return r.Code == 404 }
	const one, beta = apiServices + "/v1.registered.example.com", apiServices + "/v1beta1.registered.example.com"
	api.Eventually(one, there)
	api.Eventually(beta, there)
	api.Get(apiServices + "/v1alpha1.registered.example.com").Want(404)
	api.Delete(beta).Want(200) // who deletes one gets it back
	api.Eventually(beta, there)
	api.Delete(definitions + "/books.registered.example.com").Want(200)
	api.Eventually(one, gone)
	api.Eventually(beta, gone)
}

// What kube-apiserver makes for itself is there: the service of the API with endpoints
// where the machine has an address, the range of addresses, and the gateway's lease.
func TestObjectsThatTheServerMakesForItself(t *testing.T) {
	g := harness.Start(t, harness.Options{Args: []string{"--advertise-address=192.0.2.7"}})
	api := g.API(t)
	api.Eventually("/api/v1/namespaces/default/endpoints/kubernetes", func(r *harness.Reply) bool { return r.Contains(`"ip":"192.0.2.7"`) })
	api.Eventually("/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes", func(r *harness.Reply) bool { return r.Contains(`"addresses":["192.0.2.7"]`) })
	api.Eventually("/apis/networking.k8s.io/v1/servicecidrs/kubernetes", func(r *harness.Reply) bool {
		return r.Contains("Kubernetes default Service CIDR is ready")
	})
	api.Eventually("/api/v1/namespaces/kube-system/configmaps/kube-apiserver-legacy-service-account-token-tracking", func(r *harness.Reply) bool {
		return r.Contains(`"data":{"since":"20`)
	})
	leases := api.Get("/apis/coordination.k8s.io/v1/namespaces/kube-system/leases?labelSelector=apiserver.kubernetes.io/identity%3Dkube-apiserver").Want(200)
	if n := len(leases.Object().Items()); n != 1 || !leases.Contains("192.0.2.7:") {
		t.Errorf("%d leases: %s", n, leases.Body)
	}
	for _, step := range []string{"start-kube-apiserver-identity-lease-controller", "start-service-ip-repair-controllers", "kube-apiserver-autoregistration", "start-legacy-token-tracking-controller"} {
		if ready := api.Get("/readyz?verbose").Want(200); !ready.Contains("[+]poststarthook/" + step + " ok") {
			t.Errorf("no step %s: %s", step, ready.Body)
		}
	}
}
