package api

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/wasmgate/wasmgate/gateway/authz"
	"github.com/wasmgate/wasmgate/gateway/view/encoding"
)

const metaForm = "Accept: application/json;g=meta.k8s.io;v=v1;as="

func TestWrites_AreAnsweredInTheClientsForm(t *testing.T) {
	w := newWorld(t)
	r := w.do("POST", widgets, a("one", `"size":1`)).want(201, `"name":"one"`)
	if r.ContentType != encoding.TypeJSON || r.tree()["kind"] != "Widget" {
		t.Errorf("%s %s", r.ContentType, r.body)
	}
	w.do("POST", widgets, a("one", "")).want(409, "AlreadyExists")
	w.do("POST", widgets, a("two", ""), metaForm+"PartialObjectMetadata").want(201, `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{`).without(`"spec"`)
	w.do("POST", widgets, a("three", `"size":3`), metaForm+"Table").want(201, `"cells":["three",3]`)
	w.do("POST", widgets, a("four", `"size":4`), "Accept: application/yaml").want(201, "  size: 4\n")
	w.do("POST", widgets+"?pretty=1", a("five", "")).want(201, "\n  \"")
	w.do("POST", widgets, a("six", ""), "Accept: text/html").want(406, "")
	w.do("GET", widgets+"/six", "").want(404, "")
	w.do("POST", widgets, "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: seven}\nspec: {size: 7}\n", "Content-Type: application/yaml").want(201, `"size":7`)
	w.do("POST", widgets, "{}", "Content-Type: text/plain").want(415, "")
	w.do("POST", widgets+"?dryRun=All", a("eight", "")).want(201, "eight")
	w.do("GET", widgets+"/eight", "").want(404, "")
	w.do("POST", widgets+"?dryRun=Some", a("eight", "")).want(422, "CreateOptions")
	w.do("PUT", widgets+"/one?dryRun=Some", a("one", "")).want(422, "UpdateOptions")
	w.do("PATCH", widgets+"/one?dryRun=Some", "{}", "Content-Type: application/merge-patch+json").want(422, "PatchOptions")
	w.do("POST", widgets+"?fieldManager=%zz", a("eight", "")).want(400, "")
}

func TestUpdatesAndPatches(t *testing.T) {
	w := newWorld(t)
	w.do("POST", widgets, a("one", `"size":1`)).want(201, "")
	w.do("PUT", widgets+"/one", strings.Replace(w.do("GET", widgets+"/one", "").body, `"size":1`, `"size":2`, 1)).want(200, `"size":2`)
	w.do("PUT", widgets+"/one", strings.Replace(a("one", ""), `"name"`, `"resourceVersion":"1","name"`, 1)).want(409, "Conflict")
	w.do("PATCH", widgets+"/one", `{"spec":{"size":3}}`, "Content-Type: application/merge-patch+json").want(200, `"size":3`)
	w.do("PATCH", widgets+"/one", `[{"op":"replace","path":"/spec/size","value":4}]`, "Content-Type: application/json-patch+json").want(200, `"size":4`)
	w.do("PATCH", widgets+"/one", "{}", "Content-Type: application/strategic-merge-patch+json").want(415, "")
	w.do("PATCH", widgets+"/one", "{}", "Content-Type: ,").want(415, "")
	w.do("PATCH", widgets+"/one/status", `{"spec":{"size":9},"status":{"replicas":1}}`, "Content-Type: application/merge-patch+json").want(200, `"size":4`)
	w.do("PUT", widgets+"/one/status", strings.Replace(w.do("GET", widgets+"/one/status", "").body, `"replicas":1`, `"replicas":2`, 1)).want(200, `"replicas":2`)
}

// A Scale is one way to see an object, and to change it.
// In kube-apiserver's words.
func TestYAMLThatCannotBeRead_MT05(t *testing.T) {
	newWorld(t).do("POST", "/api/v1/namespaces/default/configmaps", "a: [", "Content-Type: application/yaml").
		want(400, `the object provided is unrecognized (must be of type ConfigMap): yaml: line 1: did not find expected node content (613a205b)"`)
}

func TestScale(t *testing.T) {
	w := newWorld(t)
	w.do("POST", widgets, a("one", `"replicas":1,"size":5`)).want(201, "")
	w.do("GET", widgets+"/one/scale", "").want(200, `"kind":"Scale"`).without("size")
	w.do("PATCH", widgets+"/one/scale", `{"spec":{"replicas":2}}`, "Content-Type: application/merge-patch+json").want(200, `"kind":"Scale"`)
	w.do("GET", widgets+"/one", "").want(200, `"replicas":2`).want(200, `"size":5`)
	w.do("PUT", widgets+"/one/scale", `{"kind":"Scale","apiVersion":"autoscaling/v1","metadata":{"name":"one","namespace":"default"},"spec":{"replicas":3}}`).want(200, `"kind":"Scale"`)
	w.do("GET", widgets+"/one", "").want(200, `"replicas":3`)
	w.do("GET", widgets+"/none/scale", "").want(404, "")
}

func TestReads(t *testing.T) {
	w := newWorld(t)
	for i := range 3 {
		w.do("POST", widgets, a(fmt.Sprint("w", i), fmt.Sprintf(`"size":%d`, i))).want(201, "")
	}
	w.do("GET", widgets+"/w1", "").want(200, `"size":1`)
	w.do("GET", widgets+"/w1?resourceVersion=x", "").want(400, "")
	w.do("GET", widgets+"/w1?pretty=%zz", "").want(400, "")
	w.do("GET", widgets+"/w1?pretty=true", "").want(200, "{\n  \"")
	w.do("GET", widgets+"/w1?pretty=false", "").want(200, "").without("\n  ")
	w.do("GET", widgets+"/w1?pretty=x", "").want(200, "").without("\n  ")
	w.do("GET", widgets+"/w1", "", "Accept: application/yaml").want(200, "  size: 1\n")
	w.do("GET", widgets+"/w1", "", metaForm+"PartialObjectMetadata").want(200, `"name":"w1"`).without(`"spec"`)
	w.do("GET", widgets+"/w1", "", metaForm+"PartialObjectMetadataList").want(406, "")
	w.do("GET", widgets+"/w1", "", metaForm+"Table").want(200, `"cells":["w1",1]`).want(200, `"columnDefinitions":[{"name":"Name"`)
	w.do("GET", widgets+"/w1?noHeaders=true", "", metaForm+"Table").want(200, `"cells":["w1",1]`).want(200, `"columnDefinitions":null`)
	for _, url := range []string{widgets + "/w1", widgets + "?limit=1", widgets} {
		whole := w.do("GET", url, "").tree()["metadata"].(map[string]any)
		table := w.do("GET", url, "", metaForm+"Table").tree()["metadata"].(map[string]any)
		if table["resourceVersion"] == nil || table["resourceVersion"] != whole["resourceVersion"] {
			t.Errorf("%s: the table is of %v, the rest of %v", url, table["resourceVersion"], whole["resourceVersion"])
		}
	}
	w.do("GET", widgets+"/none", "", "Accept: application/yaml").want(404, "reason: NotFound\n")
	w.do("HEAD", widgets+"/w1", "").want(200, `"size":1`) // the transport drops it

	w.do("GET", widgets, "").want(200, `"kind":"WidgetList"`).want(200, `"size":2`)
	w.do("GET", widgets+"?pretty=true", "").want(200, "\n  \"items\"")
	w.do("GET", widgets, "", "Accept: application/yaml").want(200, "kind: WidgetList\n")
	w.do("GET", widgets+"?limit=x", "").want(400, "")
	w.do("GET", widgets+"?limit=1&limit=%zz", "").want(400, "")
	w.do("GET", widgets+"?resourceVersionMatch=Exact", "").want(422, "")
	// These are for watches only.
	w.do("GET", widgets+"?sendInitialEvents=true", "").want(422, "sendInitialEvents is forbidden for list")
	w.do("DELETE", widgets+"?sendInitialEvents=true", "").want(422, "sendInitialEvents is forbidden for list")
	w.do("GET", widgets, "", "Accept: text/html").want(406, "")
	w.do("GET", widgets, "", metaForm+"PartialObjectMetadataList").want(200, `"kind":"PartialObjectMetadataList"`).want(200, `{"kind":"PartialObjectMetadata"`).without(`"spec"`)
	w.do("GET", widgets, "", metaForm+"PartialObjectMetadata").want(200, `"kind":"PartialObjectMetadataList"`).without(`"spec"`)
	w.do("GET", widgets+"/w1", "", metaForm+"PartialObjectMetadataList").want(406, "you requested PartialObjectMetadataList, but the requested object is not a list (*unstructured.Unstructured)")
	page := w.do("GET", widgets+"?limit=2", "", metaForm+"Table").want(200, `"cells":["w1",1]`).without(`"w2"`).tree()
	meta := page["metadata"].(map[string]any)
	if meta["remainingItemCount"] != 1.0 || meta["continue"] == "" || meta["resourceVersion"] == "" || page["apiVersion"] != "meta.k8s.io/v1" {
		t.Errorf("%v", meta)
	}
	w.do("GET", widgets+"?limit=2&continue="+meta["continue"].(string), "").want(200, `"w2"`).without(`"w1"`)
	for include, want := range map[string]string{"Object": `"spec":{"size":1}`, "Metadata": `"object":{"kind":"PartialObjectMetadata"`, "None": `"object":null`} {
		w.do("GET", widgets+"?includeObject="+include, "", metaForm+"Table").want(200, want)
	}
	w.do("GET", widgets+"?includeObject=x", "", metaForm+"Table").want(400, `includeObject: Invalid value: \"x\": must be 'Metadata', 'Object', 'None', or empty`)
	w.do("GET", widgets+"/w1?includeObject=x", "", metaForm+"Table").want(400, "")
}

func TestDeletions_DEL05(t *testing.T) {
	w := newWorld(t)
	for i := range 5 {
		w.do("POST", widgets, strings.Replace(a(fmt.Sprint("w", i), ""), `"name"`, fmt.Sprintf(`"labels":{"n":"%d"},"name"`, i), 1)).want(201, "")
	}
	gone := w.do("DELETE", widgets+"/w0", "").want(200, `"status":"Success"`).tree()
	if d := gone["details"].(map[string]any); d["name"] != "w0" || d["group"] != "example.com" || d["kind"] != "widgets" || d["uid"] == "" || gone["kind"] != "Status" {
		t.Errorf("%v", gone)
	}
	w.do("DELETE", widgets+"/w0", "").want(404, "")
	w.do("DELETE", widgets+"/w1", `{"dryRun":["All"]}`).want(200, "")
	w.do("DELETE", widgets+"/w1?dryRun=All", "").want(200, "")
	w.do("GET", widgets+"/w1", "").want(200, "")
	w.do("DELETE", widgets+"/w1", `{"preconditions":{"uid":"other"}}`).want(409, "")
	w.do("DELETE", widgets+"/w1", `{"kind":"Pod"}`).want(400, `no kind \"Pod\" is registered for version \"\"`)
	w.do("DELETE", widgets+"/w1?dryRun=x", "").want(422, "")
	w.do("DELETE", widgets+"/w1?dryRun=%zz", "").want(400, "")
	w.do("DELETE", widgets+"/w1", "", "Accept: text/html").want(406, "")
	w.do("PATCH", widgets+"/w1", `{"metadata":{"finalizers":["example.com/hold"]}}`, "Content-Type: application/merge-patch+json").want(200, "")
	w.do("DELETE", widgets+"/w1", "", metaForm+"PartialObjectMetadata").want(200, `"deletionTimestamp"`).want(200, `{"kind":"PartialObjectMetadata"`)
	w.do("PATCH", widgets+"/w1", `{"metadata":{"finalizers":null}}`, "Content-Type: application/merge-patch+json").want(200, "")
	w.do("GET", widgets+"/w1", "").want(404, "")

	// Who says in the old way that dependents are to go is told that it goes on.
	for _, c := range []struct {
		finalizer, query string
		code             int
		want             string
	}{
		{"example.com/hold", "orphanDependents=false", 202, `["example.com/hold"]`},
		{"orphan", "orphanDependents=false", 200, `"status":"Success"`},
		{"example.com/hold", "orphanDependents=true", 200, `["example.com/hold","orphan"]`},
		{"example.com/hold", "propagationPolicy=Background", 200, `["example.com/hold"]`},
		{"example.com/hold", "propagationPolicy=Foreground&gracePeriodSeconds=-1", 200, `["example.com/hold","foregroundDeletion"]`},
	} {
		w.do("POST", widgets, strings.Replace(a("held", ""), `"name"`, `"finalizers":["`+c.finalizer+`"],"name"`, 1)).want(201, "")
		w.do("DELETE", widgets+"/held?"+c.query, "").want(c.code, c.want)
		if c.want[0] == '[' {
			w.do("PATCH", widgets+"/held", `{"metadata":{"finalizers":null}}`, "Content-Type: application/merge-patch+json").want(200, "")
		}
	}

	w.do("DELETE", widgets+"?labelSelector=,,", "").want(400, "")
	w.do("DELETE", widgets+"?labelSelector=n%3D2&dryRun=x", "").want(422, "")
	w.do("DELETE", widgets+"?limit=%zz", "").want(400, "")
	w.do("DELETE", widgets, "", "Accept: text/html").want(406, "")
	w.do("DELETE", widgets+"?labelSelector=n%3D2", "", metaForm+"PartialObjectMetadataList").want(200, `"kind":"PartialObjectMetadataList"`)
	w.do("GET", widgets, "").want(200, `"w3"`).without(`"w2"`)
	w.do("DELETE", widgets+"?dryRun=All", "").want(200, `"kind":"WidgetList"`)
	w.do("DELETE", widgets, "").want(200, `"w3"`)
	w.do("GET", widgets, "").want(200, `"items":[]`)
	w.do("GET", widgets, "", metaForm+"PartialObjectMetadataList").want(200, `"items":null`)
	w.do("GET", widgets, "", "Accept: application/yaml;g=meta.k8s.io;v=v1;as=PartialObjectMetadataList").want(200, "\nitems: null\n")
}

// The methods that an address has, and what addresses nothing.
func TestAddresses_VERB01(t *testing.T) {
	w := newWorld(t)
	w.do("POST", widgets, a("one", "")).want(201, "")
	const group = "/apis/example.com/v1"
	for _, c := range []struct {
		method, path string
		code         int
		part         string
	}{
		{"PUT", widgets, 400, "name must be provided"},
		{"PATCH", widgets, 400, "name must be provided"},
		{"POST", widgets + "/one", 409, "AlreadyExists"},
		{"POST", "/api/v1/namespaces/default", 405, ""},
		{"PUT", "/api/v1/namespaces", 405, ""},
		{"GET", widgets + "/..", 400, "Name parameter invalid"},
		{"GET", widgets + "/a%b", 400, "may not contain '%'"},
		{"TRACE", widgets + "/one", 405, ""},
		{"OPTIONS", "/api/v1/namespaces", 405, "the server does not allow this method on the requested resource"},
		{"DELETE", widgets + "/one/status", 405, ""},
		{"POST", widgets + "/one/status", 405, ""},
		{"GET", widgets + "/one/nothing", 404, `widgets.example.com \"one\" not found`},
		{"GET", widgets + "/one/status/more", 200, "Widget"},
		{"GET", "/api/v1/namespaces/default/status/more", 404, ""},
		{"GET", group + "/nothings", 404, "404 page not found"},
		{"GET", "/api/v1/nothings", 404, "the server could not find the requested resource"},
		{"GET", "/apis/apps/v9/things", 404, ""},
		{"GET", "/apis/coordination.k8s.io/v1/things", 404, "the server could not find"},
		{"GET", "/apis/example.com/v1/namespaces//widgets", 200, "WidgetList"},
		{"GET", group + "/widgets/one", 404, ""},
		{"GET", group + "/widgets/one/status", 404, ""},
		{"POST", group + "/widgets", 404, ""},
		{"DELETE", group + "/widgets", 404, ""},
		{"POST", "/api/v1/configmaps", 405, ""},
		{"GET", group + "/widgets", 200, "WidgetList"},
		{"GET", "/api/v1/namespaces/default/namespaces", 404, ""},
		{"GET", "/api/v1/namespaces/default", 200, `"kind":"Namespace"`},
		{"GET", "/hello?a=b", 200, "hello a=b"},
		{"GET", "/nothing", 404, "404 page not found"},
		{"GET", "/apis/nothing", 404, "404 page not found"},
		{"GET", "/hello?timeout=x", 400, "invalid timeout"},
		{"GET", widgets + "/one?timeout=1", 400, "missing unit"},
	} {
		body := ""
		if c.method == "POST" || c.method == "PUT" {
			body = a("one", "")
		}
		w.do(c.method, c.path, body).want(c.code, c.part)
		if c.part == "404 page not found" {
			continue
		}
	}
}

func TestDeprecatedVersions_Warn(t *testing.T) {
	w := newWorld(t)
	const old = "/apis/example.com/v1beta1/namespaces/default/widgets"
	w.do("POST", widgets, a("one", "")).want(201, "")
	for url, code := range map[string]int{old: 200, old + "/one": 200, old + "/none": 404} {
		if r := w.do("GET", url, "").want(code, ""); r.header("Warning") != `299 - "widgets of v1beta1 are old"` {
			t.Errorf("%s: %v", url, r.Headers)
		}
	}
	if r := w.do("GET", widgets, ""); r.header("Warning") != "" {
		t.Errorf("%v", r.Headers)
	}
}

// Everything is refused before a body is read, the unknown first.
func TestServe_Order(t *testing.T) {
	w := newWorld(t)
	for name, c := range map[string]struct {
		method, url, authorization string
		as                         *Impersonation
		code                       int
		part                       string
		read                       bool
	}{
		"nobody":               {"POST", widgets, "", nil, 403, `User \"system:anonymous\" cannot create resource \"widgets\"`, false},
		"an unknown token":     {"POST", widgets, "Bearer x", nil, 401, "Unauthorized", false},
		"an unknown, open":     {"GET", "/version", "Bearer x", nil, 401, "Unauthorized", false}, // who shows something wrong is not nobody
		"nobody, no such path": {"POST", "/nothing", "", nil, 403, `User \"system:anonymous\" cannot post path`, false},
		"nobody, a bad time":   {"POST", widgets + "?timeout=x", "", nil, 400, "invalid timeout", false},
		"nobody, open":         {"GET", "/version", "", nil, 200, "hello", false},
		"nobody, not to write": {"POST", "/version", "", nil, 403, "", false},
		"bob":                  {"POST", widgets, "Bearer bob", nil, 403, `User \"bob\" cannot create resource \"widgets\" in API group \"example.com\" in the namespace \"default\"`, false},
		"bob, open":            {"GET", "/version", "Bearer bob", nil, 200, "hello", false},
		"a question":           {"GET", widgets, "Bearer admin", nil, 200, "", false},
		"bob as admin":         {"POST", widgets, "Bearer bob", &Impersonation{User: "admin"}, 403, "cannot impersonate", false},
		"admin as bob":         {"POST", widgets, "Bearer admin", &Impersonation{User: "bob"}, 403, `User \"bob\"`, false},
		"admin as a group":     {"POST", widgets, "Bearer admin", &Impersonation{Groups: []string{"system:masters"}}, 400, "without impersonating", false},
		"nobody as admin":      {"GET", "/version", "", &Impersonation{User: "admin"}, 403, "cannot impersonate", false},
		"admin":                {"POST", widgets, "Bearer admin", nil, 201, "", true},
	} {
		r := request(c.method, c.url, a("one", ""), "Authorization: "+c.authorization)
		r.Impersonate = c.as
		read := false
		next := r.ReadBody
		r.ReadBody = func(limit int) ([]byte, error) { read = true; return next(limit) }
		w.serve(r).want(c.code, c.part)
		if read != c.read {
			t.Errorf("%s: read %v", name, read)
		}
		if c.code == 401 && w.serve(r).header("Www-Authenticate") == "" {
			t.Errorf("%s: not told how", name)
		}
	}
}

func TestContents(t *testing.T) {
	w := newWorld(t)
	const wasm = "Content-Type: application/wasm"
	w.do("PUT", widgets+"/one/content?fieldManager=me", strings.Repeat("x", 16), wasm).want(200, `{"kind":"Widget"}`)
	if want := "one application/wasm " + strings.Repeat("x", 16) + " me"; w.uploads.got != want {
		t.Errorf("%q", w.uploads.got)
	}
	w.do("PUT", widgets+"/one/content", strings.Repeat("x", 17), wasm).want(500, errTooLarge.Error())
	w.do("PUT", widgets+"/one/other", strings.Repeat(" ", 17)).want(404, "")                         // another limit
	w.do("PATCH", widgets+"/one/content", strings.Repeat("x", 17)).want(405, "")                     // the usual one
	w.do("POST", widgets, strings.Repeat(" ", 1<<10-len(a("one", "")))+a("one", "")).want(201, "")   // just fits
	w.do("POST", widgets, strings.Repeat(" ", 1<<10-len(a("two", ""))+1)+a("two", "")).want(500, "") // just does not
	w.do("GET", widgets+"/one/content?digest=sha256:1", "").want(200, "bytes of one sha256:1")
	w.do("GET", widgets+"/one/content?digest=%zz", "").want(400, "")
	w.do("DELETE", widgets+"/one/content", "").want(405, "")
	w.do("GET", widgets+"/one/content", "", "Authorization: Bearer bob").want(403, "")
	w.do("PUT", "/api/v1/namespaces/default/configmaps/one/content", "{}").want(404, "")
}

func TestQuestions(t *testing.T) {
	w := newWorld(t)
	w.do("POST", widgets+"/one/question", "why").want(200, "create one application/json why")
	w.do("POST", widgets+"/one/question", "a: [b]", "Content-Type: application/yaml").want(200, `create one application/json {"a":["b"]}`)
	w.do("POST", widgets+"/one/question", "a: &a "+strings.Repeat("x", 500)+"\nb: &b ["+strings.Repeat("*a,", 80)+"]\nc: &c ["+strings.Repeat("*b,", 20)+"]\nd: ["+strings.Repeat("*c,", 40)+"]\n",
		"Content-Type: application/yaml").want(400, "")
	w.do("POST", widgets+"/one/question", "why", "Content-Type: application/vnd.kubernetes.protobuf").want(200, "create one application/vnd.kubernetes.protobuf why")
	w.do("POST", widgets+"/one/question", "why", "Content-Type: text/plain").want(415, "UnsupportedMediaType")
	w.do("GET", widgets+"/one/log", "").want(200, "get one  ")
	w.do("POST", widgets+"/one/question", strings.Repeat("x", 1<<10+1)).want(500, errTooLarge.Error())
	w.do("POST", widgets+"/none/question", "").want(404, "NotFound")
	for _, method := range []string{"GET", "PUT", "PATCH", "DELETE"} {
		w.do(method, widgets+"/one/question", "").want(405, "")
	}
	w.do("POST", widgets+"/one/log", "").want(405, "")
	w.do("POST", "/api/v1/namespaces/default/configmaps/one/question", "{}").want(404, "")
	w.do("POST", widgets+"/one/question", "why", "Authorization: Bearer bob").want(403, "")
	// What a question is asked with is told it.
	w.do("POST", widgets+"/one/question?dryRun=All&fieldManager=me", "why").want(200, "why dry run of admin as me")
	w.do("POST", widgets+"/one/question?dryRun=Some", "why").want(422, "dryRun")
}

// A request that meets a definition being replaced starts over, not for ever.
func TestServe_StartsOverWhenTheDefinitionIsReplaced(t *testing.T) {
	w := newWorld(t)
	w.uploads.replaced = maxLookups - 1
	w.do("PUT", widgets+"/one/content", "x").want(200, "")
	w.uploads.replaced = maxLookups
	w.do("PUT", widgets+"/one/content", "x").want(500, "InternalError")
}

// Typed clients send their bodies in another form.
func TestProtobufBodies(t *testing.T) {
	w := newWorld(t)
	const path, media = "/api/v1/namespaces/default/configmaps", "Content-Type: application/vnd.kubernetes.protobuf"
	message := func(kind string, raw []byte, err error) string {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		u := runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: "v1", Kind: kind}, Raw: raw}
		b, err := u.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		return "k8s\x00" + string(b)
	}
	object := corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "one"}, Data: map[string]string{"a": "b"}}
	raw, err := object.Marshal()
	whole := message("ConfigMap", raw, err)
	w.do("POST", path, whole, media).want(201, `"data":{"a":"b"}`)
	w.do("POST", path, whole[4:], media).want(400, "expected prefix [107 56 115 0]")
	w.do("POST", path, whole[:len(whole)-3], media).want(400, "")
	w.do("POST", widgets, whole, media).want(415, "")
	options := metav1.DeleteOptions{DryRun: []string{"All"}}
	raw, err = options.Marshal()
	whole = message("DeleteOptions", raw, err)
	w.do("DELETE", path+"/one", whole, media).want(200, "")
	w.do("GET", path+"/one", "").want(200, "")
	w.do("DELETE", path+"/one", whole[4:], media).want(400, "expected prefix [107 56 115 0]")
	w.do("DELETE", path+"/one", whole[:6], media).want(400, "")
	w.do("DELETE", path+"/one", message("DeleteOptions", []byte{0xff}, nil), media).want(400, "")
	w.do("DELETE", path+"/one", "dryRun: [All]\n", "Content-Type: application/yaml").want(200, "")
	w.do("DELETE", path+"/one", "{}", "Content-Type: text/plain").want(415, "")
	w.do("DELETE", path+"/one", "[", "Content-Type: application/json").want(400, "json parse error")
	w.do("DELETE", path+"/one", `{"dryRun":1}`).want(400, "")
	w.do("GET", path+"/one", "").want(200, "")
}

// Credentials that are refused are told to the log, and others are not.
func TestCredentials_InTheLog(t *testing.T) {
	var log bytes.Buffer
	w := newWorld(t, func(c *Setup) { c.Log = zerolog.New(&log).Level(zerolog.DebugLevel) })
	w.do("GET", "/version", "").want(200, "")
	w.do("GET", widgets, "", "Authorization: ").want(403, "")
	if strings.Contains(log.String(), "credentials") {
		t.Errorf("%s", log.String())
	}
	w.do("GET", widgets, "", "Authorization: Bearer c2VjcmV0").want(401, "")
	if all := log.String(); !strings.Contains(all, "credentials refused") || strings.Contains(all, "c2VjcmV0") {
		t.Errorf("%s", all)
	}
}

func TestObserver_CountsWhatExists(t *testing.T) {
	w := newWorld(t)
	check := func(code int, dry bool, want Info) {
		t.Helper()
		i, dryRun, _, ended := w.observed.last()
		want.Path, want.scoped = i.Path, i.scoped
		if i != want || dryRun != dry || ended != code {
			t.Errorf("%+v %v %d", i, dryRun, ended)
		}
	}
	w.do("POST", widgets+"?dryRun=All", a("one", ""))
	check(201, true, Info{Resource: true, Verb: "create", Group: "example.com", Version: "v1", Namespace: "default", Plural: "widgets"})
	w.do("GET", widgets+"/one/status", "")
	check(404, false, Info{Resource: true, Verb: "get", Group: "example.com", Version: "v1", Namespace: "default", Plural: "widgets", Name: "one", Subresource: "status"})
	w.do("PUT", widgets+"/one/content", "x")
	check(200, false, Info{Resource: true, Verb: "update", Group: "example.com", Version: "v1", Namespace: "default", Plural: "widgets", Name: "one", Subresource: "content"})
	for _, path := range []string{"/invented", "/api/v1/inventeds", "/apis/inv/v1/x", "/apis/example.com/v9/widgets", widgets + "/one/invented"} {
		w.do("GET", path, "")
		verb := "get"
		if strings.HasSuffix(path, "eds") || strings.HasSuffix(path, "/x") || strings.HasSuffix(path, "v9/widgets") {
			verb = "list"
		}
		check(404, false, Info{Verb: verb})
	}
	// A watch is counted when it ends.
	_, _, before, _ := w.observed.last()
	f := w.watch(t, widgets+"?watch=1", nil)
	if _, _, now, _ := w.observed.last(); now != before {
		t.Error("counted before its end")
	}
	f.end()
	<-f.ended
	check(200, false, Info{Resource: true, Verb: "watch", Group: "example.com", Version: "v1", Namespace: "default", Plural: "widgets"})
}

func TestPanic_IsAStatus(t *testing.T) {
	w := newWorld(t)
	w.do("GET", "/panic", "").want(500, "this request caused apiserver to panic")
	w.do("GET", "/hello", "").want(200, "hello")
	if _, _, _, code := w.observed.last(); code != 200 || w.observed.ended[len(w.observed.ended)-2] != 500 {
		t.Errorf("%v", w.observed.ended)
	}
}

// undecided cannot answer.
type undecided struct{}

func (undecided) Authorize(context.Context, authz.Attributes) (bool, string, error) {
	return true, "", apierrors.NewUnauthorized("the authorizer is down")
}

func TestAuthorizer_ThatFailsAllowsNothing(t *testing.T) {
	w := newWorld(t)
	w.asked.Authorizer = undecided{}
	w.do("GET", widgets, "").want(500, "the authorizer is down")
}

// Before all definitions are read nothing is said about objects: what is
// missing would look deleted.
func TestServe_BeforeTheEngineIsReady(t *testing.T) {
	w := newWorld(t)
	c := w.setup
	c.Engine = unready(t)
	early := &world{Handler: NewHandler(c), t: t, observed: w.observed}
	r := early.do("GET", widgets, "").want(503, "ServiceUnavailable")
	if r.header("Retry-After") != "1" {
		t.Errorf("%v", r.Headers)
	}
	early.do("GET", "/hello", "").want(200, "hello")
}

// A request may take as long as it says, and no longer than any may.
func TestServe_Deadline(t *testing.T) {
	for query, want := range map[string]time.Duration{"": patience, "?timeout=1h": patience, "?timeout=3s": 3 * time.Second} {
		var ends, asked time.Time
		w := newWorld(t, func(c *Setup) {
			c.Documents = []Documents{docFunc(func(ctx context.Context) {
				ends, _ = ctx.Deadline()
				asked = time.Now()
			})}
		})
		begun := time.Now()
		w.do("GET", "/hello"+query, "").want(http.StatusOK, "")
		if ends.Before(begun.Add(want)) || ends.After(asked.Add(want)) {
			t.Errorf("%q: it ends %s after it began, and %s after it was passed on, want %s", query, ends.Sub(begun), ends.Sub(asked), want)
		}
	}
}
