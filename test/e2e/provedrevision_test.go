package e2e

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wasmgate/wasmgate/plugins/plugintest"
	"github.com/wasmgate/wasmgate/test/harness"
)

// provedWithin is how long all attempts of a proof may take on a busy machine.
const provedWithin = 5 * time.Minute

// networksDefinition is a definition that the module of plugintest.Lossy converts for.
func networksDefinition(t testing.TB, module string) object {
	t.Helper()
	crd := parse(t, `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"widgets.proved.example.com"},"spec":{
		"group":"proved.example.com","scope":"Cluster","names":{"plural":"widgets","kind":"Widget"},"versions":[
		{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{"networks":{"type":"array","items":{"type":"string"}}}}}},
		{"name":"v2","served":true,"storage":false,"schema":{"openAPIV3Schema":{"type":"object","properties":{"network":{"type":"string"}}}}}]}}`)
	crd.Set("spec.conversion", wasmConversion(module))
	return crd
}

// What loses fields of a definition that is bound serves neither as a first revision nor
// as a later one, where the module lets in no losses; the reason names field and versions.
func TestARevisionThatLosesFieldsDoesNotServe(t *testing.T) {
	harness.SkipExternal(t)
	g := harness.Start(t, harness.Options{})
	api := g.API(t)
	const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
	const path, widgets = modulePath + "/nets", "/apis/proved.example.com/v1/widgets"
	api.Post(definitions, networksDefinition(t, "nets")).Want(201) // before the module is there
	api.Post(modulePath, object{"apiVersion": "wasmgate.dev/v1", "kind": "WasmModule", "metadata": object{"name": "nets"},
		"spec": object{"source": object{"upload": object{}}, "proof": "Enforce", "config": object{"keep": false}}}).Want(201)
	content(api, "nets", plugintest.Build(t, plugintest.Lossy)).Want(200, 201)
	const lost, pair = "customresourcedefinitions/widgets.proved.example.com: Lost of networks", ", v1 to v2 and back"
	becomes := func(ready, reason string, parts ...string) {
		t.Helper()
		if !harness.Poll(provedWithin, func() bool {
			r, err := api.Try("GET", path, nil)
			if err != nil || r.Code != 200 {
				return false
			}
			compiled, is := condition(r.Object(), "Compiled"), condition(r.Object(), "Ready")
			message, _ := compiled["message"].(string)
			return is["status"] == ready && is["reason"] == reason && !slices.ContainsFunc(parts, func(p string) bool { return !strings.Contains(message, p) })
		}) {
			t.Fatalf("%s %s is not what became of it: %s", ready, reason, api.Get(path).Body)
		}
	}
	refused := func(ready, reason string) {
		t.Helper()
		becomes(ready, reason, lost, pair, "spec.acknowledgedLoss")
	}
	refused("False", "FieldsLost")

	api.Merge(path, object{"spec": object{"config": object{"keep": true}}}).Want(200)
	served := func() {
		t.Helper()
		becomes("True", "Serving")
	}
	served()
	api.Post(widgets, object{"apiVersion": "proved.example.com/v1", "kind": "Widget", "metadata": object{"name": "two"}, "networks": []any{"a", "b"}}).Want(201)
	kept := func() {
		t.Helper()
		api.Get("/apis/proved.example.com/v2/widgets/two").Want(200).Equal("network", "a").Equal("metadata.annotations.example.com/networks", `["a","b"]`)
	}
	kept()

	api.Merge(path, object{"spec": object{"config": object{"keep": false}}}).Want(200)
	refused("True", "PreviousRevision")
	kept()
	g.Terminate(t)
	g.Restart(t)
	api = g.API(t)
	kept()
	refused("True", "PreviousRevision")

	api.Merge(path, object{"spec": object{"acknowledgedLoss": []any{"networks", "network"}}}).Want(200)
	served()
	if r := api.Get("/apis/proved.example.com/v2/widgets/two").Want(200).Equal("network", "a"); r.Contains("example.com/networks") {
		t.Errorf("the revision before serves: %s", r.Body)
	}
}
