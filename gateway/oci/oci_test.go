package oci_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/registry/remote/auth"

	"github.com/wasmgate/wasmgate/gateway/oci"
	"github.com/wasmgate/wasmgate/gateway/oci/ocitest"
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
	moved := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
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
	if got, err := client.Pull(t.Context(), host+"/team/tabs:v1", oci.Login{}); err != nil || string(got.Module) != "module" {
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
