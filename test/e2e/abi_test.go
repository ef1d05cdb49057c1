package e2e

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/test/harness"
)

// TestABIDoc_WP01 types the commands of docs/abi.md, which build the CronTab
// conversion in other languages than Go, and converts with what they make.
func TestABIDoc_WP01(t *testing.T) {
	harness.SkipExternal(t)
	text, err := os.ReadFile(filepath.Join(root, "docs", "abi.md"))
	if err != nil {
		t.Fatal(err)
	}
	blocks := indented(string(text))
	if len(blocks) != 2 {
		t.Fatalf("docs/abi.md has %d blocks of commands", len(blocks))
	}
	g := harness.Start(t, harness.Options{})
	for i, language := range []struct {
		name   string
		source []string
		env    func(*testing.T) []string
		typed  *strings.Replacer
	}{
		{"rust", []string{"Cargo.toml", "src/lib.rs"}, rust, strings.NewReplacer()},
		{"assemblyscript", []string{"crontab.ts", "package.json"}, assemblyScript, strings.NewReplacer("npm ci && ", "")},
	} {
		t.Run("WP-01 "+language.name, func(t *testing.T) {
			env, dir := language.env(t), t.TempDir()
			place := filepath.Join("examples", language.name)
			for _, name := range language.source {
				copyFile(t, filepath.Join(dir, place, name), filepath.Join(root, place, name))
			}
			if modules, err := filepath.Abs(filepath.Join(root, place, "node_modules")); err == nil {
				link(t, modules, filepath.Join(dir, place, "node_modules"))
			}
			link(t, g.Binary, filepath.Join(dir, "wasmgate"))
			env = append(env, "KUBECONFIG="+g.Kubeconfig)
			shell(t, dir, env, language.typed.Replace(strings.ReplaceAll(blocks[i], "wasmgate module", "./wasmgate module")))
			convertsCronTabs(t, g, "crontab-"+language.name)
		})
	}
}

// convertsCronTabs has a module convert objects with what JSON libraries get
// wrong, to another version and back.
func convertsCronTabs(t *testing.T, g *harness.Gateway, module string) {
	api, group := g.API(t), strings.TrimPrefix(module, "crontab-")+".example.com"
	text, err := os.ReadFile(filepath.Join(root, "examples", "crontab", "crd-v1.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	crd := strings.NewReplacer("example.com", group, "wasm://crontab", "wasm://"+module,
		"openAPIV3Schema:\n", "openAPIV3Schema:\n        x-kubernetes-preserve-unknown-fields: true\n").Replace(string(text))
	api.Post(crdPath, crd, "Content-Type", "application/yaml").Want(201)
	at := func(version string) string {
		return "/apis/" + group + "/" + version + "/namespaces/default/crontabs"
	}
	api.Eventually(at("v1beta1"), func(r *harness.Reply) bool { return r.Code == 200 })
	rest := `"big":9007199254740993,"deep":{"list":[null,true,-1.5,{"":[]}],"text":"\u0001 \"\\\" / \n ☂ 😀"}`
	body := func(version, fields string) string {
		return fmt.Sprintf(`{"apiVersion":"%s/%s","kind":"CronTab","metadata":{"name":"a","annotations":{"json":"{\"a\":\"\\\"b\\\\\"}"}},%s,%s}`, group, version, fields, rest)
	}
	created := api.Post(at("v1beta1"), body("v1beta1", `"hostPort":"[::1]:80"`)).Want(201)
	for version, fields := range map[string]string{"v1beta1": `"hostPort":"[::1]:80"`, "v1": `"host":"[::1]","port":"80"`} {
		want, got := decoded(t, []byte(body(version, fields))), decoded(t, api.Get(at(version)+"/a").Want(200).Body)
		want["metadata"] = decoded(t, created.Body)["metadata"]
		if !reflect.DeepEqual(got, want) {
			t.Errorf("at %s it is\n%v\nwant\n%v", version, got, want)
		}
	}
	api.Post(at("v1beta1"), strings.Replace(body("v1beta1", `"hostPort":"none"`), `"name":"a"`, `"name":"b"`, 1)).
		WantStatus(500, "", "hostPort could not be parsed into a separate host and port")
}

// decoded decodes JSON, and numbers as they are written.
func decoded(t *testing.T, text []byte) (o map[string]any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&o); err != nil {
		t.Fatal(err)
	}
	return o
}

// rust is an environment in which cargo builds for WebAssembly.
func rust(t *testing.T) []string {
	t.Helper()
	for _, path := range []string{os.Getenv("PATH"), "/usr/bin" + string(os.PathListSeparator) + os.Getenv("PATH")} {
		cmd := exec.Command("sh", "-c", `command -v cargo >/dev/null && rustc --print target-libdir --target wasm32-unknown-unknown`)
		cmd.Env = append(os.Environ(), "PATH="+path)
		out, err := cmd.Output()
		if found, _ := filepath.Glob(filepath.Join(strings.TrimSpace(string(out)), "libcore-*")); err != nil || len(found) == 0 {
			continue
		}
		env := append(os.Environ(), "PATH="+path)
		const debian = "/usr/share/cargo/registry"
		if crates, _ := filepath.Glob(debian + "/serde_json-1.*"); len(crates) > 0 { // Debian's, without network
			home := t.TempDir()
			config := "[source.crates-io]\nreplace-with = \"debian\"\n[source.debian]\ndirectory = \"" + debian + "\"\n"
			if err := os.WriteFile(filepath.Join(home, "config.toml"), []byte(config), 0o600); err != nil {
				t.Fatal(err)
			}
			env = append(env, "CARGO_HOME="+home)
		}
		return env
	}
	absent(t, "Rust for WebAssembly", "apt-get install cargo libstd-rust-dev-wasm32 lld librust-serde-json-dev")
	return nil
}

// assemblyScript is an environment in which its compiler is installed.
func assemblyScript(t *testing.T) []string {
	t.Helper()
	if _, err := os.Stat(filepath.Join(root, "examples", "assemblyscript", "node_modules", "json-as")); err != nil {
		absent(t, "AssemblyScript", "(cd examples/assemblyscript && npm ci)")
	}
	return os.Environ()
}

// absent ends the test of a language whose compiler is not installed.
func absent(t *testing.T, what, install string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf("%s is absent, and CI must have it; install it with: %s", what, install)
	}
	t.Skipf("%s is absent; install it with: %s", what, install)
}

func copyFile(t *testing.T, to, from string) {
	t.Helper()
	data, err := os.ReadFile(from)
	if err := cmp.Or(err, os.MkdirAll(filepath.Dir(to), 0o700), os.WriteFile(to, data, 0o600)); err != nil {
		t.Fatal(err)
	}
}

func link(t *testing.T, target, at string) {
	t.Helper()
	if err := os.Symlink(target, at); err != nil {
		t.Fatal(err)
	}
}
