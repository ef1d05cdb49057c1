package oci_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"oras.land/oras-go/v2/registry/remote/auth"

	"github.com/wasmgate/wasmgate/gateway/kinds/module/oci"
	"github.com/wasmgate/wasmgate/gateway/kinds/module/oci/ocitest"
)

// encrypted puts TLS before a registry, by an authority whose certificate it writes, and
// counts those who come.
func encrypted(t *testing.T, registry, caFile string, change ...func(*httptest.Server)) (host string, asked *atomic.Int64) {
	t.Helper()
	asked = &atomic.Int64{}
	host, authority := ocitest.Encrypt(t, registry, func(s *httptest.Server) {
		to := s.Config.Handler
		s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked.Add(1)
			to.ServeHTTP(w, r)
		})
		for _, c := range change {
			c(s)
		}
	})
	write(t, caFile, string(authority))
	return host, asked
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// said is a file of registries that is in force.
func said(t *testing.T, folder, rows string) oci.Client {
	t.Helper()
	r := &oci.Registries{}
	file := filepath.Join(folder, "registries.yaml")
	write(t, file, "apiVersion: wasmgate.dev/v1\nkind: ModuleRegistries\nregistries:\n"+rows)
	if changed, err := r.Read(file); err != nil || !changed {
		t.Fatalf("%v, %v", changed, err)
	}
	return oci.Client{MaxBytes: 1000, Registries: r}
}

func pulls(t *testing.T, c oci.Client, image, want, mirror string, login ...string) {
	t.Helper()
	var with oci.Login
	for _, l := range login {
		var err error
		if with, err = oci.ReadLogin([]byte(l)); err != nil {
			t.Fatal(err)
		}
	}
	got, err := c.Pull(t.Context(), image, with)
	if err != nil || string(got.Module) != want || got.Mirror != mirror {
		t.Errorf("%s: %+v, %v; want %q from %q", image, got, err, want, mirror)
	}
}

func fails(t *testing.T, c oci.Client, image string, want ...string) {
	t.Helper()
	_, err := c.Pull(t.Context(), image, oci.Login{})
	for _, part := range want {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%s: %v; want %q", image, err, part)
		}
	}
}

// A registry with an authority of its own is believed by that one alone, and by who has
// its certificate where it wants one; a name is one's own only to its end.
func TestRegistriesHaveAuthorities(t *testing.T) {
	folder := t.TempDir()
	plain := ocitest.Start(t, nil)
	push(t, plain, "v1", [2]string{wasmLayer, "the module"})
	host, asked := encrypted(t, plain, filepath.Join(folder, "ca.pem"))
	known := said(t, folder, "- {prefix: "+host+", caFile: ca.pem}\n")
	pulls(t, known, host+"/team/tabs:v1", "the module", "")
	if asked.Load() == 0 {
		t.Error("nobody was asked")
	}
	fails(t, known, "127.0.0.1:1/team/tabs:v1", "PullFailed: ")
	deeper := said(t, folder, "- {prefix: "+host+"/tea, caFile: ca.pem}\n")
	fails(t, deeper, host+"/team/tabs:v1", "PullFailed: ") // asked by HTTP, as there is nothing said of it
	pulls(t, said(t, folder, "- {prefix: "+host+"/tea}\n- {prefix: "+host+"/team, caFile: ca.pem}\n- {prefix: "+host+", blocked: true}\n"), host+"/team/tabs:v1", "the module", "")

	other, _ := encrypted(t, plain, filepath.Join(folder, "other.pem"), func(s *httptest.Server) {
		s.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert}
	})
	fails(t, said(t, folder, "- {prefix: "+other+", caFile: other.pem}\n"), other+"/team/tabs:v1", "PullFailed: ")
	cert, key := pair(t, folder)
	pulls(t, said(t, folder, "- {prefix: "+other+", caFile: other.pem, certFile: "+cert+", keyFile: "+key+"}\n"), other+"/team/tabs:v1", "the module", "")
}

// pair writes a certificate and its key.
func pair(t *testing.T, folder string) (cert, key string) {
	t.Helper()
	c := stranger(t)
	der, err := x509.MarshalPKCS8PrivateKey(c.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	cert, key = "client.pem", filepath.Join(folder, "client.key")
	write(t, filepath.Join(folder, cert), string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Certificate[0]})))
	write(t, key, string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})))
	return cert, key
}

// stranger has a certificate that nobody else vouches for.
func stranger(t *testing.T) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// Mirrors are asked first, in order; what one has not, or lies about, comes from the next,
// and last from the registry itself, unless that is blocked.
func TestMirrorsAreAskedFirst(t *testing.T) {
	folder := t.TempDir()
	origin, near, lying := ocitest.Start(t, nil), ocitest.Start(t, nil), ""
	image := origin + "/team/tabs"
	digest := push(t, origin, "v1", [2]string{wasmLayer, "the module"})
	ocitest.Push(t, near+"/cache/tabs", "v1", auth.Credential{}, ocitest.Layer{MediaType: wasmLayer, Content: []byte("the mirror's")})
	at := func(mirrors, more string) oci.Client {
		return said(t, folder, "- prefix: "+origin+"/team\n  mirrors: ["+mirrors+"]\n"+more)
	}
	cache := "{location: " + near + "/cache}"
	pulls(t, at(cache, ""), image+":v1", "the mirror's", near+"/cache")
	pulls(t, at(cache, ""), image+"@"+digest, "the module", "") // which the mirror has not
	pulls(t, at("{location: "+near+"/cache, digestOnly: true}", ""), image+":v1", "the module", "")
	pulls(t, at("{location: '127.0.0.1:1/cache'}, "+cache, ""), image+":v1", "the mirror's", near+"/cache")
	fails(t, at("{location: '127.0.0.1:1/cache'}, {location: "+near+"/none}", "  blocked: true\n"), image+":v1", "ImageNotFound: 127.0.0.1:1: PullFailed: ", "; "+near+": ImageNotFound: ")
	fails(t, at("{location: "+near+"/cache, digestOnly: true}", "  blocked: true\n"), image+":v1", "RegistryBlocked: "+origin+"/team is blocked by the file of --module-registries-file")
	fails(t, at(cache, ""), image+":none", "ImageNotFound: "+near+": ImageNotFound: ", "; "+origin+": ImageNotFound: ")

	lying = ocitest.Start(t, func(honest http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !answer(w, r, "/blobs/", "not module") {
				honest.ServeHTTP(w, r)
			}
		})
	})
	push(t, lying, "v1", [2]string{wasmLayer, "the module"})
	pulls(t, at("{location: "+lying+"/team}", ""), image+"@"+digest, "the module", "")
}

// A mirror is shown the credentials that are its own, and no others.
func TestMirrorsHaveTheirOwnCredentials(t *testing.T) {
	folder := t.TempDir()
	origin := ocitest.Start(t, nil)
	push(t, origin, "v1", [2]string{wasmLayer, "the module"})
	var shown atomic.Value
	near := ocitest.Start(t, func(open http.Handler) http.Handler {
		locked := ocitest.Locked("near", "secret")(open)
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if user, _, ok := r.BasicAuth(); ok {
				shown.Store(user)
			}
			locked.ServeHTTP(w, r)
		})
	})
	ocitest.Push(t, near+"/team/tabs", "v1", auth.Credential{Username: "near", Password: "secret"}, ocitest.Layer{MediaType: wasmLayer, Content: []byte("the mirror's")})
	shown.Store("")
	c := said(t, folder, "- {prefix: "+origin+", mirrors: [{location: "+near+"}]}\n")
	pulls(t, c, origin+"/team/tabs:v1", "the module", "", `{"auths":{"`+origin+`":{"username":"origin","password":"secret"}}}`)
	if got := shown.Load(); got != "" {
		t.Errorf("the mirror was shown the credentials of %v", got)
	}
	pulls(t, c, origin+"/team/tabs:v1", "the mirror's", near, `{"auths":{"`+near+`":{"username":"near","password":"secret"}}}`)
}

func TestFilesOfRegistriesAreRefused(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "registries.yaml")
	write(t, filepath.Join(folder, "no.pem"), "nothing")
	const head = "apiVersion: wasmgate.dev/v1\nkind: ModuleRegistries\n"
	for text, want := range map[string]string{
		"kind: ModuleRegistries":                                                             "it is no ModuleRegistries of wasmgate.dev/v1",
		head + "registry: []":                                                                `unknown field "registry"`,
		head + "registries: [{}]":                                                            `registries[0].prefix: "" is not HOST, HOST:PORT or HOST/PATH`,
		head + "registries: [{prefix: 'a.example/x:v1'}]":                                    `registries[0].prefix: "a.example/x:v1" is not HOST`,
		head + "registries: [{prefix: a.example}, {prefix: a.example}]":                      `registries[1].prefix: "a.example" is there twice`,
		head + "registries: [{prefix: a.example, caFile: none.pem}]":                         "registries[0].caFile: open ",
		head + "registries: [{prefix: a.example, caFile: no.pem}]":                           "registries[0].caFile: no.pem has no certificate as PEM",
		head + "registries: [{prefix: a.example, certFile: no.pem}]":                         "registries[0].certFile: has to be set together with keyFile",
		head + "registries: [{prefix: a.example, certFile: no.pem, keyFile: no.pem}]":        "registries[0].certFile: no.pem with no.pem: ",
		head + "registries: [{prefix: a.example, mirrors: [{location: 'https://b'}]}]":       `registries[0].mirrors[0].location: "https://b" is not HOST`,
		head + "registries: [{prefix: a.example, mirrors: [{location: b, keyFile: k.pem}]}]": "registries[0].mirrors[0].certFile: has to be",
	} {
		write(t, file, text)
		r := &oci.Registries{}
		if changed, err := r.Read(file); err == nil || changed || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\n%v, want %s", text, err, want)
		}
	}
}

// A file counts as it is now, with the authorities that it names; one that cannot be used
// is told once, and what it said before still counts.
func TestRegistriesAreFollowed(t *testing.T) {
	folder := t.TempDir()
	plain := ocitest.Start(t, nil)
	push(t, plain, "v1", [2]string{wasmLayer, "the module"})
	host, _ := encrypted(t, plain, filepath.Join(folder, "right.pem"))
	cert := filepath.Join(folder, "ca.pem")
	encrypted(t, plain, cert, func(s *httptest.Server) { s.TLS = &tls.Config{Certificates: []tls.Certificate{stranger(t)}} })
	c := said(t, folder, "- {prefix: "+host+", caFile: ca.pem}\n")
	fails(t, c, host+"/team/tabs:v1", "PullFailed: ")
	ctx, stop := context.WithCancel(t.Context())
	told, ended := make(chan string, 10), make(chan struct{})
	go func() {
		defer close(ended)
		c.Registries.Follow(ctx, filepath.Join(folder, "registries.yaml"), func(err error) { told <- fmt.Sprint(err) })
	}()
	next := func(want string) {
		t.Helper()
		select {
		case got := <-told:
			if !strings.Contains(got, want) {
				t.Errorf("told %q, want %q", got, want)
			}
		case <-time.After(time.Minute):
			t.Fatalf("never told %q", want)
		}
	}
	right, err := os.ReadFile(filepath.Join(folder, "right.pem"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, cert, "")
	next("caFile: ca.pem has no certificate as PEM")
	fails(t, c, host+"/team/tabs:v1", "PullFailed: ")
	if err := os.WriteFile(cert+".new", right, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(cert+".new", cert); err != nil {
		t.Fatal(err)
	}
	next("<nil>")
	pulls(t, c, host+"/team/tabs:v1", "the module", "")
	stop()
	<-ended
}

// However the name of a registry is spelled, what is said of it holds: the same one would
// be asked.
func TestNoSpellingIsSomebodyElse(t *testing.T) {
	c := said(t, t.TempDir(), "- {prefix: Blocked.example.com, blocked: true}\n- {prefix: 'ported.example.com:5000/team', blocked: true}\n- {prefix: docker.io, blocked: true}\n")
	for image, blocked := range map[string]bool{
		"blocked.example.com/a:v1": true, "BLOCKED.example.COM/a:v1": true, "blocked.example.com./a:v1": true, "blocked.example.com:443/a:v1": true,
		"blocked.example.com.:443/a:v1": true, "ported.example.com.:5000/team/a:v1": true, "Ported.example.com:5000/team/a:v1": true,
		"index.docker.io/library/a:v1": true, "registry-1.docker.io/library/a:v1": true,
		"ported.example.com/team/a:v1": false, "blocked.example.com:444/a:v1": false,
	} {
		ctx, cancel := context.WithCancel(t.Context())
		cancel() // nobody is to be asked
		_, err := c.Pull(ctx, image, oci.Login{})
		if got := err != nil && strings.Contains(err.Error(), "RegistryBlocked: "); got != blocked {
			t.Errorf("%s: %v", image, err)
		}
	}
}
