package options

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Every setting that is wrong is named by its flag, and no other.
func TestWebhooksAreValidated(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Webhooks)
		want   string
	}{
		"as it is":          {func(*Webhooks) {}, ""},
		"no files":          {func(w *Webhooks) { w.Files = nil }, "a file or folder with modules or ConversionRules is needed"},
		"no address":        {func(w *Webhooks) { w.BindAddress = "x" }, `--bind-address is no IP address: "x"`},
		"any port":          {func(w *Webhooks) { w.SecurePort = 0 }, ""},
		"the last port":     {func(w *Webhooks) { w.SecurePort = 65535 }, ""},
		"no port":           {func(w *Webhooks) { w.SecurePort = 65536 }, "--secure-port must be between 0 and 65535"},
		"a negative port":   {func(w *Webhooks) { w.SecurePort = -1 }, "--secure-port must be between 0 and 65535"},
		"hosts":             {func(w *Webhooks) { w.Hosts = []string{"10.0.0.1", "::1", "a.example.com"} }, ""},
		"no host":           {func(w *Webhooks) { w.Hosts = []string{"a", "A_b"} }, `--host is neither an address nor the name of a host: "A_b"`},
		"both files":        {func(w *Webhooks) { w.TLSCertFile, w.TLSPrivateKeyFile, w.TLSCAFile = "a", "b", "c" }, ""},
		"a certificate":     {func(w *Webhooks) { w.TLSCertFile = "a" }, "--tls-cert-file goes with --tls-private-key-file: set both or none"},
		"a key":             {func(w *Webhooks) { w.TLSPrivateKeyFile = "a" }, "--tls-cert-file goes with --tls-private-key-file: set both or none"},
		"an authority":      {func(w *Webhooks) { w.TLSCAFile = "a" }, "--tls-ca-file goes with --tls-cert-file"},
		"annotated":         {func(w *Webhooks) { w.Inject = Annotated }, ""},
		"selected":          {func(w *Webhooks) { w.Inject = "a in (b, c)" }, ""},
		"no selector":       {func(w *Webhooks) { w.Inject = "a in (" }, `--inject is neither "annotated" nor a selector of labels: `},
		"the smallest body": {func(w *Webhooks) { w.MaxRequestBodyBytes = 1 << 20 }, ""},
		"too small a body":  {func(w *Webhooks) { w.MaxRequestBodyBytes = 1<<20 - 1 }, "--max-request-body must be at least 1048576"},
		"nothing": {func(w *Webhooks) {
			w.ModuleIdleMemory, w.ModuleCompileMemory, w.ModuleCompileTime, w.ShutdownDelay = 0, 0, 0, 0
		}, ""},
		"less than nothing":      {func(w *Webhooks) { w.ModuleCompileTime = -1 }, "--module-compile-time must not be negative"},
		"a delay before it came": {func(w *Webhooks) { w.ShutdownDelay = -1 }, "--shutdown-delay-duration must not be negative"},
	} {
		w := DefaultWebhooks()
		w.Files = []string{"x.wasm"}
		c.change(&w)
		err := w.Validate()
		if (err == nil) != (c.want == "") || err != nil && (!strings.HasPrefix(err.Error(), c.want) || strings.Contains(err.Error(), "\n")) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The folder of a certificate is where it is taken from, unless it is given otherwise, and where
// data is, unless that is.
func TestUseCertDir(t *testing.T) {
	for name, c := range map[string]struct {
		files     []string
		given     Serve
		dataDir   bool
		cert, err string
		data      string // below the folder
	}{
		"both":         {[]string{"apiserver.crt", "apiserver.key"}, Serve{}, false, "apiserver.crt", "", "wasmgate-data"},
		"none":         {nil, Serve{}, false, "", "", "wasmgate-data"},
		"given data":   {nil, Serve{DataDir: "d"}, true, "", "", "d"},
		"no key":       {[]string{"apiserver.crt"}, Serve{}, false, "", "one is missing", ""},
		"no cert":      {[]string{"apiserver.key"}, Serve{}, false, "", "one is missing", ""},
		"given a key":  {[]string{"apiserver.crt"}, Serve{TLSPrivateKeyFile: "k"}, false, "", "", "wasmgate-data"},
		"given a cert": {[]string{"apiserver.crt"}, Serve{TLSCertFile: "c"}, false, "c", "", "wasmgate-data"},
	} {
		dir := t.TempDir()
		for _, f := range c.files {
			if err := os.WriteFile(filepath.Join(dir, f), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		s := c.given
		s.CertDir = dir
		err := s.UseCertDir(c.dataDir)
		if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil && (strings.TrimPrefix(s.TLSCertFile, dir+"/") != c.cert || strings.TrimPrefix(s.DataDir, dir+"/") != c.data) {
			t.Errorf("%s: %s, %s", name, s.TLSCertFile, s.DataDir)
		}
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := (&Serve{CertDir: file}).UseCertDir(false); err == nil || !strings.HasPrefix(err.Error(), "--cert-dir: ") {
		t.Errorf("a file as folder: %v", err)
	}
	s := Serve{DataDir: "d"}
	if err := s.UseCertDir(false); err != nil || s.DataDir != "d" {
		t.Errorf("without a folder: %v, %s", err, s.DataDir)
	}
}

// Nobody is let in without credentials where everything is allowed to everybody.
func TestAllowsAnonymous(t *testing.T) {
	for _, c := range []struct {
		set   bool
		modes []string
		want  bool
	}{{true, []string{RBAC}, true}, {false, []string{RBAC}, false}, {true, []string{RBAC, AlwaysAllow}, false}, {false, []string{AlwaysAllow}, false}} {
		if got := (Serve{AnonymousAuth: c.set, AuthorizationModes: c.modes}).AllowsAnonymous(); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// A plugin is named once, where it is by default.
func TestPluginsAreNamedOnce(t *testing.T) {
	on, off, found := strings.Cut(Plugins(), " (on by default), ")
	names := append(strings.Split(on, ", "), strings.Split(off, ", ")...)
	slices.Sort(names)
	if !found || len(slices.Compact(slices.Clone(names))) != len(names) || !strings.Contains(on, "LimitRanger") || !strings.Contains(off, "NamespaceAutoProvision") {
		t.Error(Plugins())
	}
}

// A setting that is none does not keep those after it from counting.
func TestGatesAfterOneThatIsNone(t *testing.T) {
	gates := (Serve{}).Gates()
	i := slices.IndexFunc(gates, func(g Gate) bool { return !g.On })
	if i < 0 {
		t.Skip("every gate is on")
	}
	for _, g := range (Serve{FeatureGates: []string{"Odd=x", gates[i].Name + "=true"}}).Gates() {
		if g.Name == gates[i].Name && !g.On {
			t.Errorf("%s is off", g.Name)
		}
	}
}
