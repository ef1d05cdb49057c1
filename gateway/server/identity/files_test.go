package identity

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/gateway/authn"
	"github.com/wasmgate/wasmgate/gateway/options"
)

// looked are the files of the options by their flags, with what is wrong with each that is
// named.
func looked(o options.Serve) (flags []string, wrong map[string]string) {
	wrong = map[string]string{}
	for _, f := range Files(o) {
		flags = append(flags, f.Flag)
		if !slices.ContainsFunc(f.Paths, func(path string) bool { return path != "" }) {
			continue
		}
		wrong[f.Flag+" "+strings.Join(f.Paths, " ")] = fmt.Sprint(f.Look())
	}
	return flags, wrong
}

// Each file that says who the gateway is and whom it believes is looked at, by its flag.
func TestFilesAreLookedAt(t *testing.T) {
	o := serve(t)
	always := []string{"tls-cert-file", "proxy-client-cert-file", "requestheader-client-ca-file", "token-auth-file", "client-ca-file"}
	if flags, wrong := looked(o); !slices.Equal(flags, always) || len(wrong) != 0 {
		t.Errorf("of the defaults %q are looked at, %v", flags, wrong)
	}
	if _, err := New(t.Context(), o, "gateway", unchanged); err != nil { // which makes an authority
		t.Fatal(err)
	}
	pki := func(name string) string { return filepath.Join(o.DataDir, "pki", name) }
	o.TLSCertFile, o.TLSPrivateKeyFile = pki("serving.crt"), pki("serving.key")
	o.TLS.Named = []string{"none.crt,none.key", o.TLSCertFile + "," + o.TLSPrivateKeyFile}
	o.Proxy.ClientCertFile, o.Proxy.ClientKeyFile = o.TLSCertFile, "none"
	o.Proxy.HeaderCAFile, o.ClientCAFile, o.TokenAuthFile = pki("ca.crt"), file(t, "none"), file(t, "a,b\n")
	flags, wrong := looked(o)
	if !slices.Equal(flags, append(always, "tls-sni-cert-key", "tls-sni-cert-key")) {
		t.Errorf("%q are looked at", flags)
	}
	for of, want := range map[string]string{
		"tls-cert-file " + o.TLSCertFile + " " + o.TLSPrivateKeyFile: "<nil>", "proxy-client-cert-file " + o.TLSCertFile + " none": "none: no such file", "requestheader-client-ca-file " + o.Proxy.HeaderCAFile: "<nil>",
		"token-auth-file " + o.TokenAuthFile: o.TokenAuthFile, "client-ca-file " + o.ClientCAFile: o.ClientCAFile,
		"tls-sni-cert-key none.crt none.key": "none.crt: no such file", "tls-sni-cert-key " + o.TLSCertFile + " " + o.TLSPrivateKeyFile: "<nil>",
	} {
		if got, is := wrong[of]; !is || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", of, got, want)
		}
	}
	o.TLS.Named = []string{"odd"} // which validation refuses
	if flags, _ := looked(o); !slices.Equal(flags, always) {
		t.Errorf("%q are looked at", flags)
	}
}

// What says whom others vouch for is looked at as one, by the flag that it begins with.
func TestFilesOfOthersAreLookedAt(t *testing.T) {
	const config = "apiVersion: apiserver.config.k8s.io/v1\nkind: AuthenticationConfiguration\n"
	anonymous := file(t, config+"anonymous: {enabled: true}\n")
	for name, c := range map[string]struct {
		change     func(a *options.Authentication)
		flag, want string
	}{
		"a file":            {func(a *options.Authentication) { a.ConfigFile = anonymous }, "authentication-config " + anonymous, "<nil>"},
		"a file and a flag": {func(a *options.Authentication) { a.ConfigFile, a.AnonymousAuthSet = anonymous, true }, "authentication-config " + anonymous, errAnonymous.Error()},
		"no file":           {func(a *options.Authentication) { a.ConfigFile = "none" }, "authentication-config none", "no such file"},
		"an issuer's authority": {func(a *options.Authentication) {
			a.OIDC = options.OIDC{IssuerURL: "https://issuer", ClientID: "c", UsernameClaim: "sub", CAFile: "none"}
		}, "oidc-issuer-url none", "--oidc-ca-file: open none"},
		"a webhook": {func(a *options.Authentication) { a.Webhook.ConfigFile = "hook" }, "oidc-issuer-url hook", "hook"},
	} {
		o := serve(t)
		c.change(&o.Authentication)
		flags, wrong := looked(o)
		if got, is := wrong[c.flag]; !is || len(flags) != 6 || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, %q", name, flags, wrong)
		}
	}
}

// What the operator gives a proxy in front of the gateway, and one behind it, to be known by.
func TestProxiesAreBelieved(t *testing.T) {
	o := serve(t)
	own, err := New(t.Context(), o, "gateway", unchanged)
	if err != nil {
		t.Fatal(err)
	}
	pki := func(name string) string { return filepath.Join(o.DataDir, "pki", name) }
	if own.Proxy() == nil || len(own.Trust()) == 0 {
		t.Error("it proves nothing to servers behind it")
	}
	o.Proxy.ClientCertFile, o.Proxy.ClientKeyFile, o.Proxy.HeaderCAFile, o.Proxy.UsernameHeaders = pki("serving.crt"), pki("serving.key"), pki("ca.crt"), []string{"X-Remote-User"}
	i, err := New(t.Context(), o, "gateway", unchanged)
	if err != nil {
		t.Fatal(err)
	}
	if union := i.Authenticator().(authn.Union); len(union) < 2 || union[0].(*authn.RequestHeader).Username[0] != "X-Remote-User" || !i.clientCA {
		t.Errorf("who is asked first is %T", union[0])
	}
	for want, change := range map[string]func(o *options.Serve){
		"--proxy-client-cert-file: ":       func(o *options.Serve) { o.Proxy.ClientKeyFile = "none" },
		"--requestheader-client-ca-file: ": func(o *options.Serve) { o.Proxy.HeaderCAFile = "none" },
	} {
		odd := o
		change(&odd)
		if i, err := New(t.Context(), odd, "gateway", unchanged); err == nil || i != nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
