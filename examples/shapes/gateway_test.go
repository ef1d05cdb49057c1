package shapes

import (
	"encoding/json"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/test/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

// shapeCRD is a definition of KIND at the versions OLD and NOW, which take all fields.
const shapeCRD = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"PLURAL.shapes.example.com"},"spec":{
	"group":"shapes.example.com","scope":"Cluster","names":{"plural":"PLURAL","kind":"KIND"},
	"conversion":{"strategy":"Webhook","webhook":{"conversionReviewVersions":["v1"],"clientConfig":{"url":"wasm://shapes"}}},
	"versions":[
		{"name":"OLD","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}},
		{"name":"NOW","served":true,"storage":false,"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}]}}`

// The module converts each change in a gateway: what is written at one version is read
// at the other.
func TestModule_MIG03(t *testing.T) {
	api := harness.Shared(t).API(t)
	const crds, modules, group = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", "/apis/wasmgate.dev/v1/wasmmodules", "/apis/shapes.example.com/"
	api.Post(modules, `{"apiVersion":"wasmgate.dev/v1","kind":"WasmModule","metadata":{"name":"shapes"},"spec":{"source":{"upload":{}}}}`).Want(201)
	t.Cleanup(func() { _, _ = api.Try(http.MethodDelete, modules+"/shapes", nil) })
	api.Do(http.MethodPut, modules+"/shapes/content", harness.Module(t, "./module"), "Content-Type", "application/wasm").Want(200, 201)
	api.Eventually(modules+"/shapes", func(r *harness.Reply) bool {
		return strings.Contains(r.Str("status.conditions"), `"status":"True","type":"Ready"`)
	})
	defined := map[string]bool{}
	for n, c := range changes {
		plural := strings.ToLower(c.kind) + "s"
		if !defined[plural] {
			defined[plural] = true
			api.Post(crds, strings.NewReplacer("PLURAL", plural, "KIND", c.kind, "OLD", c.from, "NOW", c.to).Replace(shapeCRD)).Want(201)
			t.Cleanup(func() { _, _ = api.Try(http.MethodDelete, crds+"/"+plural+".shapes.example.com", nil) })
			api.Eventually(group+c.to+"/"+plural, func(r *harness.Reply) bool { return r.Code == 200 })
		}
		name := "n" + string(rune('a'+n))
		written := c.at(c.from, c.old)
		written["apiVersion"], written["metadata"] = "shapes.example.com/"+c.from, map[string]any{"name": name}
		text, err := json.Marshal(written)
		if err != nil {
			t.Fatal(err)
		}
		api.Post(group+c.from+"/"+plural, string(text)).Want(201)
		read := api.Get(group + c.to + "/" + plural + "/" + name).Want(200).Object()
		for field, want := range c.at(c.to, c.now) {
			switch field {
			case "apiVersion":
				want = "shapes.example.com/" + c.to
			case "metadata":
				read.Set("metadata", map[string]any{"name": "n", "annotations": read.At("metadata.annotations")})
				if want := want.(map[string]any); want["annotations"] == nil {
					want["annotations"] = any(nil)
				}
			}
			if got := read[field]; !reflect.DeepEqual(got, want) {
				t.Errorf("%s: %s is\n%v, want\n%v", c.name, field, got, want)
			}
		}
	}
}
