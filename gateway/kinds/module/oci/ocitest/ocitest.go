// Package ocitest owns a registry for tests, on this machine, and how artifacts
// come into it. It exists for tests only.
//
// It must not know modules, nor who pulls.
package ocitest

import (
	"encoding/base64"
	"encoding/pem"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/registry"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2"
	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/auth"
)

// Start starts a registry and returns its host and port. around, unless it is
// nil, stands before it. It ends with the test.
func Start(t testing.TB, around func(http.Handler) http.Handler) (host string) {
	t.Helper()
	return start(t, around)
}

// StartReferrers starts one that lists what refers to an artifact.
func StartReferrers(t testing.TB) (host string) {
	t.Helper()
	return start(t, nil, registry.WithReferrersSupport(true))
}

func start(t testing.TB, around func(http.Handler) http.Handler, options ...registry.Option) (host string) {
	t.Helper()
	handler := registry.New(append(options, registry.Logger(log.New(io.Discard, "", 0)))...)
	if around != nil {
		handler = around(handler)
	}
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

// Encrypt puts TLS before a registry, and returns its host and port there and, as PEM, the
// authority for it. change, unless it is nil, changes the server before it starts.
func Encrypt(t testing.TB, registry string, change func(*httptest.Server)) (host string, authority []byte) {
	t.Helper()
	server := httptest.NewUnstartedServer(httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: registry}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	if change != nil {
		change(server)
	}
	server.StartTLS()
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "https://"), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
}

// Locked lets only those in who say who they are.
func Locked(user, password string) func(http.Handler) http.Handler {
	return func(open http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if u, p, _ := r.BasicAuth(); u != user || p != password {
				w.Header().Set("WWW-Authenticate", `Basic realm="registry"`)
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			open.ServeHTTP(w, r)
		})
	}
}

// Layer is one layer of an artifact.
type Layer struct {
	MediaType string
	Content   []byte
	// Annotations are of the layer, nil for none.
	Annotations map[string]string
}

// Signed is what cosign keeps of a signature of an image: an artifact of the tag that
// SignatureTag makes has it as a layer.
func Signed(payload, signature []byte) Layer {
	return Layer{"application/vnd.dev.cosign.simplesigning.v1+json", payload, map[string]string{"dev.cosignproject.cosign/signature": base64.StdEncoding.EncodeToString(signature)}}
}

// Refer puts an artifact that consists of a bundle of Sigstore into the repository NAME
// (HOST/PATH), which refers to the artifact there whose manifest has a digest. Where the registry keeps
// no list of what refers, the tag for that has it.
func Refer(t testing.TB, name, digest string, bundle []byte) {
	t.Helper()
	const kind = "application/vnd.dev.sigstore.bundle.v0.3+json"
	repo, err := remote.NewRepository(name)
	if err != nil {
		t.Fatal(err)
	}
	repo.PlainHTTP = true
	subject, err := repo.Resolve(t.Context(), digest)
	if err != nil {
		t.Fatal(err)
	}
	layer, err := oras.PushBytes(t.Context(), repo, kind, bundle)
	if err != nil {
		t.Fatal(err)
	}
	config, err := oras.PushBytes(t.Context(), repo, kind, []byte("{}")) // by whose type this registry's list goes
	if err != nil {
		t.Fatal(err)
	}
	if _, err := oras.PackManifest(t.Context(), repo, oras.PackManifestVersion1_1, kind, oras.PackManifestOptions{Subject: &subject, ConfigDescriptor: &config, Layers: []ocispec.Descriptor{layer}}); err != nil {
		t.Fatal(err)
	}
}

// SignatureTag is that of the signatures of an image whose manifest has a digest.
func SignatureTag(digest string) string { return strings.Replace(digest, ":", "-", 1) + ".sig" }

// Push puts an artifact into the repository NAME (HOST/PATH) under a tag, by the
// credentials given, and returns the digest of its manifest.
func Push(t testing.TB, name, tag string, login auth.Credential, layers ...Layer) string {
	t.Helper()
	repo, err := remote.NewRepository(name)
	if err != nil {
		t.Fatal(err)
	}
	repo.PlainHTTP = true
	repo.Client = &auth.Client{Credential: auth.StaticCredential(repo.Reference.Host(), login)}
	var described []ocispec.Descriptor
	for _, layer := range layers {
		d, err := oras.PushBytes(t.Context(), repo, layer.MediaType, layer.Content)
		if err != nil {
			t.Fatal(err)
		}
		d.Annotations = layer.Annotations
		described = append(described, d)
	}
	d, err := oras.PackManifest(t.Context(), repo, oras.PackManifestVersion1_1, "application/vnd.wasm.config.v0+json", oras.PackManifestOptions{Layers: described})
	if err != nil {
		t.Fatal(err)
	}
	if err := repo.Tag(t.Context(), d, tag); err != nil {
		t.Fatal(err)
	}
	return d.Digest.String()
}
