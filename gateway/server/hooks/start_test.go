package hooks

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"github.com/wasmgate/wasmgate/gateway/metrics"
	"github.com/wasmgate/wasmgate/gateway/options"
	"github.com/wasmgate/wasmgate/gateway/pki"
	"github.com/wasmgate/wasmgate/plugins/plugintest"
)

// Files may be named one by one; what is hidden in a folder, and its folders, are not read.
func TestFilesThatAreNamed(t *testing.T) {
	const allows = `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{"uid":"8","allowed":true}}`
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a.wasm": admitting(allows), "b.wasm": admitting(allows), "c.txt": "text", "in/rules.yaml": rulesTo("address"), "in/.hidden.yaml": "a: b: c",
		"in/notes.txt": "a: b: c", "in/sub.yaml/x": "a: b: c",
	} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700), os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	s := serve(t, nil, func(o *options.Webhooks) {
		o.Files = []string{filepath.Join(dir, "a.wasm"), filepath.Join(dir, "b.wasm"), filepath.Join(dir, "in")}
	})
	s.answers("/admit/a", admission(`{}`), `"allowed":true`)
	s.answers("/admit/b", admission(`{}`), `"allowed":true`)
	s.answers("/convert/tabs", converting(tab), `"address":"h"`)
}

// What keeps it from starting is told, each thing by the flag, and nothing is served.
func TestWhatKeepsItFromStarting(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tabs.yaml")
	if err := os.WriteFile(file, []byte(rulesTo("address")), 0o600); err != nil {
		t.Fatal(err)
	}
	gone := filepath.Join(t.TempDir(), "gone.yaml")
	stuck := filepath.Join(t.TempDir(), "a.wasm")
	if err := os.WriteFile(stuck, []byte(trapping()), 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := errors.Join(os.Mkdir(link, 0o700), os.Symlink(gone, filepath.Join(link, "a.yaml"))); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		change func(o *options.Webhooks)
		want   string
	}{
		"a port that is none":               {func(o *options.Webhooks) { o.SecurePort = -1 }, "--secure-port"},
		"an address of others":              {func(o *options.Webhooks) { o.BindAddress = "192.0.2.1" }, "--bind-address, --secure-port: "},
		"no file":                           {func(o *options.Webhooks) { o.Files = []string{gone} }, gone},
		"a file that refers to nothing":     {func(o *options.Webhooks) { o.Files = []string{link} }, "a.yaml: "},
		"authorities without a certificate": {func(o *options.Webhooks) { o.TLSCAFile = gone }, "--tls-ca-file goes with --tls-cert-file"},
		"authorities that are not there": {func(o *options.Webhooks) {
			o.TLSCertFile, o.TLSPrivateKeyFile = certificate(t)
			o.TLSCAFile = gone
		}, "--tls-ca-file: "},
		"authorities that are no certificates": {func(o *options.Webhooks) {
			o.TLSCertFile, o.TLSPrivateKeyFile = certificate(t)
			o.TLSCAFile = o.TLSPrivateKeyFile
		}, "serving.key has no certificate in PEM form"},
		"a module that does not start": {func(o *options.Webhooks) { o.Files = []string{stuck} }, "a.wasm: "},
		"more files than are read":     {func(o *options.Webhooks) { o.Files = slices.Repeat([]string{file}, maxFiles+1) }, "there are 1001 files, more than 1000"},
		"data below a file":            {func(o *options.Webhooks) { o.DataDir = filepath.Join(file, "data") }, "not a directory"},
	} {
		o := options.DefaultWebhooks()
		o.Files, o.SecurePort, o.DataDir = []string{file}, 0, filepath.Join(t.TempDir(), "data")
		c.change(&o)
		err := Run(t.Context(), o, zerolog.Nop(), func(options.WebhookStarted) { t.Errorf("%s: it is served", name) })
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.HasPrefix(name, "authorities that") && !errors.As(err, new(options.Mistake)) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if looks := sight([]string{link}); !strings.Contains(looks, fs.ErrNotExist.Error()) && !strings.Contains(looks, "no such file") {
		t.Errorf("it looks like %q", looks)
	}
	if all, err := list(slices.Repeat([]string{file}, maxFiles)); err != nil || len(all) != maxFiles {
		t.Errorf("as many as are read: %d, %v", len(all), err)
	}
	if looks := sight([]string{gone}); !strings.Contains(looks, "no such file") {
		t.Errorf("what is gone looks like %q", looks)
	}
}

// A file of authorities that has a key, too, is not published with it.
func TestAuthoritiesHaveNoKey(t *testing.T) {
	cert, key := certificate(t)
	var text []byte
	for _, file := range []string{key, cert} {
		part, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		text = append(text, part...)
	}
	both := filepath.Join(t.TempDir(), "both.pem")
	if err := os.WriteFile(both, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := authorities(both); err != nil || strings.Contains(string(got), "PRIVATE") || !strings.Contains(string(got), "BEGIN CERTIFICATE") {
		t.Errorf("%.60s, %v", got, err)
	}
}

// trapping is a module whose fault is seen only once it runs.
func trapping() string {
	return string(plugintest.Echo("").With("_initialize", plugintest.Func{Code: plugintest.Trap}).Bytes())
}

// certificate makes a certificate of 127.0.0.1, and its key, in a folder with that of their
// authority.
func certificate(t *testing.T) (cert, key string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "pki")
	if _, err := pki.SelfSigned(dir, []string{"127.0.0.1"}, nil); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "serving.crt"), filepath.Join(dir, "serving.key")
}

// A certificate of others is served, and whose it is, is told as the file has it.
func TestACertificateOfOthers(t *testing.T) {
	cert, key := certificate(t)
	s := serve(t, map[string]string{"tabs.yaml": rulesTo("address")}, func(o *options.Webhooks) {
		o.TLSCertFile, o.TLSPrivateKeyFile, o.TLSCAFile = cert, key, filepath.Join(filepath.Dir(cert), "ca.crt")
	})
	s.answers("/convert/tabs", converting(tab), `"address":"h"`)
}

// Others reach it under the first name that it is given, or else where it listens.
func TestUnderWhichNameItIsReached(t *testing.T) {
	for _, c := range []struct {
		address string
		hosts   []string
		want    string
	}{
		{"0.0.0.0", nil, "127.0.0.1"}, {"::", nil, "127.0.0.1"}, {"192.0.2.1", nil, "192.0.2.1"},
		{"0.0.0.0", []string{"a.example", "b.example"}, "a.example"}, {"192.0.2.1", []string{"a.example"}, "a.example"},
	} {
		w := webhooks{options: options.Webhooks{BindAddress: c.address, Hosts: c.hosts}}
		if got := w.host(); got != c.want {
			t.Errorf("%s, %q: %s", c.address, c.hosts, got)
		}
	}
}

// What anybody can bring about by connecting is told to who looks closely, without the end of
// the line.
func TestTheServersOwnLog(t *testing.T) {
	var lines strings.Builder
	d := debug{zerolog.New(&lines)}
	for _, text := range []string{"TLS handshake error\n", ""} {
		if n, err := d.Write([]byte(text)); n != len(text) || err != nil {
			t.Errorf("%q: %d, %v", text, n, err)
		}
	}
	if want := `{"level":"debug","message":"TLS handshake error"}`; !strings.HasPrefix(lines.String(), want+"\n") {
		t.Errorf("%s", lines.String())
	}
}

// told counts what a log is told. It is locked because who is woken by the clock has, for the
// race detector, seen nothing of the test.
type told struct {
	mu    sync.Mutex
	lines int
}

func (l *told) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines++
	return len(line), nil
}

// taken is how many lines have come since it was last asked.
func (l *told) taken() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer func() { l.lines = 0 }()
	return l.lines
}

// Files count once they look the same twice in a row, and are not read again while they stay
// as they are; one that still changes is not read.
func TestFilesAreReadOnceTheyAreWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "tabs.yaml")
		write := func(text string) {
			t.Helper()
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		var lines told
		write(rulesTo("address"))
		m := metrics.New()
		w, err := metrics.NewWebhooks(m, func() float64 { return 0 })
		if err != nil {
			t.Fatal(err)
		}
		s := newServed([]string{file}, modules{}, w, m, zerolog.New(&lines))
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { defer close(ended); s.follow(ctx, sight(s.paths)) }()
		looked := func(n int) int {
			for range n {
				<-time.After(lookEvery)
				synctest.Wait()
			}
			return lines.taken()
		}
		if n := looked(4); n != 0 {
			t.Errorf("files that stay are told of %d times", n)
		}
		for i := range 4 { // of other sizes, as times may be the same
			write("a: b: c" + strings.Repeat("#", i+1))
			if n := looked(1); n != 0 {
				t.Errorf("at look %d a file that changes is read", i)
			}
		}
		if n := looked(1); n != 1 {
			t.Errorf("a file that cannot be used is told of %d times", n)
		}
		if n := looked(4); n != 0 {
			t.Errorf("it is told of %d times more", n)
		}
		stop()
		<-ended
	})
}
