package bundles

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/wasmgate/wasmgate/gateway/options"
)

// server is as much of an API server as the injector asks for: lists, watches of them in
// which nothing happens, and patches, which are refused with codes as long as there are some.
type server struct {
	*httptest.Server
	objects map[string]string // their JSON, by resource
	live    string            // that of whichever is read by its name

	mu      sync.Mutex
	refusal []int
	patches []string // path and body
	selects []string // of lists
}

func newServer(t *testing.T) *server {
	s := &server{objects: map[string]string{}}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.CloseClientConnections)
	t.Cleanup(s.Close)
	return s
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	if r.URL.Query().Has("sendInitialEvents") { // as of a server that cannot: it is listed then
		w.WriteHeader(http.StatusUnprocessableEntity)
		_, _ = io.WriteString(w, `{"apiVersion":"v1","kind":"Status","status":"Failure","reason":"Invalid","code":422}`)
		return
	}
	if r.URL.Query().Has("watch") {
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/x") {
		if s.live == "" {
			w.WriteHeader(http.StatusForbidden)
			_, _ = io.WriteString(w, `{"apiVersion":"v1","kind":"Status","status":"Failure","reason":"Forbidden","code":403}`)
			return
		}
		_, _ = io.WriteString(w, s.live)
		return
	}
	if r.Method == http.MethodGet {
		s.selects = append(s.selects, r.URL.Query().Get("labelSelector"))
		_, _ = fmt.Fprintf(w, `{"apiVersion":"v1","kind":"List","metadata":{"resourceVersion":"9"},"items":[%s]}`, s.objects[r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]])
		return
	}
	body, _ := io.ReadAll(r.Body)
	s.patches = append(s.patches, r.URL.Path+" "+r.URL.Query().Get("fieldManager")+" "+string(body))
	if len(s.refusal) > 0 {
		code := s.refusal[0]
		s.refusal = s.refusal[1:]
		reason := map[int]string{404: "NotFound", 409: "Conflict", 422: "Invalid", 403: "Forbidden"}[code]
		w.WriteHeader(code)
		_, _ = fmt.Fprintf(w, `{"apiVersion":"v1","kind":"Status","status":"Failure","reason":%q,"message":"no","code":%d}`, reason, code)
		return
	}
	_, _ = io.WriteString(w, `{"apiVersion":"v1","kind":"X","metadata":{"name":"x"}}`)
}

// injector is one for the server: its host is me, its bundle "bundle".
func (s *server) injector(t *testing.T, selects string, log io.Writer, done func(string, error)) *Injector {
	t.Helper()
	i, err := New(Config{
		Kubeconfig: kubeconfigOf(t, s.URL, ""), Select: selects, Trust: func() ([]byte, error) { return []byte("bundle"), nil },
		Covers: func(host string) bool { return host == "me" || host == "us.ns.svc" }, Paths: []string{"/convert/", "/admit/"},
		Done: done, Log: zerolog.New(log),
	})
	if err != nil {
		t.Fatal(err)
	}
	return i
}

func kubeconfigOf(t *testing.T, url, more string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "kubeconfig")
	text := `{apiVersion: v1, kind: Config, current-context: c, contexts: [{name: c, context: {cluster: c, user: u}}], users: [{name: u, user: {}}], clusters: [{name: c, cluster: {server: "` + url + `"` + more + `}}]}`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func objectOf(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &u.Object); err != nil {
		t.Fatal(err)
	}
	return u
}

var want = base64.StdEncoding.EncodeToString([]byte("bundle"))

// A bundle is written where a clientConfig is this server's and lacks it, in one patch of
// the state that was read.
func TestWhereBundlesAreWritten(t *testing.T) {
	const mine = `{url: "https://me/admit/a"}`
	s := newServer(t)
	definition := func(config string) string {
		return `{metadata: {name: x, resourceVersion: "7"}, spec: {conversion: {webhook: {clientConfig: ` + config + `}}}}`
	}
	hooks := func(configs ...string) string {
		return `{metadata: {name: x, resourceVersion: "7"}, webhooks: [` + strings.Join(configs, ", ") + `]}`
	}
	hook := func(config string) string { return `{name: h.example.com, clientConfig: ` + config + `}` }
	const conversion = "/spec/conversion/webhook/clientConfig/caBundle"
	for name, c := range map[string]struct {
		object string
		want   []string // paths
	}{
		"a definition's":         {definition(`{url: "https://me/convert/a"}`), []string{conversion}},
		"a service":              {definition(`{service: {name: us, namespace: ns, path: /convert/a}}`), []string{conversion}},
		"another service":        {definition(`{service: {name: us, namespace: other, path: /convert/a}}`), nil},
		"no path":                {definition(`{service: {name: us, namespace: ns}}`), nil},
		"another path":           {definition(`{url: "https://me/other"}`), nil},
		"another host":           {definition(`{url: "https://you/convert/a"}`), nil},
		"no TLS":                 {definition(`{url: "http://me/convert/a"}`), nil},
		"no URL":                 {definition(`{url: "https://me:x/convert/a"}`), nil},
		"nothing":                {definition(`{}`), nil},
		"there already":          {definition(`{url: "https://me/convert/a", caBundle: ` + want + `}`), nil},
		"no webhook":             {`{metadata: {name: x}, spec: {conversion: {strategy: None}}}`, nil},
		"those that are this":    {hooks(`{name: none}`, hook(`{url: "https://you/admit/"}`), hook(mine), hook(`{url: "https://me/admit/", caBundle: `+want+`}`), hook(mine)), []string{"/webhooks/2/clientConfig/caBundle", "/webhooks/4/clientConfig/caBundle"}},
		"after one that is held": {hooks(hook(`{url: "https://me/admit/", caBundle: YQ==}`), hook(mine)), []string{"/webhooks/1/clientConfig/caBundle"}},
		"blank is none":          {hooks(hook(`{url: "https://me/admit/", caBundle: Cg==}`)), []string{"/webhooks/0/clientConfig/caBundle"}},
	} {
		s.patches = nil
		wrote, err := s.injector(t, "a=b", io.Discard, nil).inject(t.Context(), item{resources[1], "x"}, objectOf(t, c.object))
		if err != nil || wrote != (c.want != nil) || len(s.patches) > 1 {
			t.Errorf("%s: %v, %v, %q", name, wrote, err, s.patches)
		}
		if c.want == nil || len(s.patches) == 0 {
			continue
		}
		body := []operation{{"test", "/metadata/resourceVersion", "7"}}
		for _, path := range c.want {
			body = append(body, operation{"add", path, want})
		}
		text, _ := json.Marshal(body)
		if told := "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/x wasmgate-webhook " + string(text); s.patches[0] != told {
			t.Errorf("%s: %s, want %s", name, s.patches[0], told)
		}
	}
}

// Whoever applies a caBundle, or wrote one that is not blank, keeps it.
func TestWhoseABundleIs(t *testing.T) {
	fields := func(manager, operation, fields string) string {
		return `{manager: ` + manager + `, operation: ` + operation + `, fieldsType: FieldsV1, fieldsV1: ` + fields + `}`
	}
	const (
		owns   = `{"f:spec": {"f:conversion": {"f:webhook": {"f:clientConfig": {"f:caBundle": {}}}}}}`
		beside = `{"f:spec": {"f:conversion": {"f:webhook": {"f:clientConfig": {"f:url": {}}}}}}`
	)
	for name, c := range map[string]struct {
		bundle, managers, why string
	}{
		"nobody's":                 {"", "", ""},
		"nobody's, but there":      {"YQ==", "", "somebody"},
		"applied":                  {"", fields("gitops", "Apply", owns), "gitops"},
		"written":                  {"YQ==", fields("kubectl", "Update", owns), "kubectl"},
		"written blank":            {"", fields("kubectl", "Update", owns), ""},
		"applied and written":      {"YQ==", fields("gitops", "Apply", owns) + "," + fields("other", "Update", beside), "gitops"},
		"what is beside":           {"", fields("gitops", "Apply", beside), ""},
		"without fields, then one": {"", `{manager: odd, operation: Apply},` + fields("odd", "Apply", `[]`) + "," + fields("gitops", "Apply", owns), "gitops"},
		"this one's":               {"YQ==", fields("kubectl", "Update", owns) + "," + fields(Manager, "Update", owns), ""},
	} {
		s, log := newServer(t), &bytes.Buffer{}
		i := s.injector(t, "", log, nil)
		obj := objectOf(t, `{metadata: {name: x, resourceVersion: "7", managedFields: [`+c.managers+`]}, spec: {conversion: {webhook: {clientConfig: {url: "https://me/convert/", caBundle: "`+c.bundle+`"}}}}}`)
		for range 2 { // it is told once
			if wrote, err := i.inject(t.Context(), item{resources[0], "x"}, obj); err != nil || wrote != (c.why == "") {
				t.Errorf("%s: wrote %v, %v", name, wrote, err)
			}
		}
		told := ""
		if c.why != "" {
			told = `{"level":"warn","resource":"customresourcedefinitions","name":"x","reason":"that of /spec/conversion/webhook/clientConfig is ` + c.why + `'s","message":"caBundle is not written"}` + "\n"
		}
		if log.String() != told {
			t.Errorf("%s: told %s, want %s", name, log, told)
		}
	}
}

// Where objects are to ask for it, only those have a bundle that do; without one, it is
// said why.
func TestWhoWantsBundles(t *testing.T) {
	s := newServer(t)
	i := s.injector(t, options.Annotated, io.Discard, nil)
	for annotation, wants := range map[string]bool{`"true"`: true, `"false"`: false} {
		obj := objectOf(t, `{metadata: {name: x, annotations: {wasmgate.dev/inject-ca: `+annotation+`}}, spec: {conversion: {webhook: {clientConfig: {url: "https://me/convert/"}}}}}`)
		if wrote, err := i.inject(t.Context(), item{resources[0], "x"}, obj); err != nil || wrote != wants || (len(s.patches) > 0) != wants {
			t.Errorf("%s: %v, %v, %q", annotation, wrote, err, s.patches)
		}
		s.patches = nil
		no := errors.New("no certificate")
		i.Trust = func() ([]byte, error) { return nil, no }
		if wrote, err := i.inject(t.Context(), item{resources[0], "x"}, obj); wrote != wants || errors.Is(err, no) != wants || len(s.patches) > 0 {
			t.Errorf("%s, without a bundle: %v, %v", annotation, wrote, err)
		}
		i.Trust = func() ([]byte, error) { return []byte("bundle"), nil }
	}
}

// What could not be written is tried again, and every try is told; objects that are gone
// are not.
func TestBundlesAreWrittenUntilItWorks(t *testing.T) {
	object := `{"apiVersion":"v1","kind":"X","metadata":{"name":"x","resourceVersion":"7"},"webhooks":[{"name":"h","clientConfig":{"url":"https://me/admit/"}}]}`
	s := newServer(t)
	s.objects = map[string]string{"validatingwebhookconfigurations": object}
	s.live = strings.Replace(object, `"7"`, `"8"`, 1) // it has changed
	s.refusal = []int{409, 422, 403, 403, 404}
	type try struct {
		resource string
		err      error
	}
	tries, log := make(chan try), &bytes.Buffer{}
	i := s.injector(t, "a=b", log, func(resource string, err error) { tries <- try{resource, err} })
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- i.Run(ctx) }()
	next := func() try {
		t.Helper()
		select {
		case x := <-tries:
			return x
		case <-time.After(20 * time.Second):
			t.Fatal("it is not tried again")
			return try{}
		}
	}
	for _, refused := range []string{"no", "no", "no"} { // both refusals that mean a change are told of nobody
		if x := next(); x.resource != "validatingwebhookconfigurations" || x.err == nil || x.err.Error() != refused {
			t.Errorf("%v, want %s", x, refused)
		}
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	s.mu.Lock() // what came last may be answered still
	if n := strings.Count(log.String(), "caBundle is not written"); n != 1 || len(s.patches) != 5 {
		t.Errorf("after %d patches told %d times: %s", len(s.patches), n, log)
	}
	if len(s.selects) != 3 || slices.ContainsFunc(s.selects, func(x string) bool { return x != "a=b" }) {
		t.Errorf("listed %q", s.selects)
	}
	// What works is told once, and not again.
	s.refusal, s.patches, s.selects = nil, nil, nil
	s.mu.Unlock()
	log.Reset()
	i = s.injector(t, options.Annotated, log, func(resource string, err error) { tries <- try{resource, err} })
	s.mu.Lock()
	s.objects["validatingwebhookconfigurations"] = strings.Replace(object, `"name":"x"`, `"name":"x","annotations":{"wasmgate.dev/inject-ca":"true"}`, 1)
	s.mu.Unlock()
	ctx, cancel = context.WithCancel(t.Context())
	go func() { ended <- i.Run(ctx) }()
	if x := next(); x.err != nil {
		t.Error(x)
	}
	cancel()
	err := <-ended
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil || !strings.Contains(log.String(), `"message":"caBundle written"`) || strings.Contains(log.String(), "not written") || slices.Contains(s.selects, "annotated") {
		t.Errorf("%v, %s, listed %q", err, log, s.selects)
	}
}

// A patch that is refused for what it would make of an object, and not since that has changed,
// is told; so is one of which nobody knows.
func TestObjectsThatWouldNotBeValid(t *testing.T) {
	const object = `{"apiVersion":"v1","kind":"X","metadata":{"name":"x","resourceVersion":"7"},"webhooks":[{"name":"h","clientConfig":{"url":"https://me/admit/"}}]}`
	for _, live := range []string{object, ""} {
		s, log := newServer(t), &bytes.Buffer{}
		s.objects, s.live, s.refusal = map[string]string{"validatingwebhookconfigurations": object}, live, []int{422, 422, 422}
		tries := make(chan error)
		i := s.injector(t, "a=b", log, func(_ string, err error) { tries <- err })
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- i.Run(ctx) }()
		for _, refused := range []bool{true, true, true, false} {
			select {
			case err := <-tries:
				if (err != nil) != refused {
					t.Errorf("live %q: %v, want a refusal: %t", live, err, refused)
				}
			case <-time.After(20 * time.Second):
				t.Fatalf("live %q: nothing is told", live)
			}
		}
		cancel()
		if err := <-ended; err != nil || strings.Count(log.String(), `"reason":"no","message":"caBundle is not written"`) != 1 {
			t.Errorf("live %q: %v, told %s", live, err, log)
		}
	}
}

// Where the API server is not to be found, it is said at once.
func TestAPIServersThatAreNotFound(t *testing.T) {
	for file, why := range map[string]string{
		filepath.Join(t.TempDir(), "none"): "no such file", kubeconfigOf(t, "https://x", `, certificate-authority-data: "YQ=="`): "certificates",
	} {
		if i, err := New(Config{Kubeconfig: file}); i != nil || err == nil || !strings.HasPrefix(err.Error(), "--inject: ") || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v", file, err)
		}
	}
}
