package cli

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wasmgate/wasmgate/gateway/pki/kubeconfig"
)

// fakeGateway speaks as much of the API as the commands use.
type fakeGateway struct {
	*httptest.Server
	kubeconfig string
	// changed is called, with the lock held, after each write; it plays the
	// controllers by calling set.
	changed func(g *fakeGateway, path string, obj map[string]any)
	// before, where it is set, is called, with the lock held, before each patch.
	before func(g *fakeGateway, path string)
	// dropWatches ends every watch after one event.
	dropWatches bool
	// strange answers everybody that they are not known.
	strange bool
	// refuses refuses every content.
	refuses bool
	// holds keeps objects that are deleted.
	holds bool
	// frozen lets nobody change anything.
	frozen bool
	// knowsNoModules has no such kind.
	knowsNoModules bool
	// watched is called at the beginning of a watch.
	watched func()
	// refused tells of a request, but for discovery, whether it is refused; nil refuses none.
	refused func() bool

	mu       sync.Mutex
	objects  map[string]map[string]any
	contents map[string][]byte
	revision int
	// news is closed and replaced at every change.
	news chan struct{}
}

func newFakeGateway(t *testing.T) *fakeGateway {
	t.Helper()
	g := &fakeGateway{objects: map[string]map[string]any{}, contents: map[string][]byte{}, news: make(chan struct{})}
	g.changed = func(*fakeGateway, string, map[string]any) {}
	g.Server = httptest.NewServer(g)
	t.Cleanup(g.Close)
	g.kubeconfig = filepath.Join(t.TempDir(), "kubeconfig")
	if err := kubeconfig.Write(g.kubeconfig, kubeconfig.Admin{Server: g.URL, Token: "t"}); err != nil {
		t.Fatal(err)
	}
	return g
}

const (
	migrationsPath = "/apis/storagemigration.k8s.io/v1/storageversionmigrations"
	modulesPath    = "/apis/wasmgate.dev/v1/wasmmodules"
)

var discoveryDocuments = map[string]string{
	"/api": `{"kind":"APIVersions","versions":["v1"]}`,
	"/apis": `{"kind":"APIGroupList","apiVersion":"v1","groups":[{"name":"example.com",
		"versions":[{"groupVersion":"example.com/v1","version":"v1"}],"preferredVersion":{"groupVersion":"example.com/v1","version":"v1"}}]}`,
	"/api/v1": `{"kind":"APIResourceList","groupVersion":"v1","resources":[
		{"name":"configmaps","singularName":"configmap","namespaced":true,"kind":"ConfigMap","verbs":["get"],"shortNames":["cm"]}]}`,
	"/apis/example.com/v1": `{"kind":"APIResourceList","groupVersion":"example.com/v1","resources":[
		{"name":"crontabs","singularName":"crontab","namespaced":true,"kind":"CronTab","verbs":["get"],"shortNames":["ct"]}]}`,
}

func (g *fakeGateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	if g.strange {
		status(w, 401, "Unauthorized")
		return
	}
	if doc, ok := discoveryDocuments[r.URL.Path]; ok {
		_, _ = io.WriteString(w, doc)
		return
	}
	if g.refused != nil && g.refused() {
		status(w, 403, "Forbidden")
		return
	}
	base, name := r.URL.Path, ""
	for _, collection := range []string{migrationsPath, modulesPath} {
		if rest, ok := strings.CutPrefix(r.URL.Path, collection+"/"); ok {
			base, name = collection, rest
		}
	}
	if base != migrationsPath && base != modulesPath || g.knowsNoModules {
		http.NotFound(w, r)
		return
	}
	if r.Method == http.MethodGet && r.URL.Query().Get("watch") != "" {
		g.watch(w, r, base)
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case r.Method == http.MethodPost && strings.HasSuffix(name, "/prioritize"):
		prioritize(w, r, name)
	case r.Method == http.MethodPost:
		g.create(w, r, base)
	case r.Method == http.MethodPut && strings.HasSuffix(name, "/content"):
		g.upload(w, r, base+"/"+strings.TrimSuffix(name, "/content"))
	case name == "silent/log":
	case strings.HasSuffix(name, "/log") && name != "none/log":
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = io.WriteString(w, "the log of "+strings.TrimSuffix(name, "/log")+"\n")
	case r.Method == http.MethodDelete:
		g.remove(w, r, base+"/"+name)
	case r.Method == http.MethodPut:
		g.replace(w, r, base+"/"+name)
	case r.Method == http.MethodPatch:
		g.patch(w, r, base+"/"+name)
	case strings.HasSuffix(name, "/content"):
		g.download(w, r, base+"/"+strings.TrimSuffix(name, "/content"))
	case name == "":
		g.list(w, base)
	case name == "none/log":
		missing(w, base+"/none")
	case g.objects[base+"/"+name] == nil:
		missing(w, base+"/"+name)
	default:
		_ = json.NewEncoder(w).Encode(g.objects[base+"/"+name])
	}
}

func (g *fakeGateway) create(w http.ResponseWriter, r *http.Request, base string) {
	var obj map[string]any
	if err := json.NewDecoder(r.Body).Decode(&obj); err != nil {
		status(w, 400, "BadRequest")
		return
	}
	meta := obj["metadata"].(map[string]any)
	if prefix, ok := meta["generateName"].(string); ok {
		meta["name"] = prefix + "x7k2p"
	}
	path := fmt.Sprintf("%s/%s", base, meta["name"])
	if g.objects[path] != nil {
		status(w, 409, "AlreadyExists")
		return
	}
	dry := r.URL.Query().Get("dryRun") != ""
	if !dry {
		g.set(path, obj)
	}
	w.WriteHeader(201)
	_ = json.NewEncoder(w).Encode(obj)
	if !dry {
		g.changed(g, path, obj)
	}
}

func (g *fakeGateway) replace(w http.ResponseWriter, r *http.Request, path string) {
	var obj map[string]any
	if err := json.NewDecoder(r.Body).Decode(&obj); err != nil || g.objects[path] == nil {
		status(w, 400, "BadRequest")
		return
	}
	g.set(path, obj)
	_ = json.NewEncoder(w).Encode(obj)
	g.changed(g, path, obj)
}

// remove deletes an object, if it is the one that is meant.
func (g *fakeGateway) remove(w http.ResponseWriter, r *http.Request, path string) {
	var options metav1.DeleteOptions
	_ = json.NewDecoder(r.Body).Decode(&options)
	obj := g.objects[path]
	switch uid := new(unstructured.Unstructured); {
	case obj == nil:
		missing(w, path)
		return
	case options.Preconditions != nil:
		if uid.Object = obj; *options.Preconditions.UID != uid.GetUID() {
			status(w, 409, "Conflict")
			return
		}
	}
	if len(options.DryRun) == 0 && !g.holds {
		g.drop(path)
	}
	status(w, 200, "")
}

// patch merges at the depth of annotations, and of spec.source.upload.
func (g *fakeGateway) patch(w http.ResponseWriter, r *http.Request, path string) {
	var patch map[string]any
	if g.frozen {
		status(w, 403, "Forbidden")
		return
	}
	if err := json.NewDecoder(r.Body).Decode(&patch); err != nil || r.Header.Get("Content-Type") != "application/merge-patch+json" || g.objects[path] == nil {
		status(w, 400, "BadRequest")
		return
	}
	if g.before != nil {
		g.before(g, path)
	}
	obj := g.copy(path)
	if meta, _ := patch["metadata"].(map[string]any); meta["resourceVersion"] != nil && meta["resourceVersion"] != obj["metadata"].(map[string]any)["resourceVersion"] {
		status(w, 409, "Conflict")
		return
	}
	merge(obj, patch)
	g.set(path, obj)
	_ = json.NewEncoder(w).Encode(obj)
	g.changed(g, path, obj)
}

func merge(into, patch map[string]any) {
	for k, v := range patch {
		if inner, ok := v.(map[string]any); ok {
			if into[k] == nil {
				into[k] = map[string]any{}
			}
			merge(into[k].(map[string]any), inner)
			continue
		}
		into[k] = v
	}
}

// prioritize plays the module m, which puts v1 first.
func prioritize(w http.ResponseWriter, r *http.Request, name string) {
	var review priorityReview
	switch err := json.NewDecoder(r.Body).Decode(&review); {
	case err != nil || r.Header.Get("Content-Type") != "application/json" || review.Kind != "VersionPriorityReview" || review.Request == nil:
		status(w, 400, "BadRequest")
	case "/"+name != previewPath:
		missing(w, modulesPath+"/"+strings.TrimSuffix(name, "/prioritize"))
	case review.Request.Group == "broken":
		status(w, 500, "InternalError")
	case review.Request.Group == "odd":
		_, _ = io.WriteString(w, "{}")
	default:
		review.Request.Versions, review.Response = []string{"v2", "v1"}, &priorityAnswer{Versions: []string{"v1", "v2"}}
		_ = json.NewEncoder(w).Encode(review)
	}
}

func (g *fakeGateway) upload(w http.ResponseWriter, r *http.Request, path string) {
	body, err := io.ReadAll(r.Body)
	if err != nil || r.Header.Get("Content-Type") != "application/wasm" {
		status(w, 415, "UnsupportedMediaType")
		return
	}
	if g.refuses {
		status(w, 422, "Invalid")
		return
	}
	obj := g.copy(path)
	if r.URL.Query().Get("dryRun") != "" {
		_ = json.NewEncoder(w).Encode(obj)
		return
	}
	g.contents[path] = body
	sum := sha256.Sum256(body)
	obj["metadata"].(map[string]any)["annotations"] = map[string]any{contentAnnotation: "sha256:" + hex.EncodeToString(sum[:])}
	g.set(path, obj)
	_ = json.NewEncoder(w).Encode(obj)
	g.changed(g, path, obj)
}

// download sends the content that has the digest, or was put there for it.
func (g *fakeGateway) download(w http.ResponseWriter, r *http.Request, path string) {
	content, ok := g.contents[path+"@"+r.URL.Query().Get("digest")]
	if !ok {
		missing(w, path+"/content")
		return
	}
	w.Header().Set("Content-Type", "application/wasm")
	_, _ = w.Write(content)
}

func (g *fakeGateway) list(w http.ResponseWriter, base string) {
	items := []any{}
	for path, obj := range g.objects {
		if strings.HasPrefix(path, base+"/") {
			items = append(items, obj)
		}
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"kind": "WasmModuleList", "apiVersion": "wasmgate.dev/v1", "metadata": map[string]any{"resourceVersion": "1"}, "items": items})
}

// watch sends the object that the field selector names whenever it changes.
func (g *fakeGateway) watch(w http.ResponseWriter, r *http.Request, base string) {
	path := base + "/" + strings.TrimPrefix(r.URL.Query().Get("fieldSelector"), "metadata.name=")
	seen := r.URL.Query().Get("resourceVersion")
	w.WriteHeader(200)
	w.(http.Flusher).Flush()
	if g.watched != nil {
		g.watched()
	}
	for {
		g.mu.Lock()
		news, obj := g.news, g.objects[path]
		g.mu.Unlock()
		if obj == nil {
			_ = json.NewEncoder(w).Encode(map[string]any{"type": "DELETED", "object": newModuleObject("m")})
			return
		}
		if rv := obj["metadata"].(map[string]any)["resourceVersion"].(string); rv != seen {
			seen = rv
			_ = json.NewEncoder(w).Encode(map[string]any{"type": "MODIFIED", "object": obj})
			w.(http.Flusher).Flush()
			if g.dropWatches {
				return
			}
		}
		select {
		case <-news:
		case <-r.Context().Done():
			return
		}
	}
}

// set stores an object, which is not changed any more afterwards.
func (g *fakeGateway) set(path string, obj map[string]any) {
	g.revision++
	obj["metadata"].(map[string]any)["resourceVersion"] = fmt.Sprint(g.revision)
	g.objects[path] = obj
	close(g.news)
	g.news = make(chan struct{})
}

// drop lets an object be gone.
func (g *fakeGateway) drop(path string) {
	delete(g.objects, path)
	close(g.news)
	g.news = make(chan struct{})
}

// copy returns a deep copy of an object.
func (g *fakeGateway) copy(path string) map[string]any {
	data, _ := json.Marshal(g.objects[path])
	var obj map[string]any
	_ = json.Unmarshal(data, &obj)
	return obj
}

// later makes a change from outside of a request.
func (g *fakeGateway) later(path string, change func(obj map[string]any)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	obj := g.copy(path)
	change(obj)
	g.set(path, obj)
}

// missing answers that there is no object of a path, or nothing of it.
func missing(w http.ResponseWriter, path string) {
	_, name, _ := strings.Cut(path, "/v1/")
	_, name, _ = strings.Cut(name, "/")
	w.WriteHeader(404)
	_ = json.NewEncoder(w).Encode(map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": "no: NotFound",
		"reason": "NotFound", "code": 404, "details": map[string]any{"name": name}})
}

func status(w http.ResponseWriter, code int, reason string) {
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(map[string]any{
		"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": "no: " + reason, "reason": reason, "code": code})
}

// command runs wasmgate with arguments and returns what it printed.
func command(t *testing.T, args ...string) (string, error) {
	t.Helper()
	root := New(Parts{})
	var out bytes.Buffer
	root.SetOut(&out)
	root.SetErr(&out)
	root.SetArgs(args)
	err := root.ExecuteContext(context.Background())
	return out.String(), err
}
