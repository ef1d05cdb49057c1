package hooks

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/wasmgate/wasmgate/gateway/options"
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
		"data below a file":                 {func(o *options.Webhooks) { o.DataDir = filepath.Join(file, "data") }, "not a directory"},
	} {
		o := options.DefaultWebhooks()
		o.Files, o.SecurePort, o.DataDir = []string{file}, 0, filepath.Join(t.TempDir(), "data")
		c.change(&o)
		err := Run(t.Context(), o, zerolog.Nop(), func(options.WebhookStarted) { t.Errorf("%s: it is served", name) })
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if looks := sight([]string{link}); !strings.Contains(looks, fs.ErrNotExist.Error()) && !strings.Contains(looks, "no such file") {
		t.Errorf("it looks like %q", looks)
	}
}
