package openapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	openapiv2 "github.com/google/gnostic-models/openapiv2"
	openapiv3 "github.com/google/gnostic-models/openapiv3"
	"google.golang.org/protobuf/proto"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/kube-openapi/pkg/handler3"
	"k8s.io/kube-openapi/pkg/spec3"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/crd/builtin"
	"github.com/wasmgate/wasmgate/crd/custom"
)

const corePath = "/openapi/v3/api/v1"

func builtins(t testing.TB) []*crd.Definition {
	t.Helper()
	all, err := builtin.All(builtin.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// disks is a custom resource with a field of the given description.
func disks(t testing.TB, group, description string) *crd.Definition {
	t.Helper()
	c := &apiextensionsv1.CustomResourceDefinition{}
	c.Name = "disks." + group
	c.Spec.Group, c.Spec.Scope = group, apiextensionsv1.NamespaceScoped
	c.Spec.Names = apiextensionsv1.CustomResourceDefinitionNames{Plural: "disks", Singular: "disk", Kind: "Disk", ListKind: "DiskList"}
	c.Spec.Versions = []apiextensionsv1.CustomResourceDefinitionVersion{{
		Name: "v1", Served: true, Storage: true,
		Subresources: &apiextensionsv1.CustomResourceSubresources{
			Status: &apiextensionsv1.CustomResourceSubresourceStatus{},
			Scale:  &apiextensionsv1.CustomResourceSubresourceScale{SpecReplicasPath: ".spec.size", StatusReplicasPath: ".status.size"},
		},
		SelectableFields: []apiextensionsv1.SelectableField{{JSONPath: ".size"}},
		Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
			Type:       "object",
			Properties: map[string]apiextensionsv1.JSONSchemaProps{"size": {Type: "integer", Description: description}},
		}},
	}}
	d, err := custom.Compile(c)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// documents are those of defs, none of which may fail.
func documents(t testing.TB, defs []*crd.Definition, previous *Documents) *Documents {
	return New(defs, previous, Options{Report: func(err error) { t.Error(err) }})
}

func v3(t *testing.T, d *Documents, path string) *spec3.OpenAPI {
	t.Helper()
	body, contentType, _, ok := d.Lookup(path, "application/json")
	if !ok || contentType != "application/json" {
		t.Fatalf("%s: ok %v, content type %q", path, ok, contentType)
	}
	doc := &spec3.OpenAPI{}
	if err := json.Unmarshal(body.Joined(), doc); err != nil {
		t.Fatal(err)
	}
	return doc
}

func parameters(op *spec3.Operation) []string {
	var out []string
	for _, p := range op.Parameters {
		out = append(out, p.Name)
	}
	return out
}

func gvk(ext spec.Extensions) string { return fmt.Sprint(ext["x-kubernetes-group-version-kind"]) }

func TestCore_RES10(t *testing.T) {
	doc := v3(t, documents(t, builtins(t), nil), corePath)
	for path, item := range doc.Paths.Paths {
		if !strings.HasPrefix(path, "/api/v1/") {
			t.Errorf("path %s", path)
		}
		if item.Patch == nil {
			continue
		}
		params := parameters(item.Patch)
		if !slices.Contains(params, "fieldValidation") || !slices.Contains(params, "dryRun") {
			t.Errorf("%s: PATCH has the parameters %q", path, params)
		}
		if item.Patch.RequestBody.Content[strategicPatch] == nil {
			t.Errorf("%s does not take strategic merge patches", path)
		}
	}
	item := doc.Paths.Paths["/api/v1/namespaces/{namespace}/configmaps/{name}"]
	if got := gvk(item.Patch.Extensions); got != "map[group: kind:ConfigMap version:v1]" {
		t.Errorf("a ConfigMap's kind is %s", got)
	}
	if id := item.Patch.OperationId; id != "patchCoreV1NamespacedConfigMap" {
		t.Errorf("operation %s", id)
	}
	schema := doc.Components.Schemas["io.k8s.api.core.v1.ConfigMap"]
	if got := gvk(schema.Extensions); got != "[map[group: kind:ConfigMap version:v1]]" {
		t.Errorf("the schema's kind is %s", got)
	}
	if schema.Properties["data"].Description == "" || schema.Properties["metadata"].AllOf == nil {
		t.Errorf("schema %+v", schema)
	}
	secrets := doc.Components.Schemas["io.k8s.api.core.v1.ServiceAccount"].Properties["secrets"].Extensions
	if secrets["x-kubernetes-patch-strategy"] != "merge" || secrets["x-kubernetes-patch-merge-key"] != "name" || secrets["x-kubernetes-list-type"] != "map" {
		t.Errorf("secrets merge by %v", secrets)
	}
}

func TestOnlyWhatIsServed(t *testing.T) {
	docs := documents(t, builtins(t), nil)
	doc := v3(t, docs, corePath)
	if doc.Paths.Paths["/api/v1/namespaces"].Delete != nil {
		t.Error("namespaces cannot be deleted by collection, but the document says so")
	}
	if doc.Paths.Paths["/api/v1/namespaces/{namespace}/secrets"].Delete == nil {
		t.Error("secrets can be deleted by collection, but the document does not say so")
	}
	finalize := doc.Paths.Paths["/api/v1/namespaces/{name}/finalize"]
	if finalize == nil || finalize.Put == nil || finalize.Get != nil || finalize.Patch != nil {
		t.Fatalf("finalize: %+v", finalize)
	}
	if finalize.Put.OperationId != "replaceCoreV1NamespaceFinalize" || finalize.Put.Description != "replace finalize of the specified Namespace" {
		t.Errorf("finalize: %s, %s", finalize.Put.OperationId, finalize.Put.Description)
	}
	if bindings := doc.Paths.Paths["/api/v1/namespaces/{namespace}/bindings"]; bindings.Post == nil || bindings.Get != nil || doc.Paths.Paths["/api/v1/bindings"] != nil || doc.Components.Schemas["io.k8s.api.core.v1.BindingList"] != nil {
		t.Errorf("bindings are created and nothing else: %+v", bindings)
	}
	leases := v3(t, docs, "/openapi/v3/apis/coordination.k8s.io/v1")
	if leases.Components.Schemas["io.k8s.api.coordination.v1.Lease"] == nil {
		t.Error("leases do not have their Kubernetes name")
	}
}

// What is created below an object is described with the kind of its own body.
func TestSubresourcesThatAreCreated(t *testing.T) {
	doc := v3(t, documents(t, builtins(t), nil), corePath)
	for path, want := range map[string][3]string{
		"pods/{name}/eviction":         {"createCoreV1NamespacedPodEviction", "io.k8s.api.policy.v1.Eviction", "map[group:policy kind:Eviction version:v1]"},
		"pods/{name}/binding":          {"createCoreV1NamespacedPodBinding", "io.k8s.api.core.v1.Binding", "map[group: kind:Binding version:v1]"},
		"serviceaccounts/{name}/token": {"createCoreV1NamespacedServiceAccountToken", "io.k8s.api.authentication.v1.TokenRequest", "map[group:authentication.k8s.io kind:TokenRequest version:v1]"},
	} {
		p := doc.Paths.Paths["/api/v1/namespaces/{namespace}/"+path]
		if p == nil || p.Post == nil || p.Get != nil {
			t.Errorf("%s: %+v", path, p)
			continue
		}
		body := p.Post.RequestBody.Content["application/json"].Schema.Ref.String()
		answer := p.Post.Responses.StatusCodeResponses[201].Content["application/json"].Schema.Ref.String()
		if got := [3]string{p.Post.OperationId, strings.TrimPrefix(body, "#/components/schemas/"), gvk(p.Post.Extensions)}; got != want || answer != body {
			t.Errorf("%s: %q, answered with %s", path, got, answer)
		}
		if doc.Components.Schemas[want[1]] == nil {
			t.Errorf("%s is not described", want[1])
		}
	}
}

func TestCustomResource_RES10(t *testing.T) {
	doc := v3(t, documents(t, []*crd.Definition{disks(t, "disc.example.com", "how large")}, nil), "/openapi/v3/apis/disc.example.com/v1")
	const item = "/apis/disc.example.com/v1/namespaces/{namespace}/disks/{name}"
	for _, path := range []string{item, item + "/status", item + "/scale", "/apis/disc.example.com/v1/disks"} {
		if doc.Paths.Paths[path] == nil {
			t.Errorf("no %s", path)
		}
	}
	patch := doc.Paths.Paths[item].Patch
	if patch.RequestBody.Content[strategicPatch] != nil || patch.RequestBody.Content["application/merge-patch+json"] == nil {
		t.Errorf("patches: %v", patch.RequestBody.Content)
	}
	schema := doc.Components.Schemas["com.example.disc.v1.Disk"]
	if schema.Properties["size"].Description != "how large" || schema.Extensions["x-kubernetes-selectable-fields"] == nil {
		t.Errorf("schema %+v", schema)
	}
}

func TestIndexAndHash_RES10(t *testing.T) {
	docs := documents(t, append(builtins(t), disks(t, "disc.example.com", "a")), nil)
	body, _, indexTag, _ := docs.Lookup("/openapi/v3", "")
	var index handler3.OpenAPIV3Discovery
	if err := json.Unmarshal(body.Joined(), &index); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"api/v1", "apis/coordination.k8s.io/v1", "apis/wasmgate.dev/v1", "apis/disc.example.com/v1"} {
		location, hash, _ := strings.Cut(index.Paths[path].ServerRelativeURL, "?hash=")
		_, _, etag, ok := docs.Lookup(location, "")
		if !ok || etag != `"`+hash+`"` {
			t.Errorf("%s is at %s: ok %v, etag %s", path, index.Paths[path].ServerRelativeURL, ok, etag)
		}
	}
	again := documents(t, append(builtins(t), disks(t, "disc.example.com", "a")), nil)
	if _, _, tag, _ := again.Lookup("/openapi/v3", ""); tag != indexTag {
		t.Error("the same definitions have different hashes")
	}
	changed := documents(t, append(builtins(t), disks(t, "disc.example.com", "b")), nil)
	if _, _, tag, _ := changed.Lookup("/openapi/v3", ""); tag == indexTag {
		t.Error("another schema has the same hash")
	}
}

func TestOnlyWhatChangedIsBuilt(t *testing.T) {
	defs := append(builtins(t), disks(t, "one.example.com", "a"), disks(t, "two.example.com", "a"))
	first := documents(t, defs, nil)
	one, core := "/openapi/v3/apis/one.example.com/v1", corePath
	for _, path := range []string{one, core, "/openapi/v2"} {
		first.Lookup(path, "")
	}
	same := documents(t, slices.Clone(defs), first)
	if same.v2 != first.v2 {
		t.Error("nothing changed, but the version 2 document is new")
	}
	defs = slices.Clone(defs)
	defs[len(defs)-1] = disks(t, "two.example.com", "b")
	second := documents(t, defs, first)
	for _, path := range []string{one, core} {
		before, _, _, _ := first.Lookup(path, "")
		after, _, _, _ := second.Lookup(path, "")
		if &before[0] != &after[0] {
			t.Errorf("%s was built again", path)
		}
	}
	v2, _, tag, _ := second.Lookup("/openapi/v2", "")
	if _, _, before, _ := first.Lookup("/openapi/v2", ""); before == tag || !strings.Contains(string(v2.Joined()), "com.example.two.v1.Disk") {
		t.Error("the version 2 document did not follow")
	}
	gone := documents(t, defs[:len(defs)-1], second)
	if _, _, _, ok := gone.Lookup("/openapi/v3/apis/two.example.com/v1", ""); ok {
		t.Error("a group version that is gone is still there")
	}
}

func TestProtobuf(t *testing.T) {
	docs := documents(t, append(builtins(t), disks(t, "disc.example.com", "a")), nil)
	for _, accept := range []string{"application/com.github.proto-openapi.spec.v2@v1.0+protobuf", "application/com.github.proto-openapi.spec.v2.v1.0+protobuf, */*;q=0.1"} {
		body, contentType, _, ok := docs.Lookup("/openapi/v2", accept)
		if !ok || contentType != v2Protobuf {
			t.Fatalf("%s: ok %v, content type %s", accept, ok, contentType)
		}
		var doc openapiv2.Document
		if err := proto.Unmarshal(body.Joined(), &doc); err != nil {
			t.Fatal(err)
		}
		checkV2(t, &doc)
	}
	body, contentType, _, _ := docs.Lookup(corePath, "application/com.github.proto-openapi.spec.v3@v1.0+protobuf")
	var doc openapiv3.Document
	if err := proto.Unmarshal(body.Joined(), &doc); err != nil || contentType != v3Protobuf || len(doc.Paths.Path) == 0 {
		t.Errorf("%v, content type %s", err, contentType)
	}
}

// checkV2 looks for what kubectl looks for before it leaves field validation
// to the server.
func checkV2(t *testing.T, doc *openapiv2.Document) {
	t.Helper()
	found := map[string]bool{}
	for _, p := range doc.Paths.Path {
		found[p.Name] = true
		if p.Value.Patch == nil {
			continue
		}
		var names []string
		for _, param := range append(p.Value.Patch.Parameters, p.Value.Parameters...) {
			if ref := param.GetJsonReference(); ref != nil {
				names = append(names, ref.XRef)
			} else {
				names = append(names, param.GetParameter().GetNonBodyParameter().GetQueryParameterSubSchema().GetName())
			}
		}
		if all := strings.Join(names, " "); !strings.Contains(all, "fieldValidation") || !strings.Contains(all, "dryRun") {
			t.Errorf("%s: PATCH has the parameters %q", p.Name, names)
		}
	}
	if !found["/api/v1/namespaces/{name}"] || !found["/apis/disc.example.com/v1/namespaces/{namespace}/disks/{name}"] {
		t.Errorf("paths %v", found)
	}
}

func TestNegotiation(t *testing.T) {
	docs := documents(t, builtins(t), nil)
	for _, tc := range []struct {
		path, accept, contentType string
		ok                        bool
	}{
		{"/openapi/v2", "*/*", "application/json", true},
		{"/openapi/v2", "text/html", "", true},
		{corePath, "application/json;q=0", "application/json", true}, // as kube-apiserver: weights only order
		{"/openapi/v2", "*/json", "application/json", true},
		{"/openapi/v2", "application/yaml;q=0", "", true},
		{corePath + "/", "application/json, */*", "application/json", true},
		{"/openapi/v3/apis/none.example.com/v1", "", "", false},
		{"/openapi/v4", "", "", false},
		{"/openapi/v3api/v1", "", "", false},
	} {
		if _, contentType, _, ok := docs.Lookup(tc.path, tc.accept); ok != tc.ok || contentType != tc.contentType {
			t.Errorf("%s as %q: ok %v, content type %q", tc.path, tc.accept, ok, contentType)
		}
	}
}

func TestKindsWithoutSchema(t *testing.T) {
	plain := disks(t, "plain.example.com", "a")
	version := *plain.Versions[0]
	version.Schema = nil
	def := *plain
	def.Versions = []*crd.Version{&version}
	doc := v3(t, documents(t, []*crd.Definition{&def}, nil), "/openapi/v3/apis/plain.example.com/v1")
	if s := doc.Components.Schemas["com.example.plain.v1.Disk"]; s == nil || len(s.Properties) != 0 {
		t.Errorf("schema %+v", s)
	}
}

func TestNamesCannotBeTakenOver(t *testing.T) {
	rogue := disks(t, "meta.apis.pkg.apimachinery.k8s.io", "a")
	rogue.Kind, rogue.ListKind = "ObjectMeta", "ObjectMetaList"
	body, _, _, _ := documents(t, append(builtins(t), rogue), nil).Lookup("/openapi/v2", "")
	var doc spec.Swagger
	if err := json.Unmarshal(body.Joined(), &doc); err != nil {
		t.Fatal(err)
	}
	schema := doc.Definitions["io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"]
	if _, ok := schema.Properties["ownerReferences"]; !ok {
		t.Errorf("metadata is described by a custom resource: %v", schema.Properties)
	}
	before := disks(t, "apps.api.k8s.io", "a") // by name before those of apps
	before.Kind, before.ListKind = "Deployment", "DeploymentList"
	_, two := version2(t, documents(t, append([]*crd.Definition{before}, builtins(t)...), nil))
	if _, ok := two.Definitions["io.k8s.api.apps.v1.Deployment"].Properties["spec"]; !ok {
		t.Errorf("deployments are described by a custom resource: %v", two.Definitions["io.k8s.api.apps.v1.Deployment"])
	}
}

// listed is the custom resource that testdata describes.
func listed(t *testing.T) *crd.Definition {
	t.Helper()
	data, err := os.ReadFile("testdata/crd.json")
	if err != nil {
		t.Fatal(err)
	}
	c := &apiextensionsv1.CustomResourceDefinition{}
	if err := json.Unmarshal(data, c); err != nil {
		t.Fatal(err)
	}
	d, err := custom.Compile(c)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// What testdata holds are kube-apiserver's own documents.
func TestCustomSchemasAreKubeAPIServers(t *testing.T) {
	docs := documents(t, append(builtins(t), listed(t)), nil)
	for path, within := range map[string][]string{
		"/openapi/v2":                          {"definitions"},
		"/openapi/v3/apis/open.example.com/v1": {"components", "schemas"},
	} {
		body, _, _, _ := docs.Lookup(path, "application/json")
		var got map[string]any
		if err := json.Unmarshal(body.Joined(), &got); err != nil {
			t.Fatal(err)
		}
		for _, field := range append(within, "com.example.open.v1.Listed") {
			got, _ = got[field].(map[string]any)
		}
		recorded, err := os.ReadFile("testdata/listed_" + strings.Split(path, "/")[2] + ".json")
		if err != nil {
			t.Fatal(err)
		}
		var want map[string]any
		if err := json.Unmarshal(recorded, &want); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %v\nwant %v", path, got, want)
		}
	}
}

// broken is a custom resource whose schema cannot be written as JSON.
func broken(t *testing.T) *crd.Definition {
	t.Helper()
	d := disks(t, "broken.example.com", "a")
	d.Versions[0].OpenAPISchema().Properties["size"] = apiextensionsv1.JSONSchemaProps{Type: "string", Enum: []apiextensionsv1.JSON{{Raw: []byte("{")}}}
	return d
}

func TestTheIndexFollowsTheOrderOfVersions_WP03(t *testing.T) {
	defs := []*crd.Definition{disks(t, "a.example.com", "x"), disks(t, "disc.example.com", "x")}
	for _, d := range defs {
		beta := *d.Versions[0]
		beta.Name = "v1beta1"
		d.Versions = append(d.Versions, &beta)
	}
	order := func(_ string, versions []string) []string { return versions }
	index := func() []byte {
		docs := New(defs, nil, Options{Report: func(err error) { t.Error(err) }, Order: func(group string, versions []string) []string { return order(group, versions) }})
		body, _, _, _ := docs.Lookup("/openapi/v3", "")
		return body.Joined()
	}
	plain, _, _, _ := documents(t, defs, nil).Lookup("/openapi/v3", "")
	if same := index(); !bytes.Equal(same, plain.Joined()) || !json.Valid(same) {
		t.Errorf("with the order as it was: %s, want %s", same, plain.Joined())
	}
	var asked []string
	order = func(group string, versions []string) []string {
		asked = append(asked, group+" "+strings.Join(versions, " "))
		out := slices.Clone(versions)
		slices.Reverse(out)
		return out
	}
	other := index()
	if !slices.Equal(asked, []string{"a.example.com v1 v1beta1", "disc.example.com v1 v1beta1"}) {
		t.Errorf("asked %q", asked)
	}
	at := func(path string) int {
		return bytes.Index(other, []byte(`"`+path+`":{"serverRelativeURL":"/openapi/v3/`+path+`?hash=`))
	}
	places := []int{at("apis/a.example.com/v1beta1"), at("apis/a.example.com/v1"), at("apis/disc.example.com/v1beta1"), at("apis/disc.example.com/v1")}
	if places[0] < 0 || !slices.IsSorted(places) || !json.Valid(other) {
		t.Errorf("places %v in %s", places, other)
	}
}

func TestKindsThatCannotBeDescribedAreReported(t *testing.T) {
	var mu sync.Mutex
	var reported []string
	make := func() *Documents {
		return New([]*crd.Definition{disks(t, "disc.example.com", "a"), broken(t)}, nil, Options{Report: func(err error) {
			mu.Lock()
			defer mu.Unlock()
			reported = append(reported, err.Error())
		}})
	}
	docs := make()
	for range 2 {
		body, _, _, ok := docs.Lookup("/openapi/v2", "")
		if !ok || !strings.Contains(string(body.Joined()), "com.example.disc.v1.Disk") || strings.Contains(string(body.Joined()), "com.example.broken.v1.Disk") {
			t.Errorf("v2: %.100s", body.Joined())
		}
		body, _, _, ok = docs.Lookup("/openapi/v3/apis/broken.example.com/v1", "")
		if !ok || body.Length() == 0 || strings.Contains(string(body.Joined()), "com.example.broken.v1.Disk") {
			t.Errorf("v3: %.100s", body.Joined())
		}
	}
	if len(reported) != 3 {
		t.Errorf("%d reports: %q", len(reported), reported)
	}
	for _, r := range reported {
		if !strings.HasPrefix(r, "OpenAPI of disks.broken.example.com at v1: ") {
			t.Errorf("reported %s", r)
		}
	}
	_, _, one, _ := docs.Lookup("/openapi/v3/apis/broken.example.com/v1", "")
	_, _, other, _ := make().Lookup("/openapi/v3/apis/broken.example.com/v1", "")
	if one == other {
		t.Error("two descriptions of which nothing is known pass for the same")
	}
}

func TestDocumentsThatCannotBeEncodedAreReported(t *testing.T) {
	fails := func() (Body, error) { return nil, errors.New("it does not fit") }
	for media, want := range map[string]string{
		mediaJSON:  "an OpenAPI document as JSON: it does not fit",
		v2Protobuf: "an OpenAPI document as protobuf: it does not fit",
	} {
		var reported []string
		f := newForms(func() string { return "h" }, fails, fails, func(err error) { reported = append(reported, err.Error()) })
		for range 2 {
			if e := f.encoded(media); len(e.body) != 0 || e.hash != "h" {
				t.Errorf("%s: made %s", media, e.body)
			}
		}
		if len(reported) != 1 || reported[0] != want {
			t.Errorf("%s: reported %q", media, reported)
		}
	}
}
