package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	openapiv2 "github.com/google/gnostic-models/openapiv2"
	"google.golang.org/protobuf/proto"
	certutil "k8s.io/client-go/util/cert"
	openapiproto "k8s.io/kube-openapi/pkg/util/proto"

	"github.com/wasmgate/wasmgate/test/harness"
)

// extension is a server behind a gateway, which its service calls localhost.
type extension struct {
	service, port string
	cert, key     string // files
	ca            []byte
}

// newExtension makes the certificate of a server whose service will have a name.
func newExtension(t *testing.T, service string) *extension {
	t.Helper()
	host := service + ".default.svc"
	cert, key, err := certutil.GenerateSelfSignedCertKey(host, []net.IP{net.IPv4(127, 0, 0, 1)}, []string{host, "localhost"})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	e := &extension{service: service, ca: cert, cert: filepath.Join(dir, "tls.crt"), key: filepath.Join(dir, "tls.key")}
	for file, data := range map[string][]byte{e.cert: cert, e.key: key} {
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return e
}

// register makes the service and an APIService of a version that the extension serves.
func (e *extension) register(api *harness.API, group, version string) (path string) {
	var port int
	_, _ = fmt.Sscan(e.port, &port)
	api.Post("/api/v1/namespaces/default/services", map[string]any{
		"metadata": map[string]any{"name": e.service}, "spec": map[string]any{"type": "ExternalName", "externalName": "localhost"},
	}).Want(201, 409)
	api.Post(apiServices, map[string]any{
		"metadata": map[string]any{"name": version + "." + group},
		"spec": map[string]any{
			"group": group, "version": version, "groupPriorityMinimum": 2000, "versionPriority": 15, "caBundle": e.ca,
			"service": map[string]any{"namespace": "default", "name": e.service, "port": port},
		},
	}).Want(201)
	return apiServices + "/" + version + "." + group
}

// available tells the reason of the condition of an APIService.
func available(reason string) func(*harness.Reply) bool {
	return func(r *harness.Reply) bool { return r.Code == 200 && r.Contains(`"reason":"`+reason+`"`) }
}

// believed has a header count that no gateway sends, before the one that it sends.
const believed = "--requestheader-username-headers=X-Custom-User,X-Remote-User"

// A second gateway serves a version behind the first: its objects, its watches and its
// refusals are those that it gives to whoever asked the first.
func TestAGatewayBehindAGateway(t *testing.T) {
	t.Parallel()
	front := harness.Start(t, harness.Options{DataDir: filepath.Join(t.TempDir(), "data"), Args: []string{believed}})
	api := front.API(t)
	const config = "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication"
	trust := api.Eventually(config, func(r *harness.Reply) bool { return r.Code == 200 }).Str("data.requestheader-client-ca-file")
	file := filepath.Join(t.TempDir(), "front-proxy-ca.crt")
	if err := os.WriteFile(file, []byte(trust), 0o600); err != nil {
		t.Fatal(err)
	}
	e := newExtension(t, "behind")
	back := harness.Start(t, harness.Options{Args: []string{
		believed, "--requestheader-client-ca-file=" + file, "--requestheader-allowed-names=front-proxy-client", "--tls-cert-file=" + e.cert, "--tls-private-key-file=" + e.key,
	}})
	_, e.port, _ = net.SplitHostPort(strings.TrimPrefix(back.URL, "https://"))
	defineBooks(back.API(t))
	at := e.register(api, "behind.example.com", "v1")
	api.Eventually(at, available("Passed"))
	api.Eventually("/metrics", func(r *harness.Reply) bool {
		return r.Contains(`aggregator_unavailable_apiservice{name="v1.behind.example.com"} 0`)
	})
	const books = "/apis/behind.example.com/v1/namespaces/default/books"
	api.Eventually(books, func(r *harness.Reply) bool { return r.Code == 200 })
	ctx, end := context.WithTimeout(t.Context(), time.Minute)
	defer end()
	watch, err := api.Open(ctx, books+"?watch=true")
	if err != nil || watch.StatusCode != 200 {
		t.Fatal(watch, err)
	}
	defer watch.Body.Close()
	made := api.Post(books, map[string]any{"apiVersion": "behind.example.com/v1", "kind": "Book", "metadata": map[string]any{"name": "one"}}).Want(201)
	var event struct {
		Type   string
		Object struct{ Metadata struct{ Name string } }
	}
	if err := json.NewDecoder(watch.Body).Decode(&event); err != nil || event.Type != "ADDED" || event.Object.Metadata.Name != "one" {
		t.Errorf("%+v %v", event, err)
	}
	if there := back.API(t).Get(books + "/one").Want(200); there.Object().RV() != made.Object().RV() {
		t.Errorf("%s there, %s here", there.Body, made.Body)
	}
	api.Merge(books+"/one", map[string]any{"metadata": map[string]any{"labels": map[string]any{"a": "b"}}}).Want(200)
	api.Get(books+"/none").WantStatus(404, "NotFound", `books.behind.example.com "none" not found`)
	api.Get(books, "X-Custom-User", "nobody").Want(200) // which only a server may say
	listedByKubectl(t, front)
	described := func(r *harness.Reply) bool {
		return r.Contains(`"/apis/behind.example.com/v1/namespaces/{namespace}/books"`) && r.Contains("com.example.behind.v1.Book")
	}
	api.Eventually("/openapi/v2", described)

	// Who may do nothing here is not passed on; nobody's headers count but the front's.
	nobody := front.API(t)
	nobody.Token = "-"
	nobody.Get(books).Want(401, 403)
	forged := back.API(t)
	forged.Token = "-"
	forged.Get(books, "X-Remote-User", "admin", "X-Remote-Group", "system:masters").Want(401, 403)

	// Dead, it costs itself alone.
	back.Terminate(t)
	api.Eventually(at, available("FailedDiscoveryCheck"))
	api.Eventually(books, func(r *harness.Reply) bool { return r.Code == 503 && string(r.Body) == "service unavailable\n" })
	api.Get("/api/v1/namespaces/default").Want(200)
	if !described(api.Get("/openapi/v2").Want(200)) {
		t.Error("what the dead server described last is not kept")
	}
	api.Delete(at).Want(200)
	api.Eventually("/openapi/v2", func(r *harness.Reply) bool { return r.Code == 200 && !r.Contains("behind.example.com") })
	api.Eventually(books, func(r *harness.Reply) bool { return r.Code == 404 })
}

// defineBooks has a server serve books.
func defineBooks(api *harness.API) {
	api.Post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", map[string]any{
		"metadata": map[string]any{"name": "books.behind.example.com"},
		"spec": map[string]any{
			"group": "behind.example.com", "scope": "Namespaced", "names": map[string]any{"plural": "books", "kind": "Book"},
			"versions": []any{map[string]any{"name": "v1", "served": true, "storage": true, "schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}},
		},
	}).Want(201)
	api.Eventually("/apis/behind.example.com/v1", func(r *harness.Reply) bool { return r.Code == 200 })
}

// listedByKubectl has kubectl find the kind of the server behind, once discovery tells of it.
func listedByKubectl(t *testing.T, front *harness.Gateway) {
	t.Helper()
	harness.Eventually(t, "what the server behind serves in discovery", func() bool {
		return front.API(t).Get("/apis", "Accept", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList").Contains(`"books"`)
	})
	if got := front.Kubectl(t).Must("get", "books.v1.behind.example.com", "-o", "name"); !strings.Contains(got, "book.behind.example.com/one") {
		t.Errorf("kubectl: %s", got)
	}
}

// sample is Kubernetes' own example of an extension server, as its module is published, of the
// release of the libraries in go.mod.
const sample = "k8s.io/sample-apiserver@v0.37.2"

// sampleServer builds it with the versions of libraries that wasmgate is built with, so that
// those that both use are compiled once.
func sampleServer(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"go.mod", "go.sum"} {
		text, err := os.ReadFile(filepath.Join("..", "..", name))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, line := range []string{"mod edit -module sample -require " + sample, "build -mod=mod -o sample k8s.io/sample-apiserver"} {
		cmd := exec.Command("go", strings.Fields(line)...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Skipf("%s cannot be built here: %v %s", sample, err, out)
		}
	}
	return filepath.Join(dir, "sample")
}

// Kubernetes' sample-apiserver works behind a gateway without a change: it asks it who
// users are and what they may do.
func TestSampleAPIServer(t *testing.T) {
	t.Parallel()
	program := sampleServer(t)
	front := harness.Start(t, harness.Options{})
	api := front.API(t)
	const config = "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication"
	api.Eventually(config, func(r *harness.Reply) bool { return r.Code == 200 })
	e := newExtension(t, "wardle")
	e.port = harness.Port(t)
	etcd, err := url.Parse(front.EtcdURL)
	if err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	server := exec.Command(program, "--etcd-servers="+etcd.String(), "--secure-port="+e.port, "--bind-address=127.0.0.1",
		"--kubeconfig="+front.Kubeconfig, "--authentication-kubeconfig="+front.Kubeconfig, "--authorization-kubeconfig="+front.Kubeconfig,
		"--tls-cert-file="+e.cert, "--tls-private-key-file="+e.key)
	server.Stdout, server.Stderr = &log, &log
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = server.Process.Kill()
		_ = server.Wait()
		if t.Failed() {
			t.Log(log.String())
		}
	})
	for _, version := range []string{"v1alpha1", "v1beta1"} {
		api.Eventually(e.register(api, "wardle.example.com", version), available("Passed"))
	}
	api.Eventually("/openapi/v3", func(r *harness.Reply) bool { return r.Contains("/openapi/v3/apis/wardle.example.com/v1beta1?hash=") })
	for _, form := range []string{"application/json", "application/com.github.proto-openapi.spec.v3.v1.0+protobuf"} {
		described := api.Get("/openapi/v3/apis/wardle.example.com/v1beta1", "Accept", form).Want(200)
		if etag := described.Header.Get("Etag"); described.Header.Get("Content-Type") != form || len(etag) < 3 || !described.Contains("Flunder") {
			t.Errorf("as %s: %v, %d bytes", form, described.Header, len(described.Body))
		} else {
			api.Get("/openapi/v3/apis/wardle.example.com/v1beta1", "Accept", form, "If-None-Match", etag).Want(304)
		}
	}
	describedInVersion2(t, api)
	if root := api.Get("/").Want(200); !root.Contains(`"/apis/wardle.example.com/v1beta1"`) || !root.Contains(`"/apis/wardle.example.com"`) {
		t.Errorf("the paths are %s", root.Body)
	}
	k := front.Kubectl(t)
	flunder := `{"apiVersion":"wardle.example.com/v1alpha1","kind":"Flunder","metadata":{"name":"one","labels":{"sample":"true"}}}`
	if got := k.MustInput(flunder, "apply", "-f", "-"); !strings.Contains(got, "created") {
		t.Error(got)
	}
	if got := k.Must("get", "flunders.v1beta1.wardle.example.com", "one", "-o", "jsonpath={.metadata.labels.sample}"); got != "true" {
		t.Error(got)
	}
	if got := k.Must("delete", "flunders", "one"); !strings.Contains(got, "deleted") {
		t.Error(got)
	}
}

// describedInVersion2 reads version 2 as clients do that make types of it, which fail on
// any part that they do not understand.
func describedInVersion2(t *testing.T, api *harness.API) {
	t.Helper()
	api.Eventually("/openapi/v2", func(r *harness.Reply) bool {
		return r.Contains("/apis/wardle.example.com/v1beta1/") && r.Contains("/apis/wardle.example.com/v1alpha1/")
	})
	for _, form := range []string{"application/json", "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"} {
		whole := api.Get("/openapi/v2", "Accept", form).Want(200)
		doc := &openapiv2.Document{}
		var err error
		if form == "application/json" {
			doc, err = openapiv2.ParseDocument(whole.Body)
		} else {
			err = proto.Unmarshal(whole.Body, doc)
		}
		if err != nil {
			t.Fatal(form, err)
		}
		models, err := openapiproto.NewOpenAPIData(doc)
		if err != nil {
			t.Fatal(form, err)
		}
		found := map[string]bool{}
		for _, name := range models.ListModels() {
			kinds, _ := models.LookupModel(name).GetExtensions()["x-kubernetes-group-version-kind"].([]any)
			for _, one := range kinds {
				found[fmt.Sprint(one)] = true
			}
		}
		for _, want := range []string{"map[group:wardle.example.com kind:Flunder version:v1alpha1]", "map[group:wardle.example.com kind:Flunder version:v1beta1]", "map[group: kind:Pod version:v1]"} {
			if !found[want] {
				t.Errorf("as %s: nothing describes %s", form, want)
			}
		}
		if etag := whole.Header.Get("Etag"); len(etag) < 3 {
			t.Errorf("as %s: %v", form, whole.Header)
		} else {
			api.Get("/openapi/v2", "Accept", form, "If-None-Match", etag).Want(304)
		}
	}
}
