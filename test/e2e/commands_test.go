package e2e

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/wasmgate/wasmgate/plugins/plugintest"
	"github.com/wasmgate/wasmgate/storage/blob"
	"github.com/wasmgate/wasmgate/test/harness"
)

// printed is what a command printed, as JSON or YAML.
func printed(t *testing.T, out string) (v object) {
	t.Helper()
	if err := yaml.UnmarshalStrict([]byte(out), &v); err != nil {
		t.Fatalf("%v in\n%s", err, out)
	}
	return v
}

// TestCommandsPrintForPrograms: every command that prints a table or a result prints
// it as JSON, as YAML and by name, too, and nothing else with it.
func TestCommandsPrintForPrograms(t *testing.T) {
	t.Parallel()
	harness.SkipExternal(t)
	g := harness.Start(t, harness.Options{})
	both := converter(t, `return nil`)
	content, err := os.ReadFile(both)
	if err != nil {
		t.Fatal(err)
	}
	digest := blob.Digest(content)
	pushed := printed(t, g.CLI(t, "module", "push", "tabs", both, "-o", "json"))
	if pushed.Str("kind") != "WasmModule" || pushed.Str("status.digest") != digest || pushed.Str("metadata.managedFields") != "" {
		t.Errorf("push printed %v", pushed)
	}
	if got := g.CLI(t, "module", "push", "tabs", both, "-o", "name", "--wait=false"); got != "wasmmodule.wasmgate.dev/tabs\n" {
		t.Errorf("push -o name printed %q", got)
	}
	for _, format := range []string{"json", "yaml"} {
		listed := g.CLI(t, "module", "list", "-o", format)
		if list := printed(t, listed); list.Str("kind") != "WasmModuleList" || list.Str("items.0.metadata.name") != "tabs" || list.Str("items.0.status.digest") != digest {
			t.Errorf("list -o %s printed %s", format, listed)
		}
		if json.Valid([]byte(listed)) != (format == "json") {
			t.Errorf("list -o %s is no %s:\n%s", format, format, listed)
		}
		var history []struct {
			Digest string
			Size   int
			Serves bool
		}
		if err := yaml.Unmarshal([]byte(g.CLI(t, "module", "history", "tabs", "-o", format)), &history); err != nil || len(history) != 1 || history[0].Digest != digest || history[0].Size != len(content) || !history[0].Serves {
			t.Errorf("history -o %s: %v, %v", format, history, err)
		}
		out, err := run(t, g, "version", "-o", format)
		if v := printed(t, out); err != nil || v.Str("version") == "" || v.Str("goVersion") == "" {
			t.Errorf("version -o %s: %v, %v", format, v, err)
		}
	}
	if got := g.CLI(t, "module", "list", "-o", "name"); got != "wasmmodule.wasmgate.dev/tabs\n" {
		t.Errorf("list -o name printed %q", got)
	}
	mustContain(t, g.CLI(t, "module", "list", "-o", "wide"), digest, "upload", "CANDIDATE")
	if out, err := g.TryCLI(t, "module", "list", "-o", "xml"); err == nil || !strings.Contains(out, "json, yaml, name, wide") {
		t.Errorf("an unknown format: %v\n%s", err, out)
	}

	rollsBackAndPromotes(t, g, digest)
	tabs := newCronTabs(t, &g.Server, nil)
	crd := "crontabs." + tabs.group
	out, err := exec.CommandContext(t.Context(), g.Binary, "migrate", crd, "-o", "json", "--kubeconfig", g.Kubeconfig).Output() // progress is not in it
	if err != nil {
		t.Fatal(err)
	}
	if done := printed(t, string(out)); done.Str("kind") != "StorageVersionMigration" || !strings.HasPrefix(done.Str("metadata.name"), crd) {
		t.Errorf("migrate printed %v", done)
	}
	if out := g.CLI(t, "migrate", crd, "-o", "name", "--no-wait"); !strings.HasPrefix(out, "storageversionmigration.storagemigration.k8s.io/"+crd) {
		t.Errorf("migrate -o name printed %s", out)
	}
	var orders []object
	if err := yaml.Unmarshal([]byte(g.CLI(t, "version-priority", "preview", "--module", "tabs", tabs.group, "-o", "json")), &orders); err != nil || len(orders) != 1 || orders[0].Str("request.group") != tabs.group {
		t.Errorf("preview printed %v, %v", orders, err)
	}
}

// rollsBackAndPromotes shows what commands print that choose another revision.
func rollsBackAndPromotes(t *testing.T, g *harness.Gateway, digest string) {
	t.Helper()
	other := filepath.Join(t.TempDir(), "other.wasm")
	if err := os.WriteFile(other, plugintest.Build(t, plugintest.Releases), 0o600); err != nil {
		t.Fatal(err)
	}
	g.CLI(t, "module", "push", "tabs", other)
	if back := printed(t, g.CLI(t, "module", "rollback", "tabs", "-o", "yaml")); back.Str("status.digest") != digest {
		t.Errorf("rollback printed %v", back)
	}
	api := g.API(t)
	api.Merge(modulePath+"/tabs", object{"spec": object{"rollout": "Shadow"}}).Want(200)
	g.CLI(t, "module", "push", "tabs", other)
	if dry := printed(t, g.CLI(t, "module", "promote", "tabs", "--dry-run", "-o", "json")); dry.Str("status.candidate.digest") == "" || dry.Str("status.candidate.report.state") == "" {
		t.Errorf("promote --dry-run printed %v", dry)
	}
	if done := printed(t, g.CLI(t, "module", "promote", "tabs", "--force", "-o", "json")); done.Str("status.digest") == digest || done.Str("status.digest") == "" {
		t.Errorf("promote printed %v", done)
	}
}

// run runs the program by itself in an empty folder, and returns what it prints.
func run(t *testing.T, g *harness.Gateway, args ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), g.Binary, args...)
	cmd.Dir = t.TempDir()
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// TestModulesAreDownloadedAndDeleted: what was uploaded comes back as it is, whichever
// revision is asked for, and a module is deleted unless something refers to it.
func TestModulesAreDownloadedAndDeleted(t *testing.T) {
	t.Parallel()
	harness.SkipExternal(t)
	g := harness.Start(t, harness.Options{})
	api, dir := g.API(t), t.TempDir()
	first := plugintest.Build(t, plugintest.Releases)
	second, err := os.ReadFile(converter(t, `return nil`))
	if err != nil {
		t.Fatal(err)
	}
	if out, err := g.TryCLI(t, "module", "get", "life"); err == nil || !strings.Contains(out, `there is no module "life"`) {
		t.Errorf("a module that does not exist: %v\n%s", err, out)
	}
	api.Post(modulePath, object{"apiVersion": "wasmgate.dev/v1", "kind": "WasmModule", "metadata": object{"name": "life"}, "spec": object{"source": object{"upload": object{}}}}).Want(201)
	if out, err := g.TryCLI(t, "module", "get", "life"); err == nil || !strings.Contains(out, "it has no content yet") {
		t.Errorf("before the upload: %v\n%s", err, out)
	}
	api.Get(modulePath+"/life/content").WantStatus(404, "NotFound", "upload it with")
	file := filepath.Join(dir, "got.wasm")
	for _, content := range [][]byte{first, second} {
		if err := os.WriteFile(file, content, 0o600); err != nil {
			t.Fatal(err)
		}
		g.CLI(t, "module", "push", "life", file)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	mustContain(t, g.CLI(t, "module", "get", "life", file), "written to "+file, blob.Digest(second))
	if got, err := os.ReadFile(file); err != nil || !bytes.Equal(got, second) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if names, err := filepath.Glob(filepath.Join(dir, ".*")); err != nil || len(names) > 0 {
		t.Errorf("left behind: %v, %v", names, err)
	}
	if out := g.CLI(t, "module", "get", "life", "--digest", strings.TrimPrefix(blob.Digest(first), "sha256:")[:10]); out != string(first) {
		t.Errorf("%d bytes of the first, want %d", len(out), len(first))
	}
	downloadsOverHTTP(t, g, api, second)

	tabs := newCronTabs(t, &g.Server, func(crd object) { crd.Set("spec.conversion", wasmConversion("life")) })
	if out, err := g.TryCLI(t, "module", "delete", "life"); err == nil || !strings.Contains(out, tabs.group) {
		t.Errorf("a module in use: %v\n%s", err, out)
	}
	api.Delete(tabs.crdPath()).Want(200)
	api.Eventually(tabs.crdPath(), func(r *harness.Reply) bool { return r.Code == 404 })
	if out := g.CLI(t, "module", "delete", "life", "--dry-run"); out != "wasmmodule/life can be deleted (dry run)\n" {
		t.Errorf("%q", out)
	}
	api.Get(modulePath + "/life").Want(200)
	if out := g.CLI(t, "module", "delete", "life"); out != "wasmmodule/life deleted\n" {
		t.Errorf("%q", out)
	}
	api.Get(modulePath + "/life").Want(404)
	if out, err := g.TryCLI(t, "module", "delete", "life"); err == nil || !strings.Contains(out, `there is no module "life"`) {
		t.Errorf("again: %v\n%s", err, out)
	}
	if out := g.CLI(t, "module", "delete", "life", "--ignore-not-found"); out != "" {
		t.Errorf("%q", out)
	}
}

// downloadsOverHTTP shows the headers of contents.
func downloadsOverHTTP(t *testing.T, g *harness.Gateway, api *harness.API, second []byte) {
	t.Helper()
	r := api.Get(modulePath + "/life/content").Want(200)
	if r.Header.Get("Etag") != `"`+blob.Digest(second)+`"` || r.Header.Get("Content-Type") != "application/wasm" || string(r.Body) != string(second) {
		t.Errorf("%v", r.Header)
	}
	head := api.Do("HEAD", modulePath+"/life/content", nil).Want(200)
	if head.Header.Get("Etag") != r.Header.Get("Etag") || head.Header.Get("Content-Length") != strconv.Itoa(len(second)) || len(head.Body) > 0 {
		t.Errorf("HEAD: %v, %d bytes", head.Header, len(head.Body))
	}
	if known := api.Get(modulePath+"/life/content", "If-None-Match", r.Header.Get("Etag")).Want(304); len(known.Body) > 0 {
		t.Errorf("sent again: %d bytes", len(known.Body))
	}
	if out := g.CLI(t, "module", "get", "life", "/dev/stdout"); out != string(second) {
		t.Errorf("%d bytes to /dev/stdout, want %d", len(out), len(second))
	}
	api.Get(modulePath+"/life/content?digest="+blob.Digest([]byte("x"))).WantStatus(404, "NotFound", "wasmgate module history life")
}

// TestAPushIsTriedDry: a dry run says what an upload would be told, of a module that
// exists or not, and keeps nothing.
func TestAPushIsTriedDry(t *testing.T) {
	t.Parallel()
	harness.SkipExternal(t)
	g := harness.Start(t, harness.Options{})
	api, dir := g.API(t), t.TempDir()
	good, bad := filepath.Join(dir, "good.wasm"), filepath.Join(dir, "bad.wasm")
	first, second := plugintest.Build(t, plugintest.Releases), plugintest.Build(t, plugintest.Policy)
	for file, content := range map[string][]byte{good: first, bad: []byte("\x00asm\x01\x00\x00\x00")} {
		if err := os.WriteFile(file, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, when := range []string{"before it exists", "afterwards"} {
		if out := g.CLI(t, "module", "push", "dry", good, "--dry-run"); !strings.HasPrefix(out, "wasmmodule/dry can be uploaded (dry run): "+blob.Digest(first)) {
			t.Errorf("%s: %s", when, out)
		}
		if out, err := g.TryCLI(t, "module", "push", "dry", bad, "--dry-run"); err == nil || !strings.Contains(out, "upload refused") {
			t.Errorf("%s, bad bytes: %v\n%s", when, err, out)
		}
		if out, err := g.TryCLI(t, "module", "push", "Dry!", good, "--dry-run"); err == nil || !strings.Contains(out, "metadata.name") {
			t.Errorf("%s, a bad name: %v\n%s", when, err, out)
		}
		if when == "afterwards" {
			api.Get(modulePath+"/dry").Equal("status.digest", blob.Digest(second))
			break
		}
		api.Get(modulePath + "/dry").Want(404)
		pushModule(t, api, "dry", second)
	}
	if out := printed(t, g.CLI(t, "module", "push", "dry", good, "--dry-run", "-o", "json")); out.At("metadata.annotations").(map[string]any)["wasmgate.dev/content-digest"] != blob.Digest(first) {
		t.Errorf("printed %v", out)
	}
}

// TestCommandsTakeKubectlsFlags: context, server and credentials come from the command
// line first, then from the kubeconfig, as kubectl has it.
func TestCommandsTakeKubectlsFlags(t *testing.T) {
	harness.SkipExternal(t)
	g := harness.Start(t, harness.Options{})
	text, err := os.ReadFile(g.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	cfg := printed(t, string(text))
	ca := filepath.Join(t.TempDir(), "ca.pem")
	bundle, err := base64.StdEncoding.DecodeString(cfg.Str("clusters.0.cluster.certificate-authority-data"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(ca, bundle, 0o600); err != nil {
		t.Fatal(err)
	}
	token := cfg.Str("users.0.user.token")
	empty := filepath.Join(t.TempDir(), "none")
	t.Setenv("KUBECONFIG", "")
	t.Setenv("HOME", t.TempDir())
	for name, c := range map[string]struct {
		args []string
		want string // of the error; "" for success
	}{
		"no kubeconfig":      {[]string{"--server", g.URL, "--token", token, "--certificate-authority", ca}, ""},
		"short":              {[]string{"-s", g.URL, "--token", token, "--insecure-skip-tls-verify"}, ""},
		"a wrong token":      {[]string{"--kubeconfig", g.Kubeconfig, "--token", "wrong"}, "the credentials in --token"},
		"its own context":    {[]string{"--kubeconfig", g.Kubeconfig, "--context", "wasmgate"}, ""},
		"no such context":    {[]string{"--kubeconfig", g.Kubeconfig, "--context", "other"}, `context "other" does not exist`},
		"its own user":       {[]string{"--kubeconfig", g.Kubeconfig, "--user", "wasmgate-admin", "--cluster", "wasmgate"}, ""},
		"no such user":       {[]string{"--kubeconfig", g.Kubeconfig, "--user", "other"}, "other"},
		"a server elsewhere": {[]string{"--kubeconfig", g.Kubeconfig, "--server", "https://127.0.0.1:1"}, "which --server names"},
		"no credentials":     {[]string{"--server", g.URL, "--certificate-authority", ca}, "wants credentials: pass --kubeconfig, --token"},
		"no authority":       {[]string{"--server", g.URL, "--token", token}, "name its own with --certificate-authority"},
		"nothing":            {[]string{}, "no kubeconfig found"},
		"a file":             {[]string{"--kubeconfig", empty, "--server", g.URL}, "none"},
	} {
		out, err := run(t, g, append([]string{"module", "list"}, c.args...)...)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(out, c.want)) {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
	pushModule(t, g.API(t), "here", plugintest.Build(t, plugintest.Releases))
	for of, c := range map[string]struct{ args, want []string }{
		"contexts": {[]string{"module", "list", "--context", ""}, []string{"wasmgate"}},
		"modules":  {[]string{"module", "get", ""}, []string{"here"}},
		"formats":  {[]string{"module", "list", "-o", ""}, []string{"json", "yaml", "name", "wide"}},
	} {
		args := slices.Concat([]string{"__complete"}, c.args[:2], []string{"--kubeconfig", g.Kubeconfig}, c.args[2:])
		out, err := run(t, g, args...)
		if err != nil || !strings.HasPrefix(out, strings.Join(c.want, "\n")+"\n") {
			t.Errorf("completion of %s: %v\n%s", of, err, out)
		}
	}
}
