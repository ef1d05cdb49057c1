package convertible

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/webhook/conversion"

	v1 "github.com/wasmgate/wasmgate/examples/convertible/v1"
	v2 "github.com/wasmgate/wasmgate/examples/convertible/v2"
	"github.com/wasmgate/wasmgate/sdk"
	"github.com/wasmgate/wasmgate/test/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

// objects are Databases, and what may be said of those that cannot be converted.
var objects = []struct{ name, text, refused string }{
	{"all of v2", `{"apiVersion":"databases.example.com/v2","kind":"Database","metadata":{"name":"a","labels":{"l":"m"}},"spec":{"host":"h","port":5432,"tls":{"secretName":"s"},"users":["u"]}}`, ""},
	{"v2 with IPv6", `{"apiVersion":"databases.example.com/v2","kind":"Database","metadata":{"name":"a"},"spec":{"host":"::1","port":1}}`, ""},
	{"an empty v2", `{"apiVersion":"databases.example.com/v2","kind":"Database","metadata":{"name":"a","annotations":{}}}`, ""},
	{"v1 with what v2 said, alone", `{"apiVersion":"databases.example.com/v1","kind":"Database","metadata":{"name":"a","annotations":{"databases.example.com/tls":"{\"secretName\":\"s\"}"}},"spec":{"hostPort":"h:1"}}`, ""},
	{"v1 with what v2 said, and more", `{"apiVersion":"databases.example.com/v1","kind":"Database","metadata":{"name":"a","annotations":{"databases.example.com/tls":"{}","b":"c"},"labels":{}},"spec":{"hostPort":"h"}}`, ""},
	{"v1 with what nobody knows", `{"apiVersion":"databases.example.com/v1","kind":"Database","metadata":{"name":"a"},"spec":{"hostPort":"h","other":1},"status":{}}`, ""},
	{"v1 without a number", `{"apiVersion":"databases.example.com/v1","kind":"Database","metadata":{"name":"a"},"spec":{"hostPort":"h:x"}}`, `spec.hostPort: "x" is no port`},
	{"v1 of a wrong type", `{"apiVersion":"databases.example.com/v1","kind":"Database","metadata":{"name":"a"},"spec":{"hostPort":1}}`, "hostPort"},
}

// review asks for an object at the other version.
func review(text string) []byte {
	to := "v2"
	if strings.Contains(text, "/v2") {
		to = "v1"
	}
	return []byte(`{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","request":{"uid":"u","desiredAPIVersion":"databases.example.com/` + to + `","objects":[` + text + `]}}`)
}

// said is what of a reply counts in a server: of metadata, labels and annotations.
func said(t *testing.T, reply []byte) (map[string]any, string) {
	t.Helper()
	var r apiextensionsv1.ConversionReview
	if err := json.Unmarshal(reply, &r); err != nil || r.Response == nil {
		t.Fatalf("%v: %s", err, reply)
	}
	if len(r.Response.ConvertedObjects) == 0 {
		return nil, r.Response.Result.Message
	}
	var o map[string]any
	if err := json.Unmarshal(r.Response.ConvertedObjects[0].Raw, &o); err != nil {
		t.Fatal(err)
	}
	kept := map[string]any{}
	metadata, _ := o["metadata"].(map[string]any)
	for _, name := range []string{"labels", "annotations"} {
		if values, _ := metadata[name].(map[string]any); len(values) > 0 {
			kept[name] = values
		}
	}
	o["metadata"] = kept
	return o, ""
}

// A module says of every object what controller-runtime's webhook says.
func TestAsControllerRuntimeConverts_MIG03(t *testing.T) {
	scheme := runtime.NewScheme()
	scheme.AddKnownTypeWithName(schema.GroupVersionKind{Group: "databases.example.com", Version: "v1", Kind: "Database"}, &v1.Database{})
	scheme.AddKnownTypeWithName(schema.GroupVersionKind{Group: "databases.example.com", Version: "v2", Kind: "Database"}, &v2.Database{})
	webhook := conversion.NewWebhookHandler(scheme, conversion.NewRegistry())
	for _, c := range objects {
		t.Run(c.name, func(t *testing.T) {
			w := httptest.NewRecorder()
			webhook.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/convert", bytes.NewReader(review(c.text))))
			want, refusal := said(t, w.Body.Bytes())
			got, words := said(t, sdk.HandleConversion(review(c.text)))
			if !reflect.DeepEqual(got, want) {
				t.Errorf("it says\n%v, the webhook\n%v", got, want)
			}
			if !strings.Contains(words, c.refused) || !strings.Contains(refusal, c.refused) || (words == "") != (c.refused == "") {
				t.Errorf("it refuses with %q, the webhook with %q", words, refusal)
			}
		})
	}
}

const definition = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"databases.databases.example.com"},"spec":{
	"group":"databases.example.com","scope":"Namespaced","names":{"plural":"databases","kind":"Database"},
	"conversion":{"strategy":"Webhook","webhook":{"conversionReviewVersions":["v1"],"clientConfig":{"url":"wasm://databases"}}},
	"versions":[
		{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}},
		{"name":"v2","served":true,"storage":false,"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}]}}`

// The module, built of the source, converts in a gateway: what is written at v2 and stored
// at v1 comes back whole.
func TestModule_MIG03(t *testing.T) {
	api := harness.Shared(t).API(t)
	const crds, modules, group = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", "/apis/wasmgate.dev/v1/wasmmodules", "/apis/databases.example.com/"
	api.Post(modules, `{"apiVersion":"wasmgate.dev/v1","kind":"WasmModule","metadata":{"name":"databases"},"spec":{"source":{"upload":{}}}}`).Want(201)
	t.Cleanup(func() { _, _ = api.Try(http.MethodDelete, modules+"/databases", nil) })
	api.Do(http.MethodPut, modules+"/databases/content", harness.Module(t, "./module"), "Content-Type", "application/wasm").Want(200, 201)
	api.Eventually(modules+"/databases", func(r *harness.Reply) bool {
		return strings.Contains(r.Str("status.conditions"), `"status":"True","type":"Ready"`)
	})
	api.Post(crds, definition).Want(201)
	t.Cleanup(func() { _, _ = api.Try(http.MethodDelete, crds+"/databases.databases.example.com", nil) })
	api.Eventually(group+"v2/databases", func(r *harness.Reply) bool { return r.Code == 200 })
	written := api.Post(group+"v2/namespaces/default/databases", objects[0].text).Want(201).Object()
	api.Get(group+"v1/namespaces/default/databases/a").Want(200).Equal("spec.hostPort", "h:5432").
		Equal("metadata.annotations", `{"databases.example.com/tls":"{\"secretName\":\"s\"}"}`).Equal("metadata.labels", `{"l":"m"}`)
	read := api.Get(group+"v2/namespaces/default/databases/a").Want(200).Equal("metadata.annotations", "").Object()
	if got, want := read.Str("spec"), written.Str("spec"); got != want || got != `{"host":"h","port":5432,"tls":{"secretName":"s"},"users":["u"]}` {
		t.Errorf("it was %s and is %s", want, got)
	}
	api.Merge(group+"v2/namespaces/default/databases/a", `{"spec":{"host":1}}`).WantStatus(500, "", "cannot unmarshal number")
}
