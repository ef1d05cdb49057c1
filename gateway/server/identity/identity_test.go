package identity

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/tools/clientcmd"

	"github.com/wasmgate/wasmgate/gateway/authn"
	"github.com/wasmgate/wasmgate/gateway/options"
)

func serve(t *testing.T) options.Serve {
	t.Helper()
	o := options.Default()
	o.DataDir = filepath.Join(t.TempDir(), "data")
	if err := os.Mkdir(o.DataDir, 0o700); err != nil {
		t.Fatal(err)
	}
	return o
}

func file(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func unchanged(string, error) {}

// who is the user that a token belongs to, "" for nobody.
func who(t *testing.T, i *Identity, token string) (name string, groups []string) {
	t.Helper()
	user, ok, err := i.Authenticator().Authenticate(context.Background(), authn.Request{BearerToken: token})
	if !ok || err != nil {
		return "", nil
	}
	return user.Name, user.Groups
}

func TestWhoIsBelieved(t *testing.T) {
	o := serve(t)
	o.TokenAuthFile = file(t, "bobtoken,bob,1,dev\n")
	i, err := New(context.Background(), o, "gateway", unchanged)
	if err != nil {
		t.Fatal(err)
	}
	if name, groups := who(t, i, i.admin); name != "wasmgate-admin" || !slices.Contains(groups, authn.Masters) {
		t.Errorf("the administrator is %s in %v", name, groups)
	}
	if name, groups := who(t, i, "bobtoken"); name != "bob" || !slices.Contains(groups, "dev") || slices.Contains(groups, authn.Masters) {
		t.Errorf("bob is %s in %v", name, groups)
	}
	if name, _ := who(t, i, "other"); name != "" {
		t.Errorf("a stranger is %s", name)
	}
	again, err := New(context.Background(), o, "gateway", unchanged)
	if err != nil || again.admin != i.admin {
		t.Errorf("the administrator's token changed: %v", err)
	}
}

func TestTLS(t *testing.T) {
	o := serve(t)
	o.API = options.CustomAPI // without requests for certificates of clients
	i, err := New(context.Background(), o, "gateway", unchanged)
	if err != nil {
		t.Fatal(err)
	}
	c := i.TLS()
	if c.MinVersion != tls.VersionTLS12 || c.ClientAuth != tls.NoClientCert || !slices.Equal(c.NextProtos, []string{"http/1.1"}) {
		t.Errorf("%+v", c)
	}
	if cert, err := c.GetCertificate(&tls.ClientHelloInfo{}); err != nil || len(cert.Certificate) == 0 {
		t.Errorf("no certificate: %v", err)
	}
	// The gateway's own authority will do for clients, too.
	o.ClientCAFile = filepath.Join(o.DataDir, "pki", "ca.crt")
	if i, err = New(context.Background(), o, "gateway", unchanged); err != nil || i.TLS().ClientAuth != tls.RequestClientCert {
		t.Errorf("client certificates are not asked for: %v", err)
	}
	// And its certificate may come from files.
	o = serve(t)
	pki := filepath.Join(filepath.Dir(o.DataDir), "data", "pki")
	if _, err := New(context.Background(), o, "gateway", unchanged); err != nil {
		t.Fatal(err)
	}
	o.TLSCertFile, o.TLSPrivateKeyFile = filepath.Join(pki, "serving.crt"), filepath.Join(pki, "serving.key")
	if _, err := New(context.Background(), o, "gateway", unchanged); err != nil {
		t.Error(err)
	}
}

// Who asks for a name is shown the certificate for it, and others the gateway's own.
func TestCertificatesForNames(t *testing.T) {
	other := serve(t)
	if _, err := New(context.Background(), other, "other", unchanged); err != nil {
		t.Fatal(err)
	}
	o, keys := serve(t), filepath.Join(other.DataDir, "pki")
	o.TLS.Named = []string{filepath.Join(keys, "serving.crt") + "," + filepath.Join(keys, "serving.key") + ":api.example.com"}
	i, err := New(context.Background(), o, "gateway", unchanged)
	if err != nil {
		t.Fatal(err)
	}
	shown := func(name string) []byte {
		c, err := i.TLS().GetCertificate(&tls.ClientHelloInfo{ServerName: name})
		if err != nil {
			t.Fatal(err)
		}
		return c.Certificate[0]
	}
	want, err := tls.LoadX509KeyPair(filepath.Join(keys, "serving.crt"), filepath.Join(keys, "serving.key"))
	if err != nil || !slices.Equal(shown("api.example.com"), want.Certificate[0]) || slices.Equal(shown("localhost"), want.Certificate[0]) {
		t.Errorf("another certificate: %v", err)
	}
}

func TestRefusals(t *testing.T) {
	for name, c := range map[string]struct {
		change func(o *options.Serve)
		want   string
	}{
		"tokens":      {func(o *options.Serve) { o.TokenAuthFile = file(t, "a,b\n") }, "--token-auth-file: "},
		"authorities": {func(o *options.Serve) { o.ClientCAFile = file(t, "none") }, "--client-ca-file: "},
		"certificate": {func(o *options.Serve) { o.TLSCertFile, o.TLSPrivateKeyFile = "none", "none" }, "none"},
		"named":       {func(o *options.Serve) { o.TLS.Named = []string{"none,none"} }, "none"},
		"folder":      {func(o *options.Serve) { o.DataDir = file(t, "") }, "not a directory"},
	} {
		o := serve(t)
		c.change(&o)
		if i, err := New(context.Background(), o, "gateway", unchanged); err == nil || i != nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestWriteKubeconfig(t *testing.T) {
	for bind, want := range map[string]string{
		"127.0.0.1": "https://127.0.0.1:1234", "0.0.0.0": "https://127.0.0.1:1234", "::": "https://127.0.0.1:1234",
		"::1": "https://[::1]:1234", "localhost": "https://localhost:1234",
	} {
		o := serve(t)
		o.BindAddress = bind
		i, err := New(context.Background(), o, "gateway", unchanged)
		if err != nil {
			t.Fatal(err)
		}
		url := URL(o, &net.TCPAddr{Port: 1234})
		if err := i.WriteKubeconfig(o, url); err != nil || url != want {
			t.Errorf("%s: %s, %v", bind, url, err)
		}
		config, err := clientcmd.BuildConfigFromFlags("", o.KubeconfigPath())
		if err != nil || config.Host != want || config.BearerToken != i.admin || len(config.CAData) == 0 {
			t.Errorf("%s: %v, %v", bind, config, err)
		}
	}
	o := serve(t)
	i, err := New(context.Background(), o, "gateway", unchanged)
	if err != nil {
		t.Fatal(err)
	}
	o.WriteKubeconfig = file(t, "") + "/x"
	if err := i.WriteKubeconfig(o, "https://localhost"); err == nil {
		t.Error("written below a file")
	}
}

// Whose token is taken from the file, or whose authority is, is known no longer.
func TestFilesAreReadAgain(t *testing.T) {
	o := serve(t)
	o.TokenAuthFile = file(t, "bobtoken,bob,1,dev\n")
	told := make(chan string, 10)
	i, err := New(context.Background(), o, "gateway", func(flag string, err error) { told <- fmt.Sprint(flag, " ", err) })
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(o.TokenAuthFile, []byte("cattoken,cat,1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(time.Minute); ; <-tick.C {
		bob, _ := who(t, i, "bobtoken")
		cat, _ := who(t, i, "cattoken")
		if bob == "" && cat == "cat" {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("%q and %q are known", bob, cat)
		}
	}
	if got := <-told; got != "--token-auth-file <nil>" {
		t.Error(got)
	}
}

// The listener speaks what the flags leave.
func TestTLSIsAsAskedFor(t *testing.T) {
	o := serve(t)
	o.TLS = options.TLS{MinVersion: "VersionTLS13", CipherSuites: options.CipherSuites()[:1]}
	i, err := New(t.Context(), o, "gateway", unchanged)
	if err != nil {
		t.Fatal(err)
	}
	if c := i.TLS(); c.MinVersion != tls.VersionTLS13 || len(c.CipherSuites) != 1 {
		t.Errorf("%x, %v", c.MinVersion, c.CipherSuites)
	}
}
