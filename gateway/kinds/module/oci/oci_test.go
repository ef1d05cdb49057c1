package oci_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/registry/remote/auth"

	"github.com/wasmgate/wasmgate/gateway/kinds/module/oci"
	"github.com/wasmgate/wasmgate/gateway/kinds/module/oci/ocitest"
)

const (
	wasmLayer  = "application/wasm"
	otherLayer = "application/vnd.oci.image.layer.v1.tar"
)

// push puts an artifact with layers (media type, content) there, and returns the
// digest of its manifest.
func push(t *testing.T, host, tag string, layers ...[2]string) string {
	t.Helper()
	var all []ocitest.Layer
	for _, l := range layers {
		all = append(all, ocitest.Layer{MediaType: l[0], Content: []byte(l[1])})
	}
	return ocitest.Push(t, host+"/team/tabs", tag, auth.Credential{}, all...)
}

var client = oci.Client{MaxBytes: 1000}

func TestAModuleComesByTagAndByDigest(t *testing.T) {
	host := ocitest.Start(t, nil)
	for _, media := range []string{wasmLayer, "application/vnd.wasm.content.layer.v1+wasm", "application/vnd.module.wasm.content.layer.v1+wasm"} {
		digest := push(t, host, "v1", [2]string{otherLayer, "notes"}, [2]string{media, "the module in " + media})
		for _, ref := range []string{":v1", "@" + digest} {
			got, err := client.Pull(t.Context(), host+"/team/tabs"+ref, oci.Login{})
			if err != nil {
				t.Fatalf("%s %s: %v", media, ref, err)
			}
			if string(got.Module) != "the module in "+media || got.Manifest != digest {
				t.Errorf("%s %s: %q of %s, want that of %s", media, ref, got.Module, got.Manifest, digest)
			}
		}
	}
}

func TestWhatIsNoModuleIsRefused(t *testing.T) {
	host := ocitest.Start(t, nil)
	push(t, host, "none", [2]string{otherLayer, "notes"})
	push(t, host, "two", [2]string{wasmLayer, "one"}, [2]string{wasmLayer, "two"})
	push(t, host, "empty", [2]string{wasmLayer, ""})
	push(t, host, "large", [2]string{wasmLayer, strings.Repeat("x", 1001)})
	push(t, host, "largest", [2]string{wasmLayer, strings.Repeat("x", 1000)})
	for image, want := range map[string]string{
		host + "/team/tabs:none":    "NotAModule: 0 of its 1 layers are modules",
		host + "/team/tabs:two":     "NotAModule: 2 of its 2 layers are modules",
		host + "/team/tabs:empty":   "NotAModule: its module has 0 bytes",
		host + "/team/tabs:large":   "NotAModule: its module has 1001 bytes, of 1000 at most",
		host + "/team/tabs:largest": "",
		host + "/team/tabs:absent":  "ImageNotFound: ",
		host + "/team/tabs":         "ImageInvalid: ",
		host + "/team/tabs@sha256:": "ImageInvalid: ",
		host + "/TEAM/tabs:v1":      "ImageInvalid: ",
		"tabs:v1":                   "ImageInvalid: ",
		"":                          "ImageInvalid: ",
	} {
		_, err := client.Pull(t.Context(), image, oci.Login{})
		if got := fmt.Sprint(err); want == "" && err != nil || !strings.HasPrefix(got, want) {
			t.Errorf("%s: %v; want %s", image, err, want)
		}
		if err := oci.CheckName(image); (err != nil) != strings.HasPrefix(want, "ImageInvalid: ") {
			t.Errorf("%s, only looked at: %v; want %s", image, err, want)
		}
	}
}

// A registry that sends other bytes than it promised is not believed.
func TestALyingRegistryIsNotBelieved(t *testing.T) {
	const module = "the module"
	lies := map[string]func(w http.ResponseWriter, r *http.Request) bool{
		"other bytes": func(w http.ResponseWriter, r *http.Request) bool {
			return answer(w, r, "/blobs/", strings.Repeat("y", len(module)))
		},
		"fewer bytes":    func(w http.ResponseWriter, r *http.Request) bool { return answer(w, r, "/blobs/", "y") },
		"more bytes":     func(w http.ResponseWriter, r *http.Request) bool { return answer(w, r, "/blobs/", module+"y") },
		"other manifest": func(w http.ResponseWriter, r *http.Request) bool { return answer(w, r, "/manifests/", "{}") },
		"endless layer": func(w http.ResponseWriter, r *http.Request) bool {
			return strings.Contains(r.URL.Path, "/blobs/") && pour(w, r, module)
		},
		"endless manifest": func(w http.ResponseWriter, r *http.Request) bool {
			return r.Method == http.MethodGet && strings.Contains(r.URL.Path, "/manifests/") && pour(w, r, "{}")
		},
	}
	for name, lie := range lies {
		var lying atomic.Bool
		host := ocitest.Start(t, func(honest http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if !lying.Load() || !lie(w, r) {
					honest.ServeHTTP(w, r)
				}
			})
		})
		digest := push(t, host, "v1", [2]string{wasmLayer, module})
		lying.Store(true)
		got, err := client.Pull(t.Context(), host+"/team/tabs@"+digest, oci.Login{})
		if err == nil {
			t.Errorf("%s: %q was believed", name, got.Module)
		}
	}
}

// answer replies text to a GET whose path has part.
func answer(w http.ResponseWriter, r *http.Request, part, text string) bool {
	if r.Method != http.MethodGet || !strings.Contains(r.URL.Path, part) {
		return false
	}
	w.Header().Set("Content-Type", ocispec.MediaTypeImageManifest)
	_, err := w.Write([]byte(text))
	return err == nil
}

// pour replies text, and more for as long as anybody listens.
func pour(w http.ResponseWriter, r *http.Request, text string) bool {
	w.Header().Set("Content-Type", ocispec.MediaTypeImageManifest)
	for r.Context().Err() == nil {
		if _, err := w.Write([]byte(text)); err != nil {
			return true
		}
		text = strings.Repeat(" ", 1<<16)
	}
	return true
}

// What a manifest says of its layer is not believed either, and nothing else is
// fetched that it points to.
func TestALyingManifestIsNotBelieved(t *testing.T) {
	const module = "the module"
	true256 := digest.FromString(module).String()
	for layer, want := range map[string]string{
		`{"mediaType":"application/wasm","size":10,"digest":"` + true256 + `"}`:                                           "",
		`{"mediaType":"application/wasm","size":10,"digest":"` + true256 + `","urls":["http://elsewhere.example.com/x"]}`: "",
		`{"mediaType":"application/wasm","size":9,"digest":"` + true256 + `"}`:                                            "PullFailed: ",
		`{"mediaType":"application/wasm","size":11,"digest":"` + true256 + `"}`:                                           "PullFailed: ",
		`{"mediaType":"application/wasm","size":-1,"digest":"` + true256 + `"}`:                                           "NotAModule: its module has -1 bytes",
		`{"mediaType":"application/wasm","size":9223372036854775807,"digest":"` + true256 + `"}`:                          "NotAModule: its module has 9223372036854775807 bytes",
		`{"mediaType":"application/wasm","size":1e99,"digest":"` + true256 + `"}`:                                         "NotAModule: its manifest cannot be read",
		`{"mediaType":"application/wasm","size":10,"digest":"md5:d41d8cd98f00b204e9800998ecf8427e"}`:                      "PullFailed: ",
		`{"mediaType":"application/wasm","size":10,"digest":"../../manifests/v1"}`:                                        "PullFailed: ",
		`{"mediaType":"application/wasm","size":10,"digest":""}`:                                                          "PullFailed: ",
		`{"mediaType":"application/wasm","size":10}`:                                                                      "PullFailed: ",
		`null`:                           "NotAModule: ",
		`{"mediaType":"application/wasm`: "NotAModule: its manifest cannot be read",
	} {
		manifest := `{"schemaVersion":2,"layers":[` + layer + `]}`
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			text := manifest
			if strings.Contains(r.URL.Path, "/blobs/") {
				text = module
			}
			w.Header().Set("Content-Type", ocispec.MediaTypeImageManifest)
			w.Header().Set("Content-Length", strconv.Itoa(len(text)))
			if _, err := w.Write([]byte(text)); err != nil {
				t.Error(err)
			}
		}))
		got, err := client.Pull(t.Context(), strings.TrimPrefix(server.URL, "http://")+"/team/tabs:v1", oci.Login{})
		server.Close()
		if want == "" && (err != nil || string(got.Module) != module) || want != "" && !strings.HasPrefix(fmt.Sprint(err), want) {
			t.Errorf("%s: %v; want %q", layer, err, want)
		}
	}
}

// asked is a network in which a place answers to every request in the same way;
// it is whom was asked, and what credentials were shown.
type asked struct {
	answers map[string]http.Header // by scheme and host; 307 with a Location, else 401
	seen    []string
}

func (a *asked) RoundTrip(r *http.Request) (*http.Response, error) {
	place := r.URL.Scheme + "://" + r.URL.Host
	user, _, _ := r.BasicAuth()
	a.seen = append(a.seen, strings.TrimSpace(place+" "+user))
	code := http.StatusUnauthorized
	if a.answers[place].Get("Location") != "" {
		code = http.StatusTemporaryRedirect
	}
	return &http.Response{StatusCode: code, Header: a.answers[place], Body: http.NoBody, Request: r}, nil
}

// A registry is asked by HTTPS, and so is whoever it sends to; none is shown the
// credentials of the other.
func TestNothingLeavesTheMachineByHTTP(t *testing.T) {
	to := func(place string) http.Header { return http.Header{"Location": {place + "/v2/"}} }
	token := func(place string) http.Header {
		return http.Header{"Www-Authenticate": {`Bearer realm="` + place + `/token",service="s"`}}
	}
	const registry, far, near = "registry.example.com", "elsewhere.example.com", "127.0.0.1:5000"
	for _, test := range []struct {
		host    string
		answers map[string]http.Header
		want    string
	}{
		{registry, nil, "https://registry.example.com"},
		{registry, map[string]http.Header{"https://" + registry: to("https://" + far)}, "https://registry.example.com, https://elsewhere.example.com"},
		{registry, map[string]http.Header{"https://" + registry: to("http://" + registry)}, "https://registry.example.com"},
		{registry, map[string]http.Header{"https://" + registry: to("http://" + near)}, "https://registry.example.com"},
		{registry, map[string]http.Header{"https://" + registry: token("http://" + far)}, "https://registry.example.com"},
		{registry, map[string]http.Header{"https://" + registry: {"Www-Authenticate": {"Basic"}}}, "https://registry.example.com, https://registry.example.com anna"},
		{registry, map[string]http.Header{"https://" + registry: to("https://" + far), "https://" + far: {"Www-Authenticate": {"Basic"}}},
			"https://registry.example.com, https://elsewhere.example.com"},
		{near, map[string]http.Header{"http://" + near: to("http://127.0.0.1:6000")}, "http://127.0.0.1:5000"},
		{near, map[string]http.Header{"http://" + near: token("http://127.0.0.1:6000")}, "http://127.0.0.1:5000"},
		{near, map[string]http.Header{"http://" + near: to("http://" + far)}, "http://127.0.0.1:5000"},
		{near, map[string]http.Header{"http://" + near: token("http://" + far)}, "http://127.0.0.1:5000"},
		{near, map[string]http.Header{"http://" + near: to("https://" + far), "https://" + far: to("http://" + far)}, "http://127.0.0.1:5000, https://elsewhere.example.com"},
	} {
		network := &asked{answers: test.answers}
		_, err := oci.Client{MaxBytes: 1, Transport: network}.Pull(t.Context(), test.host+"/team/tabs:v1", login(t, test.host, "anna", "secret"))
		if got := strings.Join(network.seen, ", "); got != test.want || err == nil {
			t.Errorf("%s %v: asked %s (%v), want %s", test.host, test.answers, got, err, test.want)
		}
	}
}

// silent is a network that answers with the beginning of a body, slowly if it has
// to be, and then with nothing.
type silent struct {
	sends int
	every time.Duration
}

func (s silent) RoundTrip(r *http.Request) (*http.Response, error) {
	if s.sends == 0 {
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	from, to := io.Pipe()
	go func() {
		for range s.sends {
			<-time.After(s.every)
			if _, err := to.Write([]byte(" ")); err != nil {
				return
			}
		}
		<-r.Context().Done()
		_ = to.CloseWithError(r.Context().Err())
	}()
	header := http.Header{"Content-Type": {ocispec.MediaTypeImageManifest}, "Content-Length": {"1000"},
		"Docker-Content-Digest": {digest.FromString("x").String()}}
	return &http.Response{StatusCode: http.StatusOK, Header: header, ContentLength: 1000, Body: from, Request: r}, nil
}

// A registry that sends nothing is waited for for half a minute, one that sends a
// little now and then for longer.
func TestASilentRegistryIsGivenUp(t *testing.T) {
	for _, test := range []struct {
		network silent
		after   time.Duration
	}{{silent{}, 30 * time.Second}, {silent{1, 0}, 30 * time.Second}, {silent{5, 20 * time.Second}, 130 * time.Second}} {
		synctest.Test(t, func(t *testing.T) {
			begun := time.Now()
			_, err := oci.Client{MaxBytes: 1000, Transport: test.network}.Pull(t.Context(), "r.example.com/tabs:v1", oci.Login{})
			var failed *oci.Error
			if !errors.As(err, &failed) || failed.Reason != oci.RegistrySilent || failed.Reason.Final() || time.Since(begun) != test.after {
				t.Errorf("%+v: %v after %s, want %s", test.network, err, time.Since(begun), test.after)
			}
		})
	}
}

// What a registry says reaches people's terminals.
func TestTheWordsOfARegistryAreShownAndNotObeyed(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprintf(w, `{"errors":[{"code":"DENIED","message":"no\u001b[2J\nway\u202e %s"}]}`, strings.Repeat("x", 5000))
	}))
	defer server.Close()
	_, err := client.Pull(t.Context(), strings.TrimPrefix(server.URL, "http://")+"/team/tabs:v1", oci.Login{})
	var failed *oci.Error
	if !errors.As(err, &failed) || failed.Reason != oci.AccessDenied || !strings.Contains(failed.Detail, "no [2J way xxx") || len(failed.Detail) > 1100 {
		t.Errorf("%q", err)
	}
}

func login(t *testing.T, host, user, password string) oci.Login {
	t.Helper()
	l, err := oci.ReadLogin(fmt.Appendf(nil, `{"auths":{%q:{"auth":%q}}}`, host, base64.StdEncoding.EncodeToString([]byte(user+":"+password))))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestARegistryIsShownItsOwnCredentialsOnly(t *testing.T) {
	var (
		mu   sync.Mutex
		seen []string // guarded by mu
	)
	var locked atomic.Bool
	host := ocitest.Start(t, func(open http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			user, password, _ := r.BasicAuth()
			if user != "" {
				mu.Lock()
				seen = append(seen, user)
				mu.Unlock()
			}
			if locked.Load() && (user != "anna" || password != "secret") {
				w.Header().Set("WWW-Authenticate", `Basic realm="registry"`)
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			open.ServeHTTP(w, r)
		})
	})
	push(t, host, "v1", [2]string{wasmLayer, "module"})
	locked.Store(true)
	image := host + "/team/tabs:v1"
	if _, err := client.Pull(t.Context(), image, login(t, host, "anna", "secret")); err != nil {
		t.Error(err)
	}
	for name, l := range map[string]oci.Login{"none": {}, "wrong": login(t, host, "anna", "wrong"), "of another registry": login(t, "elsewhere.example.com", "bob", "x")} {
		_, err := client.Pull(t.Context(), image, l)
		var failed *oci.Error
		if !errors.As(err, &failed) || failed.Reason != oci.AccessDenied || failed.Reason.Final() {
			t.Errorf("%s: %v", name, err)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if !slices.Contains(seen, "anna") || slices.Contains(seen, "bob") {
		t.Errorf("the registry was shown the credentials of %q", seen)
	}
}

// A layer may come from elsewhere, as large registries do it.
func TestARedirectIsFollowed(t *testing.T) {
	moved := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := w.Write([]byte("module")); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(moved.Close)
	host := ocitest.Start(t, func(open http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet && strings.Contains(r.URL.Path, "/blobs/") {
				http.Redirect(w, r, moved.URL, http.StatusTemporaryRedirect)
				return
			}
			open.ServeHTTP(w, r)
		})
	})
	push(t, host, "v1", [2]string{wasmLayer, "module"})
	trusting := client
	trusting.Transport = moved.Client().Transport
	if got, err := trusting.Pull(t.Context(), host+"/team/tabs:v1", oci.Login{}); err != nil || string(got.Module) != "module" {
		t.Errorf("%v, %v", got, err)
	}
}

func TestARegistryThatDoesNotAnswer(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	gone := strings.TrimPrefix(server.URL, "http://")
	server.Close()
	_, err := client.Pull(t.Context(), gone+"/team/tabs:v1", oci.Login{})
	var failed *oci.Error
	if !errors.As(err, &failed) || failed.Reason != oci.PullFailed || failed.Reason.Final() {
		t.Errorf("gone: %v", err)
	}
	asked, over := make(chan struct{}, 8), make(chan struct{})
	host := ocitest.Start(t, func(http.Handler) http.Handler {
		return http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			asked <- struct{}{}
			select {
			case <-r.Context().Done():
			case <-over:
			}
		})
	})
	defer close(over)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-asked; cancel() }()
	begun := time.Now()
	if _, err := client.Pull(ctx, host+"/team/tabs:v1", oci.Login{}); err == nil || time.Since(begun) > time.Minute {
		t.Errorf("silent: %v after %s", err, time.Since(begun))
	}
}

// Of several credentials those are shown that are meant for the repository.
func TestTheCredentialsOfTheRepositoryAreShown(t *testing.T) {
	of := func(user string) string { return base64.StdEncoding.EncodeToString([]byte(user + ":x")) }
	for config, want := range map[string]string{
		`{"127.0.0.1:5000":{"auth":"` + of("all") + `"},"127.0.0.1:5000/team":{"auth":"` + of("team") + `"},"127.0.0.1:5000/other":{"auth":"` + of("other") + `"}}`: "team",
		`{"127.0.0.1:5000":{"auth":"` + of("all") + `"},"127.0.0.1:5000/te":{"auth":"` + of("te") + `"}}`:                                                           "all",
		`{"http://127.0.0.1:5000/v2/":{"auth":"` + of("api") + `"}}`:                                                                                                "api",
		`{"127.0.0.1:5000/team/tabs":{"auth":"` + of("tabs") + `"}}`:                                                                                                "tabs",
		`{"127.0.0.1:500":{"auth":"` + of("short") + `"}}`:                                                                                                          "",
	} {
		l, err := oci.ReadLogin([]byte(`{"auths":` + config + `}`))
		if err != nil {
			t.Fatal(err)
		}
		network := &asked{answers: map[string]http.Header{"http://127.0.0.1:5000": {"Www-Authenticate": {"Basic"}}}}
		if _, err := (oci.Client{MaxBytes: 1, Transport: network}).Pull(t.Context(), "127.0.0.1:5000/team/tabs:v1", l); err == nil {
			t.Error("it let somebody in")
		}
		_, user, _ := strings.Cut(network.seen[len(network.seen)-1], " ")
		if user != want {
			t.Errorf("%s: %q was shown, want %q", config, user, want)
		}
	}
}

func TestReadLogin(t *testing.T) {
	for config, want := range map[string]string{
		`{}`:                               "",
		`{"auths":{"https://a.b/v1/":{}}}`: "",
		`{"auths":{"a":{"auth":"?"}}}`:     `auths["a"].auth is not USER:PASSWORD in base64`,
		`{"auths":{"a":{"auth":"eA=="}}}`:  `auths["a"].auth is not USER:PASSWORD in base64`,
		`{"auths":{"a":"hunter2"}}`:        "it is not the JSON of a docker config file",
		``:                                 "it is not the JSON of a docker config file",
	} {
		_, err := oci.ReadLogin([]byte(config))
		if got := fmt.Sprint(err); want == "" && err != nil || want != "" && got != want {
			t.Errorf("%s: %v; want %q", config, err, want)
		}
	}
}

// What cosign keeps beside an image comes with it, as it is; what is no signature, or too
// much, does not.
func TestSignaturesComeWithTheImage(t *testing.T) {
	host := ocitest.Start(t, nil)
	digest := push(t, host, "v1", [2]string{wasmLayer, "the module"})
	pull := func() []oci.Signature {
		t.Helper()
		got, err := client.Pull(t.Context(), host+"/team/tabs:v1", oci.Login{})
		if err != nil || string(got.Module) != "the module" || !strings.Contains(string(got.ManifestText), "application/wasm") {
			t.Fatalf("%+v, %v", got, err)
		}
		return got.Signatures
	}
	if got := pull(); len(got) != 0 {
		t.Errorf("%q", got)
	}
	beside := func(layers ...ocitest.Layer) {
		t.Helper()
		ocitest.Push(t, host+"/team/tabs", ocitest.SignatureTag(digest), auth.Credential{}, layers...)
	}
	one, large := ocitest.Signed([]byte("payload"), []byte("signature")), ocitest.Signed([]byte(strings.Repeat("x", 1<<13)), []byte("s"))
	broken := ocitest.Signed([]byte("p"), []byte("s"))
	broken.Annotations = map[string]string{"dev.cosignproject.cosign/signature": "!"}
	beside(ocitest.Layer{MediaType: wasmLayer, Content: []byte("none")}, large, broken, one)
	if got := pull(); len(got) != 1 || string(got[0].Payload) != "payload" || string(got[0].Signature) != "signature" {
		t.Errorf("%q", got)
	}
	var many []ocitest.Layer
	for i := range 9 {
		many = append(many, ocitest.Signed([]byte(strconv.Itoa(i)), []byte("s")))
	}
	beside(many...)
	if got := pull(); len(got) != 4 {
		t.Errorf("%d came", len(got))
	}
}
