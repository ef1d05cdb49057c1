package hooks

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/wasmgate/wasmgate/gateway/options"
	"github.com/wasmgate/wasmgate/plugins"
	"github.com/wasmgate/wasmgate/plugins/plugintest"
)

// server serves the files of a folder, and is asked over HTTPS by who trusts its bundle.
type server struct {
	*testing.T
	folder string
	url    string
	client *http.Client
	stop   func() error
	lines  chan string // of its log
}

// Write implements [io.Writer]: it gets the lines of the log.
func (s *server) Write(line []byte) (int, error) {
	s.lines <- string(line)
	return len(line), nil
}

// told waits until the log has a line with a text.
func (s *server) told(text string) {
	s.Helper()
	patience := time.After(time.Minute)
	for {
		select {
		case line := <-s.lines:
			if strings.Contains(line, text) {
				return
			}
		case <-patience:
			s.Fatalf("%q is not told", text)
		}
	}
}

func serve(t *testing.T, files map[string]string, change func(o *options.Webhooks)) *server {
	t.Helper()
	s := &server{T: t, folder: t.TempDir(), lines: make(chan string, 1000)}
	for name, text := range files {
		s.write(name, text)
	}
	o := options.DefaultWebhooks()
	o.Files, o.SecurePort, o.DataDir = []string{s.folder}, 0, filepath.Join(t.TempDir(), "data")
	if change != nil {
		change(&o)
	}
	ctx, cancel := context.WithCancel(t.Context())
	started, ended := make(chan options.WebhookStarted, 1), make(chan error, 1)
	go func() {
		ended <- Run(ctx, o, zerolog.New(s), func(s options.WebhookStarted) { started <- s })
	}()
	select {
	case is := <-started:
		roots := x509.NewCertPool()
		roots.AppendCertsFromPEM(is.CABundle)
		s.url, s.client = is.URL, &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}}
	case err := <-ended:
		t.Fatal(err)
	}
	s.stop = func() error {
		cancel()
		return <-ended
	}
	t.Cleanup(func() {
		cancel()
		s.client.CloseIdleConnections()
	})
	return s
}

// write replaces a file at once.
func (s *server) write(name, text string) {
	s.Helper()
	file := filepath.Join(s.folder, name)
	err := os.WriteFile(file+".new", []byte(text), 0o600)
	if err == nil {
		err = os.Rename(file+".new", file)
	}
	if err != nil {
		s.Fatal(err)
	}
}

func (s *server) post(path, body string) (code int, reply string) {
	s.Helper()
	resp, err := s.client.Post(s.url+path, "application/json", strings.NewReader(body))
	if err != nil {
		s.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		s.Fatal(err)
	}
	return resp.StatusCode, string(data)
}

func (s *server) get(path string) string {
	s.Helper()
	resp, err := s.client.Get(s.url + path)
	if err != nil {
		s.Fatal(err)
	}
	defer resp.Body.Close()
	data, _ := io.ReadAll(resp.Body)
	return string(data)
}

// answers posts something that is replied to with a text.
func (s *server) answers(path, body, want string) {
	s.Helper()
	if _, reply := s.post(path, body); !strings.Contains(reply, want) {
		s.Errorf("%s answers %s, not %s", path, reply, want)
	}
}

// rulesTo moves a field from host to another.
func rulesTo(to string) string {
	return "apiVersion: wasmgate.dev/v1\nkind: ConversionRules\nmetadata: {name: tabs}\nspec: {conversions: [{from: v1, to: v2, rules: [{move: {from: host, to: " + to + "}}]}]}\n"
}

func converting(objects string) string {
	return `{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","request":{"uid":"7","desiredAPIVersion":"example.com/v2","objects":[` + objects + `]}}`
}

const tab = `{"apiVersion":"example.com/v1","kind":"Tab","metadata":{"name":"a"},"host":"h"}`

func admission(labels string) string {
	return `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"8","kind":{"group":"","version":"v1","kind":"ConfigMap"},"operation":"CREATE","name":"a",` +
		`"object":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","labels":` + labels + `}}}}`
}

// admitting is a small module that answers whatever it is asked about a write.
func admitting(reply string) string {
	return string(plugintest.Echo(reply).With(string(plugins.Admit), plugintest.HookReturning(plugintest.DataAt, uint32(len(reply)))).Without(string(plugins.Convert)).Bytes())
}

func TestRulesAndModulesAnswerReviews(t *testing.T) {
	s := serve(t, map[string]string{
		"tabs.yaml": rulesTo("address"), "policy.wasm": admitting(`{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{"uid":"8","allowed":true}}`),
		"silent.wasm": admitting(""),
	}, nil)
	for _, c := range []struct {
		path, body string
		code       int
		want       string
	}{
		{"/convert/tabs", converting(tab), 200, `"response":{"uid":"7","result":{"status":"Success"},"convertedObjects":[{"address":"h","apiVersion":"example.com/v2","kind":"Tab","metadata":{"name":"a"}}]}`},
		{"/convert/tabs", strings.ReplaceAll(converting(tab), "example.com/v2", "example.com/v3"), 200, `"result":{"status":"Failure","message":"`},
		{"/convert/tabs", `{"kind":"ConversionReview"}`, 400, `expected a ConversionReview`},
		{"/convert/tabs?timeout=x", converting(tab), 400, `timeout`},
		{"/convert/policy", converting(tab), 404, `nothing that converts is served under \"policy\"`},
		{"/admit/policy", admission(`{}`), 200, `"allowed":true`},
		{"/admit/policy", strings.Replace(admission(`{}`), `"uid":"8"`, `"uid":"9"`, 1), 500, `expected response.uid=\"9\", got \"8\"`},
		{"/admit/policy", `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview"}`, 400, `no request.uid`},
		{"/admit/silent", admission(`{}`), 500, `"status":"Failure"`},
		{"/admit/tabs", admission(`{}`), 404, `nothing that admits`},
		{"/convert/" + strings.Repeat("x", 300), converting(tab), 404, `nothing that converts`},
	} {
		if code, reply := s.post(c.path, c.body); code != c.code || !strings.Contains(reply, c.want) {
			t.Errorf("%.40s: %d %s; want %d with %s", c.path, code, reply, c.code, c.want)
		}
	}
	if got := s.get("/metrics"); !strings.Contains(got, `wasmgate_webhook_requests_total{code="200",hook="admit",name="policy"} 1`) || strings.Contains(got, "xxxxx") {
		t.Error("the metrics do not say so")
	}
	if s.get("/readyz") != "ok" {
		t.Error("it is not ready")
	}
}

// Rules that were accepted before go on converting, and the log says what is wrong with them.
func TestRulesThatShareAnAnnotationConvert(t *testing.T) {
	shared := strings.Replace(rulesTo("address"), "[{move", "[{keep: {field: a, annotation: e.com/k}}, {keep: {field: b, annotation: e.com/k}}, {move", 1)
	s := serve(t, map[string]string{"tabs.yaml": shared}, nil)
	s.told("spec.conversions[0].rules[1].keep.annotation: Duplicate value")
	s.answers("/convert/tabs", converting(tab), `"address":"h"`)
}

func TestBodiesAreBounded(t *testing.T) {
	s := serve(t, map[string]string{"tabs.yaml": rulesTo("address")}, func(o *options.Webhooks) { o.MaxRequestBodyBytes = 1 << 20 })
	large := converting(`"` + strings.Repeat("x", 1<<20) + `"`)
	if code, reply := s.post("/convert/tabs", large); code != 413 {
		t.Errorf("%d %s", code, reply)
	}
	// Without a length, too.
	resp, err := s.client.Post(s.url+"/convert/tabs", "application/json", io.MultiReader(strings.NewReader(large), bytes.NewReader(nil)))
	if err != nil || resp.StatusCode != 413 {
		t.Errorf("%v, %v", resp, err)
	}
	if resp, err = s.client.Post(s.url+"/convert/tabs", "text/plain", strings.NewReader(converting(tab))); err != nil || resp.StatusCode != 415 {
		t.Errorf("%v, %v", resp, err)
	}
}

// A file that changes comes into force, one that is bad does not, and a file that goes
// takes what it was with it.
func TestFilesAreFollowed(t *testing.T) {
	s := serve(t, map[string]string{"tabs.yaml": rulesTo("address")}, nil)
	s.write("tabs.yaml", rulesTo("elsewhere"))
	s.told("count as they are now")
	s.answers("/convert/tabs", converting(tab), `"elsewhere":"h"`)
	s.write("tabs.yaml", strings.Replace(rulesTo("third"), "move", "mov", 1))
	s.told("cannot be used")
	if all := s.get("/metrics"); !strings.Contains(all, `wasmgate_webhook_reloads_total{result="error"} 1`) {
		t.Errorf("the bad file is not counted: %s", all)
	}
	s.answers("/convert/tabs", converting(tab), `"elsewhere":"h"`)
	s.write("other.yaml", strings.Replace(rulesTo("address"), "name: tabs", "name: others", 1))
	if err := os.Remove(filepath.Join(s.folder, "tabs.yaml")); err != nil {
		t.Fatal(err)
	}
	s.told("count as they are now")
	s.answers("/convert/others", converting(tab), `"address":"h"`)
	s.answers("/convert/tabs", converting(tab), "nothing that converts")
}

// A module that is refused keeps no other file from counting, and takes nothing from what
// served before under its name.
func TestARefusedModuleIsAlone(t *testing.T) {
	allows := func(text string) string {
		return admitting(`{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{"uid":"8","allowed":false,"status":{"message":"` + text + `"}}}`)
	}
	s := serve(t, map[string]string{"a.wasm": allows("first"), "z.wasm": allows("first")}, nil)
	s.write("z.wasm", allows("second")) // first: who looks in between sees it, too
	s.write("b.wasm", trapping())
	s.write("a.wasm", trapping())
	s.told("cannot be used")
	s.answers("/admit/a", admission(`{}`), "first")
	s.answers("/admit/b", admission(`{}`), "nothing that admits")
	s.answers("/admit/z", admission(`{}`), "second")
}

// A name stands for rules, for a module that converts, or for one that does not, whichever
// the files have last.
func TestANameStandsForOneThing(t *testing.T) {
	s := serve(t, map[string]string{"tabs.yaml": rulesTo("address"), "other.yaml": strings.Replace(rulesTo("address"), "name: tabs", "name: others", 1)}, nil)
	becomes := func(gone, name, text string) {
		t.Helper()
		if err := os.Remove(filepath.Join(s.folder, gone)); err != nil {
			t.Fatal(err)
		}
		s.write(name, text)
		s.told("count as they are now")
	}
	becomes("tabs.yaml", "tabs.wasm", string(plugintest.Echo(`{"no":"review"}`).Bytes()))
	s.answers("/convert/tabs", converting(tab), `"status":"Failure"`)
	becomes("other.yaml", "tabs.wasm", admitting("x"))
	s.answers("/convert/tabs", converting(tab), "nothing that converts")
	becomes("tabs.wasm", "tabs.yaml", rulesTo("elsewhere"))
	s.answers("/convert/tabs", converting(tab), `"elsewhere":"h"`)
}

// Calls that are under way are answered when the server is told to stop.
func TestItStopsInGoodOrder(t *testing.T) {
	s := serve(t, map[string]string{"tabs.yaml": rulesTo("address")}, func(o *options.Webhooks) { o.ShutdownDelay = 10 * time.Second })
	body, write := io.Pipe()
	answered := make(chan string, 1)
	go func() {
		resp, err := s.client.Post(s.url+"/convert/tabs", "application/json", body)
		if err != nil {
			answered <- err.Error()
			return
		}
		defer resp.Body.Close()
		data, _ := io.ReadAll(resp.Body)
		answered <- string(data)
	}()
	review := converting(tab)
	if _, err := io.WriteString(write, review[:20]); err != nil { // it has arrived
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- s.stop() }()
	s.told("ready no more")
	if said := s.get("/readyz"); said == "ok" {
		t.Error("it is ready while it stops")
	}
	if _, err := io.WriteString(write, review[20:]); err != nil {
		t.Fatal(err)
	}
	_ = write.Close()
	if got := <-answered; !strings.Contains(got, `"address":"h"`) {
		t.Errorf("a call under way got %s", got)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestFilesThatCannotBe(t *testing.T) {
	module := string(plugintest.Echo("").Bytes())
	described := "apiVersion: wasmgate.dev/v1\nkind: WasmModule\nmetadata: {name: %s}\nspec: {source: {upload: {}}%s}\n"
	inline := strings.Replace(fmt.Sprintf(described, "a", ""), "{upload: {}}", "{inline: "+base64.StdEncoding.EncodeToString([]byte(module))+"}", 1)
	for name, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"nothing":               {map[string]string{"a.yaml": "kind: Other\n"}, "neither modules"},
		"a name twice":          {map[string]string{"a.yaml": rulesTo("a"), "b.yaml": rulesTo("b")}, `"tabs" is the name of something in`},
		"no name":               {map[string]string{"A_b.wasm": module}, "is no name"},
		"no module":             {map[string]string{"a.wasm": "x"}, "a.wasm: "},
		"one that is none":      {map[string]string{"a.wasm": module, "b.wasm": module[:len(module)-1]}, "b.wasm: "},
		"no content":            {map[string]string{"a.yaml": fmt.Sprintf(described, "a", "")}, "there is no file a.wasm"},
		"grants":                {map[string]string{"a.wasm": module, "a.yaml": fmt.Sprintf(described, "a", ", grants: [{resource: configmaps, names: ['*']}]")}, "spec.grants"},
		"a module twice":        {map[string]string{"a.yaml": inline, "b.yaml": inline}, `"a" is the name of something in`},
		"no YAML":               {map[string]string{"a.yaml": "a: b: c\n"}, "a.yaml: "},
		"a list":                {map[string]string{"a.yaml": "[1]\n"}, "a.yaml: "},
		"a manifest too large":  {map[string]string{"a.yaml": "#" + strings.Repeat("x", maxManifest)}, "a.yaml: "},
		"bytes of another":      {map[string]string{"a.wasm": module, "a.yaml": strings.Replace(fmt.Sprintf(described, "a", ""), "{upload: {}}", "{upload: {digest: \"sha256:"+strings.Repeat("0", 64)+"\"}}", 1)}, "the content of "},
		"limits that cannot be": {map[string]string{"a.wasm": module, "a.yaml": fmt.Sprintf(described, "a", ", limits: {memory: x}")}, "LimitsInvalid"},
	} {
		folder := t.TempDir()
		for file, text := range c.files {
			if err := os.WriteFile(filepath.Join(folder, file), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		o := options.DefaultWebhooks()
		o.Files, o.SecurePort, o.DataDir = []string{folder}, 0, filepath.Join(t.TempDir(), "data")
		err := Run(t.Context(), o, zerolog.Nop(), func(options.WebhookStarted) { t.Errorf("%s is served", name) })
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
		if _, there := os.Stat(o.DataDir); there == nil || !errors.As(err, new(options.Mistake)) {
			t.Errorf("%s: it was not refused before anything was made: %v", name, err)
		}
	}
	o := options.DefaultWebhooks()
	o.Files, o.DataDir = []string{t.TempDir()}, filepath.Join(t.TempDir(), "data")
	o.TLSCertFile, o.TLSPrivateKeyFile = os.DevNull, os.DevNull
	if err := Run(t.Context(), o, zerolog.Nop(), nil); err == nil || !strings.HasPrefix(err.Error(), "--tls-cert-file: ") {
		t.Errorf("no certificate: %v", err)
	}
	o = options.DefaultWebhooks()
	o.Files, o.DataDir, o.Inject, o.Kubeconfig = []string{t.TempDir()}, filepath.Join(t.TempDir(), "data"), options.Annotated, os.DevNull
	if err := Run(t.Context(), o, zerolog.Nop(), nil); err == nil || !strings.HasPrefix(err.Error(), "--inject: kubeconfig") || !errors.As(err, new(options.Mistake)) {
		t.Errorf("no kubeconfig: %v", err)
	}
}
