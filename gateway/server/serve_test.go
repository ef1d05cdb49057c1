package server

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/wasmgate/wasmgate/gateway/pki"
	"github.com/wasmgate/wasmgate/plugins/plugintest"
)

// One gateway serves all subtests here: a start takes longer than any of them.
func TestServed(t *testing.T) {
	dir := t.TempDir()
	o := servingIn(filepath.Join(dir, "data"))
	o.TokenAuthFile = write(t, filepath.Join(dir, "tokens"), "bobtoken,bob,1,dev\nadmintoken,adam,2,system:masters\n")
	authority, err := pki.SelfSigned(filepath.Join(dir, "clients"), []string{"localhost"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	o.ClientCAFile = write(t, filepath.Join(dir, "clients.crt"), string(authority.Trust()))
	g := start(t, o)
	for name, test := range map[string]func(*testing.T, *instance){
		"Identity":         testIdentity,
		"StrangersBodies":  testStrangersBodies,
		"Addresses_VERB01": testAddresses,
		"Negotiation":      testNegotiation,
		"Bodies_VERB04":    testBodies,
		"FieldValidation_FV01_FV02_FV03_FV04_FV05_FV06_FV07": testFieldValidation,
		"Health_HLT01_HLT02":    testHealth,
		"HealthOfTheStore":      testHealthOfTheStore,
		"Documents":             testDocuments,
		"Watch_WATCH01":         testWatch,
		"ModuleContent":         testModuleContent,
		"InlineModules":         testInlineModules,
		"InventedLabels":        testInventedLabels,
		"ProfilesAndOtherPaths": testProfiles,
	} {
		t.Run(name, func(t *testing.T) {
			i := *g
			i.t = t
			test(t, &i)
		})
	}
}

func (r answer) status(t *testing.T) (reason, message string) {
	t.Helper()
	var s struct {
		Kind, APIVersion, Status, Reason, Message string
		Code                                      int
	}
	if err := json.Unmarshal([]byte(r.body), &s); err != nil || s.Kind != "Status" || s.APIVersion != "v1" || s.Status != "Failure" || s.Code != r.code {
		t.Errorf("not the Status of a %d: %.300s", r.code, r.body)
	}
	return s.Reason, s.Message
}

func testIdentity(t *testing.T, g *instance) {
	for name, c := range map[string]struct {
		token, method, path, body string
		headers                   []string
		code                      int
		message                   string
	}{
		"nobody":                  {"", "GET", "/api/v1/namespaces", "", nil, 403, `User "system:anonymous" cannot list resource "namespaces"`},
		"nobody, discovery":       {"", "GET", "/apis", "", nil, 403, `User "system:anonymous" cannot get path "/apis"`},
		"nobody, no such thing":   {"", "GET", "/nothing", "", nil, 403, `User "system:anonymous" cannot get path`},
		"a wrong token":           {"wrong", "GET", "/api/v1/namespaces", "", nil, 401, "Unauthorized"},
		"nobody, with a body":     {"", "POST", "/api/v1/namespaces", strings.Repeat("x", 8<<20), nil, 403, "cannot create"},
		"nobody, with a module":   {"", "PUT", "/apis/wasmgate.dev/v1/wasmmodules/m/content", strings.Repeat("x", 8<<20), nil, 403, "cannot update"},
		"bob":                     {"bobtoken", "GET", "/api/v1/namespaces/x", "", nil, 403, `namespaces "x" is forbidden: User "bob" cannot get resource "namespaces" in API group "" in the namespace "x"`},
		"bob, no such thing":      {"bobtoken", "GET", "/nothing", "", nil, 403, `forbidden: User "bob" cannot get path "/nothing"`},
		"bob, too large":          {"bobtoken", "POST", "/api/v1/namespaces", strings.Repeat("x", 4<<20), nil, 403, "cannot create"},
		"administrator as bob":    {g.token, "GET", "/api/v1/namespaces/x", "", []string{"Impersonate-User: bob"}, 403, `User "bob" cannot get`},
		"administrator as master": {g.token, "GET", "/api/v1/namespaces/x", "", []string{"Impersonate-User: eve", "Impersonate-Group: system:masters"}, 404, `namespaces "x" not found`},
		"bob as master":           {"bobtoken", "GET", "/api/v1/namespaces/x", "", []string{"Impersonate-User: eve", "Impersonate-Group: system:masters"}, 403, `cannot impersonate-on:user-info:get resource "namespaces"`},
		"another master":          {"admintoken", "GET", "/api/v1/namespaces/x", "", nil, 404, "not found"},
	} {
		got := g.as(c.token, c.method, c.path, c.body, c.headers...)
		_, message := got.status(t)
		if got.code != c.code || !strings.Contains(message, c.message) {
			t.Errorf("%s: %d %q, want %d %q", name, got.code, message, c.code, c.message)
		}
	}
}

// Who may not do what is asked for is told so from the head alone, with or
// without a token, and also where a certificate might still have come.
func testStrangersBodies(t *testing.T, g *instance) {
	for name, c := range map[string]struct {
		authorization string
		code          int
	}{
		"nobody":        {"", 403},
		"a wrong token": {"Authorization: Bearer wrong\r\n", 401},
		"bob":           {"Authorization: Bearer bobtoken\r\n", 403},
	} {
		conn, err := tls.Dial("tcp", strings.TrimPrefix(g.url, "https://"), g.http.Transport.(*http.Transport).TLSClientConfig)
		if err != nil {
			t.Fatal(err)
		}
		if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
			t.Fatal(err)
		}
		head := "PUT /apis/wasmgate.dev/v1/wasmmodules/m/content HTTP/1.1\r\nHost: h\r\nContent-Type: application/wasm\r\n" + c.authorization + "Content-Length: 67108864\r\n\r\n"
		if _, err := io.WriteString(conn, head+strings.Repeat("x", 16<<10)); err != nil {
			t.Fatal(err)
		}
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil || resp.StatusCode != c.code {
			t.Errorf("%s: %v %v, want %d without the rest of the body", name, resp, err, c.code)
		}
		_ = conn.Close()
	}
}

// The codes are kube-apiserver's (1.36.3), except that HEAD is
// served and an encoded slash is no slash.
func testAddresses(t *testing.T, g *instance) {
	const plain = "text/plain; charset=utf-8"
	for name, c := range map[string]struct {
		method, path string
		code         int
		contentType  string
	}{
		"namespaces":                {"GET", "/api/v1/namespaces", 200, "application/json"},
		"trailing slash":            {"GET", "/api/v1/namespaces/", 200, "application/json"},
		"head":                      {"HEAD", "/api/v1/namespaces/default", 405, "application/json"},
		"head of a watch":           {"HEAD", "/api/v1/namespaces?watch=1", 405, "application/json"},
		"watch of one is a get":     {"GET", "/api/v1/namespaces/default?watch=true", 200, "application/json"},
		"namespaces in a namespace": {"GET", "/api/v1/namespaces/default/namespaces", 404, "application/json"},
		"nodes in a namespace":      {"GET", "/apis/apiextensions.k8s.io/v1/namespaces/default/customresourcedefinitions", 404, "application/json"},
		"unknown resource":          {"GET", "/api/v1/foos", 404, "application/json"},
		"unknown core version":      {"GET", "/api/v2/foos", 404, "application/json"},
		"unknown group":             {"GET", "/apis/nope/v1/foos", 404, plain},
		"unknown group document":    {"GET", "/apis/nope", 404, plain},
		"unknown path":              {"GET", "/nope", 404, plain},
		"legacy watch":              {"GET", "/api/v1/watch/namespaces?timeoutSeconds=1", 200, "application/json"},
		"unknown subresource":       {"GET", "/api/v1/namespaces/default/nope", 404, "application/json"},
		"options":                   {"OPTIONS", "/api/v1/namespaces", 405, "application/json"},
		"trace":                     {"TRACE", "/api/v1/namespaces", 405, "application/json"},
		"invented method":           {"BREW", "/api/v1/namespaces/default", 405, "application/json"},
		"of a document":             {"BREW", "/version", 405, "application/json"},
		"of health":                 {"BREW", "/readyz/ping", 200, plain},
		"put without a name":        {"PUT", "/api/v1/namespaces", 405, "application/json"},
		"patch without a name":      {"PATCH", "/api/v1/namespaces", 405, "application/json"},
		"post with a name":          {"POST", "/api/v1/namespaces/x", 405, "application/json"},
		"delete of a subresource":   {"DELETE", "/api/v1/namespaces/default/status", 405, "application/json"},
		"traversal":                 {"GET", "/api/v1/namespaces/default/%2e%2e/%2e%2e/nope", 404, "application/json"},
		"not UTF-8":                 {"GET", "/api/v1/namespaces/%ff%00", 404, "application/json"},
		"encoded slash":             {"GET", "/api/v1/namespaces%2Fdefault", 404, "application/json"},
		"empty namespace":           {"GET", "/api/v1/namespaces//configmaps", 200, "application/json"},
		"empty name":                {"GET", "/api/v1/namespaces/default/configmaps//status", 404, "application/json"},
		"empty segment":             {"GET", "/api/v1//namespaces", 404, "application/json"},
		"query that is none":        {"GET", "/api/v1/namespaces?limit=%zz", 400, "application/json"},
		"timeout that is none":      {"GET", "/api/v1/namespaces?timeout=abc", 400, "application/json"},
		"timeout without a unit":    {"DELETE", "/api/v1/namespaces/x?timeout=1", 400, "application/json"},
		"timeout of a document":     {"GET", "/version?timeout=abc", 400, "application/json"},
		"timeout of a watch":        {"GET", "/api/v1/namespaces?watch=1&timeoutSeconds=1&timeout=abc", 200, "application/json"},
		"timeout":                   {"GET", "/api/v1/namespaces?timeout=5s", 200, "application/json"},
		"timeout of zero":           {"GET", "/api/v1/namespaces?timeout=0", 200, "application/json"},
		"limit that is none":        {"GET", "/api/v1/namespaces?limit=abc", 400, "application/json"},
		"bad propagation":           {"DELETE", "/api/v1/namespaces/default?propagationPolicy=Foo", 422, "application/json"},
	} {
		got := g.do(c.method, c.path, "")
		if got.code != c.code || got.header.Get("Content-Type") != c.contentType {
			t.Errorf("%s: %d %s, want %d %s: %.200s", name, got.code, got.header.Get("Content-Type"), c.code, c.contentType, got.body)
		}
		if c.code >= 400 && c.contentType != plain && c.method != "HEAD" {
			got.status(t)
		}
		if c.code == 404 && c.contentType == plain && got.body != "404 page not found\n" {
			t.Errorf("%s: %q", name, got.body)
		}
	}
	got := g.do("GET", "/api/v1/foos", "")
	if reason, message := got.status(t); reason != "NotFound" || message != "the server could not find the requested resource" {
		t.Errorf("unknown resource: %s %q", reason, message)
	}
	got = g.do("OPTIONS", "/api/v1/namespaces", "")
	if reason, message := got.status(t); reason != "MethodNotAllowed" || message != "the server does not allow this method on the requested resource" {
		t.Errorf("options: %s %q", reason, message)
	}
}

func testNegotiation(t *testing.T, g *instance) {
	const meta = ";g=meta.k8s.io;v=v1"
	for name, c := range map[string]struct {
		path, accept      string
		code              int
		contentType, want string
	}{
		"MT-01":              {"/api/v1/namespaces/default", "*/*", 200, "application/json", `"kind":"Namespace"`},
		"MT-02":              {"/api/v1/namespaces/default", "*/*, application/yaml", 200, "application/yaml", "kind: Namespace\n"},
		"MT-03":              {"/api/v1/namespaces/default", "text/html", 406, "application/json", "NotAcceptable"},
		"MT-05 list":         {"/api/v1/namespaces", "application/yaml", 200, "application/yaml", "kind: NamespaceList\n"},
		"MT-05 error":        {"/api/v1/namespaces/none", "application/yaml", 404, "application/yaml", "reason: NotFound\n"},
		"MT-05 watch":        {"/api/v1/namespaces?watch=1", "application/yaml", 406, "application/yaml", "reason: NotAcceptable\n"},
		"MT-14 pretty":       {"/api/v1/namespaces/default?pretty=true", "", 200, "application/json", "{\n  \""},
		"MT-15 one":          {"/api/v1/namespaces/default", "application/json;as=Table" + meta, 200, "application/json", `"kind":"Table","apiVersion":"meta.k8s.io/v1"`},
		"MT-15 list":         {"/api/v1/namespaces", "application/json;as=Table" + meta, 200, "application/json", `"columnDefinitions":[{"name":"Name"`},
		"MT-18 one":          {"/api/v1/namespaces/default", "application/json;as=PartialObjectMetadata" + meta, 200, "application/json", `{"kind":"PartialObjectMetadata"`},
		"MT-18 list":         {"/api/v1/namespaces", "application/json;as=PartialObjectMetadataList" + meta, 200, "application/json", `"kind":"PartialObjectMetadataList"`},
		"MT-18 list for one": {"/api/v1/namespaces", "application/json;as=PartialObjectMetadata" + meta, 200, "application/json", `"kind":"PartialObjectMetadataList"`},
		"MT-18 one as list":  {"/api/v1/namespaces/default", "application/json;as=PartialObjectMetadataList" + meta, 406, "application/json", "NotAcceptable"},
		"MT-18 YAML":         {"/api/v1/namespaces", "application/yaml;as=PartialObjectMetadataList" + meta, 200, "application/yaml", "kind: PartialObjectMetadataList\n"},
		"MT-20":              {"/api/v1/namespaces/default", "application/json;q=0.9, application/json;as=PartialObjectMetadata" + meta, 200, "application/json", `{"kind":"PartialObjectMetadata"`},
	} {
		got := g.do("GET", c.path, "", "Accept: "+c.accept)
		if got.code != c.code || got.header.Get("Content-Type") != c.contentType || !strings.Contains(got.body, c.want) {
			t.Errorf("%s: %d %s %.300s", name, got.code, got.header.Get("Content-Type"), got.body)
		}
	}
	plural := g.do("GET", "/api/v1/namespaces?limit=1", "", "Accept: application/json;as=PartialObjectMetadataList"+meta)
	if strings.Contains(plural.body, `"spec"`) || !strings.Contains(plural.body, `"continue":"`) ||
		!strings.Contains(plural.body, `"items":[{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{`) {
		t.Errorf("MT-18: %s", plural.body)
	}
	list, head := g.do("GET", "/version", ""), g.do("HEAD", "/version", "")
	if head.body != "" || head.header.Get("Content-Length") != list.header.Get("Content-Length") {
		t.Errorf("HEAD: %q, length %s, GET has %s", head.body, head.header.Get("Content-Length"), list.header.Get("Content-Length"))
	}
}

func testBodies(t *testing.T, g *instance) {
	const path = "/api/v1/namespaces/default/configmaps"
	for name, c := range map[string]struct {
		contentType, body string
		code              int
		message           string
	}{
		"at the limit":   {"application/json", strings.Repeat(" ", 3<<20-len(configMap)) + configMap, 201, ""},
		"above":          {"application/json", strings.Repeat(" ", 3<<20+1), 413, "Request entity too large: limit is 3145728"},
		"far above":      {"application/json", strings.Repeat(" ", 40<<20), 413, "Request entity too large: limit is 3145728"},
		"MT-04":          {"text/plain", "{}", 415, "the body of the request was in an unknown format"},
		"empty":          {"application/json", "", 400, ""},
		"two documents":  {"application/yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: first\n---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: second\n", 400, "several documents"},
		"YAML bomb":      {"application/yaml", "a: &a " + strings.Repeat("x", 1<<20) + "\nb: [" + strings.Repeat("*a,", 100_000) + "]", 400, "larger than"},
		"many objects":   {"application/json", `{"a":[` + strings.Repeat("{},", 1_000_000) + "{}]}", 413, "decoding the body takes about"},
		"much YAML":      {"application/yaml", "a: [" + strings.Repeat("{a},", 700_000) + "]", 413, "decoding the body takes about"},
		"deep":           {"application/json", strings.Repeat("[", 1<<20), 400, ""},
		"deep YAML":      {"application/yaml", "a: " + strings.Repeat("[", 1<<20) + strings.Repeat("]", 1<<20), 400, "nested deeper than 10000 levels"},
		"brackets":       {"application/yaml", `b: "` + strings.Repeat("[", 1<<20) + `"` + "\na: [" + strings.Repeat("{a},", 400_000) + "]", 413, "decoding the body takes about"},
		"not an object":  {"application/json", "[]", 400, ""},
		"another kind":   {"application/json", `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"x"}}`, 400, ""},
		"false protobuf": {"application/vnd.kubernetes.protobuf", "{}", 400, ""},
	} {
		got := g.do("POST", path, c.body, "Content-Type: "+c.contentType)
		if got.code != c.code {
			t.Errorf("%s: %d %.300s", name, got.code, got.body)
			continue
		}
		if c.code >= 400 {
			if _, message := got.status(t); !strings.Contains(message, c.message) {
				t.Errorf("%s: %q", name, message)
			}
		}
	}
}

func testHealth(t *testing.T, g *instance) {
	for path, c := range map[string]struct {
		code int
		want string
	}{
		"/livez": {200, "ok"}, "/readyz": {200, "ok"}, "/healthz": {200, "ok"}, "/livez/etcd": {403, ""},
		"/readyz?verbose":              {200, "[+]poststarthook/load-modules ok\n"},
		"/readyz?verbose&exclude=etcd": {200, "[+]etcd excluded: ok\n"},
		"/version":                     {200, `"gitVersion": "v1.36.3+wasmgate"`},
	} {
		got := g.as("", "GET", path, "")
		if got.code != c.code || !strings.Contains(got.body, c.want) {
			t.Errorf("%s: %d %s", path, got.code, got.body)
		}
	}
	for path, code := range map[string]int{"/livez/etcd": 200, "/livez/none": 404} {
		if got := g.do("GET", path, ""); got.code != code {
			t.Errorf("%s: %d %s", path, got.code, got.body)
		}
	}
	if got := g.as("", "POST", "/livez", ""); got.code != 403 {
		t.Errorf("POST: %d", got.code)
	}
}

func testDocuments(t *testing.T, g *instance) {
	first := g.do("GET", "/openapi/v3/api/v1", "")
	tag := first.header.Get("Etag")
	if first.code != 200 || tag == "" || first.header.Get("Vary") != "Accept" {
		t.Fatalf("%d %v", first.code, first.header)
	}
	if got := g.do("GET", "/openapi/v3/api/v1", "", "If-None-Match: "+tag); got.code != 304 || got.body != "" || got.header.Get("Etag") != tag {
		t.Errorf("If-None-Match: %d, %d bytes, %v", got.code, len(got.body), got.header)
	}
	if got := g.do("GET", "/openapi/v3/api/v1", "", `If-None-Match: "other"`); got.code != 200 || got.body != first.body {
		t.Errorf("another tag: %d", got.code)
	}
	hash := strings.Trim(tag, `"`)
	got := g.do("GET", "/openapi/v3/api/v1?hash="+hash, "")
	if got.code != 200 || got.header.Get("Cache-Control") != "public, immutable" || got.header.Get("Expires") == "" {
		t.Errorf("the hash: %d %v", got.code, got.header)
	}
	if got := g.do("GET", "/openapi/v3/api/v1?hash=old", ""); got.code != 301 || got.header.Get("Location") != "/openapi/v3/api/v1?hash="+hash {
		t.Errorf("an old hash: %d %v", got.code, got.header)
	}
	for _, path := range []string{"/", "/api", "/apis", "/api/v1", "/apis/wasmgate.dev", "/apis/wasmgate.dev/v1", "/openapi/v2", "/openapi/v3"} {
		if got := g.do("GET", path, ""); got.code != 200 || !json.Valid([]byte(got.body)) {
			t.Errorf("%s: %d %.200s", path, got.code, got.body)
		}
		if got := g.do("GET", path, "", "Accept: text/html"); strings.HasPrefix(path, "/api") && got.code != 406 {
			t.Errorf("%s as HTML: %d", path, got.code)
		}
	}
	if got := g.do("GET", "/metrics", ""); got.code != 200 || !strings.Contains(got.body, "apiserver_request_total{") {
		t.Errorf("metrics: %d %.200s", got.code, got.body)
	}
}

func testWatch(t *testing.T, g *instance) {
	got := g.do("GET", "/api/v1/namespaces?watch&timeoutSeconds=1", "")
	if got.code != 200 || got.header.Get("Content-Type") != "application/json" {
		t.Fatalf("%d %v", got.code, got.header)
	}
	lines := strings.Split(strings.TrimSpace(got.body), "\n")
	if len(lines) < 4 {
		t.Errorf("%d events of the system namespaces", len(lines))
	}
	for _, line := range lines {
		var event struct {
			Type   string
			Object struct{ Kind string }
		}
		if err := json.Unmarshal([]byte(line), &event); err != nil || event.Type != "ADDED" || event.Object.Kind != "Namespace" {
			t.Errorf("%.200s: %v", line, err)
		}
	}
	if got := g.do("GET", "/api/v1/namespaces?watch=1&resourceVersion=x", ""); got.code != 400 {
		t.Errorf("a bad revision: %d %s", got.code, got.body)
	}
}

const moduleObject = `{"apiVersion":"wasmgate.dev/v1","kind":"WasmModule","metadata":{"name":"m"},"spec":{"source":{"upload":{}}}}`

func testModuleContent(t *testing.T, g *instance) {
	const path = "/apis/wasmgate.dev/v1/wasmmodules"
	for _, method := range []string{"PUT", "GET"} {
		if got := g.do(method, path+"/m/content", string(plugintest.Echo("{}").Bytes()), "Content-Type: application/wasm"); got.code != 404 {
			t.Errorf("%s of no such module: %d %s", method, got.code, got.body)
		}
	}
	if got := g.do("POST", path, moduleObject); got.code != 201 {
		t.Fatalf("%d %s", got.code, got.body)
	}
	guest := plugintest.Echo("{}")
	guest.Data = bytes.Repeat([]byte("x"), 4<<20) // more than other bodies may have
	guest.Pages = 70
	large := string(guest.Bytes())
	bomb := plugintest.Bombs()[0]
	for name, c := range map[string]struct {
		method, query, contentType, body string
		code                             int
	}{
		"dry run":      {"PUT", "?dryRun=All", "application/wasm", large, 200},
		"bad options":  {"PUT", "?dryRun=Some", "application/wasm", "x", 422},
		"other media":  {"PUT", "", "application/json", "{}", 415},
		"empty":        {"PUT", "", "application/wasm", "", 400},
		"no module":    {"PUT", "", "application/wasm", "#!/bin/sh", 422},
		"a bomb":       {"PUT", "", "application/wasm", string(bomb.Module), 422},
		"a dry bomb":   {"PUT", "?dryRun=All", "application/wasm", string(bomb.Module), 422},
		"too large":    {"PUT", "", "application/wasm", string(make([]byte, 65<<20)), 413},
		"other method": {"POST", "", "application/wasm", "x", 405},
		"nothing yet":  {"GET", "", "", "", 404},
	} {
		got := g.do(c.method, path+"/m/content"+c.query, c.body, "Content-Type: "+c.contentType)
		if got.code != c.code {
			t.Errorf("%s: %d %.300s", name, got.code, got.body)
		}
		if c.code >= 400 {
			got.status(t)
		}
	}
	if got := g.do("GET", path+"/m", ""); strings.Contains(got.body, "wasmgate.dev/content") {
		t.Errorf("a dry run was kept: %s", got.body)
	}
	if got := g.do("PUT", path+"/m/content", string(bomb.Module), "Content-Type: application/wasm"); !strings.Contains(got.body, bomb.Says) || !strings.Contains(got.body, `WasmModule.wasmgate.dev \"m\" is invalid: content: Invalid value: \"`) {
		t.Errorf("the reason is not told: %s", got.body)
	}
	if got := g.do("PUT", path+"/m/content?fieldManager=x", large, "Content-Type: application/wasm"); got.code != 200 {
		t.Errorf("an upload: %d %.300s", got.code, got.body)
	}
	if got := g.do("GET", path+"/m/content", ""); got.code != 200 || got.body != large {
		t.Errorf("what was uploaded: %d, %d bytes of %d", got.code, len(got.body), len(large))
	}
}

// testInlineModules: bytes that are refused are refused with the write that
// brings them, so they are never stored.
func testInlineModules(t *testing.T, g *instance) {
	const path = "/apis/wasmgate.dev/v1/wasmmodules"
	bomb := plugintest.Bombs()[0]
	inline := func(text string) string {
		return `{"apiVersion":"wasmgate.dev/v1","kind":"WasmModule","metadata":{"name":"in"},"spec":{"source":{"inline":"` + text + `"}}}`
	}
	encoded := func(module []byte) string { return inline(base64.StdEncoding.EncodeToString(module)) }
	good := encoded(plugintest.Echo("{}").Bytes())
	for _, c := range []struct {
		name, method, path, body string
		code                     int
		says                     string
	}{
		{"a bomb", "POST", path, encoded(bomb.Module), 422, `spec.source.inline: Invalid value: \"`},
		{"no module", "POST", path, encoded([]byte("x")), 422, "NotWasm: the bytes are not a WebAssembly module"},
		{"no base64", "POST", path, inline("?"), 422, "spec.source.inline"},
		{"nothing of that was stored", "GET", path + "/in", "", 404, ""},
		{"a module", "POST", path, good, 201, ""},
		{"replaced by a bomb", "PATCH", path + "/in", encoded(bomb.Module), 422, bomb.Says},
		{"a dry run", "PATCH", path + "/in?dryRun=All", encoded([]byte("x")), 422, "NotWasm"},
		{"replaced by itself", "PATCH", path + "/in", good, 200, ""},
	} {
		media := "application/json"
		if c.method == "PATCH" {
			media = "application/merge-patch+json"
		}
		if got := g.do(c.method, c.path, c.body, "Content-Type: "+media); got.code != c.code || !strings.Contains(got.body, c.says) {
			t.Errorf("%s: %d %.300s, want %d %q", c.name, got.code, got.body, c.code, c.says)
		}
	}
}

// What a client invents never becomes a label of a metric.
func testInventedLabels(t *testing.T, g *instance) {
	for _, path := range []string{"/apis/invented.com/v1/things", "/api/v1/inventeds", "/api/v1/namespaces/default/invented", "/api/v9/namespaces/invented", "/invented"} {
		g.as("", "GET", path, "")
		g.do("GET", path, "")
	}
	if got := g.do("GET", "/metrics", ""); strings.Contains(got.body, "invented") {
		t.Error("a label was invented")
	}
}

func testProfiles(t *testing.T, g *instance) {
	if got := g.do("GET", "/debug/pprof/heap", ""); got.code != 200 || got.body == "" {
		t.Errorf("heap: %d", got.code)
	}
	if got := g.do("GET", "/debug/pprof/none", ""); got.code != 404 {
		t.Errorf("none: %d", got.code)
	}
	if got := g.as("bobtoken", "GET", "/debug/pprof/heap", ""); got.code != 403 {
		t.Errorf("bob: %d", got.code)
	}
	if got := g.as("", "GET", "/metrics", ""); got.code != 403 {
		t.Errorf("metrics for nobody: %d", got.code)
	}
}

// Whoever asks how the gateway is does not ask etcd each time: probes of many
// are no load.
func testHealthOfTheStore(t *testing.T, g *instance) {
	before := ranges(t)
	const probes = 300
	for range probes {
		if r := g.do("GET", "/livez", ""); r.code != http.StatusOK {
			t.Fatalf("%+v", r)
		}
	}
	if n := ranges(t) - before; n > probes/2 {
		t.Errorf("etcd was asked %v times for %d probes", n, probes)
	}
}

// ranges is how often the embedded etcd was read.
func ranges(t *testing.T) float64 {
	t.Helper()
	all, err := prometheus.DefaultGatherer.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range all {
		if family.GetName() == "etcd_mvcc_range_total" {
			return family.GetMetric()[0].GetCounter().GetValue()
		}
	}
	t.Fatal("etcd does not say how often it was read")
	return 0
}
