package guards_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/crd/builtin"
	"github.com/wasmgate/wasmgate/gateway/admitting/guards"
)

// world is a folder of guards and the file that names it.
type world struct {
	testing.TB
	dir, folder, config string
	guards.Config
	told []string
}

var kinds = sync.OnceValues(func() ([]*crd.Definition, error) { return builtin.All(builtin.Options{}) })

func newWorld(t testing.TB, plugin, kind, version string) *world {
	t.Helper()
	definitions, err := kinds()
	if err != nil {
		t.Fatal(err)
	}
	w := &world{TB: t, dir: t.TempDir()}
	w.folder, w.config = filepath.Join(w.dir, "folder"), filepath.Join(w.dir, "config.yaml")
	if err := os.Mkdir(w.folder, 0o700); err != nil {
		t.Fatal(err)
	}
	w.write(w.config, fmt.Sprintf("apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\nplugins:\n- {name: %s, path: plugin.yaml}\n", plugin))
	w.write(filepath.Join(w.dir, "plugin.yaml"), fmt.Sprintf("{apiVersion: %s, kind: %s, staticManifestsDir: %s}", version, kind, w.folder))
	w.Config = guards.Config{Path: w.config, Allowed: true, Admits: func(string) bool { return true }, Definitions: definitions, Told: func(_ string, _ *guards.State, err error) {
		w.told = append(w.told, fmt.Sprint(err))
	}}
	return w
}

func (w *world) write(file, text string) {
	w.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		w.Fatal(err)
	}
}

// module is a WasmModule whose content is a file.
const module = `{"apiVersion":"wasmgate.dev/v1","kind":"WasmModule","metadata":{"name":"a.static.k8s.io"},"spec":{"source":{"upload":{}}}}`

// The content of a module counts as the documents do, and what does not accept it keeps
// what was.
func TestModulesHaveTheirContentBeside(t *testing.T) {
	w := newWorld(t, guards.Modules, "WasmModuleConfiguration", "wasmgate.dev/v1")
	w.write(filepath.Join(w.folder, "a.yaml"), module)
	if _, err := guards.New(t.Context(), w.Config); !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	file := filepath.Join(w.folder, "a.static.k8s.io.wasm")
	w.write(file, "one")
	w.write(filepath.Join(w.folder, "0.txt"), "nothing")
	all, err := guards.New(t.Context(), w.Config)
	if err != nil {
		t.Fatal(err)
	}
	f := all.Folder(guards.Modules)
	was := f.Current()
	if got := was.Of("WasmModule"); len(got) != 1 || string(got[0].Content) != "one" {
		t.Fatal(got)
	}
	var seen []string
	if err := f.Accept(t.Context(), func(_ context.Context, s *guards.State) error {
		content := string(s.Of("WasmModule")[0].Content)
		seen = append(seen, content)
		if content == "bad" {
			return errors.New("it is bad")
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	look := func() (bool, error) { return f.Reread(t.Context()) }
	if news, err := look(); news || err != nil {
		t.Error("nothing has changed", news, err)
	}
	w.write(file, "bad")
	later := time.Now().Add(time.Hour) // as long as before: its time tells
	if err := os.Chtimes(file, later, later); err != nil {
		t.Fatal(err)
	}
	if news, err := look(); !news || err == nil || f.Current() != was || all.Check(t.Context()) == nil {
		t.Error(news, err)
	}
	if news, err := look(); news || err != nil {
		t.Error("it is told twice", news, err)
	}
	w.write(file, "three")
	if news, err := look(); !news || err != nil || f.Current().Hash == was.Hash || all.Check(t.Context()) != nil {
		t.Error(news, err)
	}
	if got := strings.Join(seen, " "); got != "one bad three" {
		t.Error(got)
	}
}

// What would have no effect is refused.
func TestConfigurationsThatCannotBeUsed(t *testing.T) {
	const begin = "apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\nplugins:\n"
	for config, want := range map[string]string{
		"kind: AdmissionConfiguration":                                                           "it is no AdmissionConfiguration",
		begin + "- {name: NodeRestriction}":                                                      "plugins[0]: NodeRestriction: nothing is configured of it here",
		begin + "- {name: PodSecurity, path: none.yaml}":                                         "plugins[0]: PodSecurity: open ",
		begin + "- {name: WasmModules}\n- {name: WasmModules}":                                   `plugins[1].name: Duplicate value: "WasmModules"`,
		begin + "- {name: WasmModules, configuration: {apiVersion: wasmgate.dev/v1, kind: Odd}}": "its configuration is a WasmModuleConfiguration of wasmgate.dev/v1",
		begin + "- {name: WasmModules, configuration: {apiVersion: wasmgate.dev/v1, kind: WasmModuleConfiguration, staticManifestsDir: here}}":                                   "must be an absolute file path",
		begin + "- {name: WasmModules, configuration: {apiVersion: wasmgate.dev/v1, kind: WasmModuleConfiguration, staticManifestsDir: /none/there}}":                            "unable to read",
		begin + "- {name: WasmModules, configuration: {apiVersion: wasmgate.dev/v1, kind: WasmModuleConfiguration, staticManifestsDir: /dev/null}}":                              "must be a directory",
		begin + "- {name: WasmModules, configuration: {apiVersion: wasmgate.dev/v1, kind: WasmModuleConfiguration, odd: 1}}":                                                     `unknown field "odd"`,
		begin + "- {name: MutatingAdmissionWebhook, configuration: {apiVersion: apiserver.config.k8s.io/v1, kind: WebhookAdmissionConfiguration, kubeConfigFile: a/kubeconfig}}": "kubeConfigFile: Invalid value: \"a/kubeconfig\": must be an absolute file path",
	} {
		w := newWorld(t, guards.Modules, "WasmModuleConfiguration", "wasmgate.dev/v1")
		w.write(w.config, config)
		if _, err := guards.New(t.Context(), w.Config); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", config, err, want)
		}
	}
}

// A plugin that reads its configuration itself gets it as it is, from the file or from
// one beside it.
func TestConfigurationsOfPluginsWithoutFolders(t *testing.T) {
	w := newWorld(t, "PodSecurity", "PodSecurityConfiguration", "pod-security.admission.config.k8s.io/v1")
	all, err := guards.New(t.Context(), w.Config)
	if err != nil {
		t.Fatal(err)
	}
	want, _ := os.ReadFile(filepath.Join(w.dir, "plugin.yaml"))
	if got := all.Configuration("PodSecurity"); string(got) != string(want) || len(all.All()) != 0 {
		t.Errorf("%s, and %d folders", got, len(all.All()))
	}
	if got := all.Configuration("LimitRanger"); got != nil {
		t.Errorf("%s", got)
	}
	w.Admits = func(plugin string) bool { return plugin != "PodSecurity" }
	if _, err := guards.New(t.Context(), w.Config); err == nil || err.Error() != "PodSecurity is configured and is off: --disable-admission-plugins" {
		t.Error(err)
	}
	w = newWorld(t, "EventRateLimit", "Configuration", "eventratelimit.admission.k8s.io/v1alpha1")
	w.Admits = func(plugin string) bool { return false }
	if _, err := guards.New(t.Context(), w.Config); err == nil || err.Error() != "EventRateLimit is configured and is off: --enable-admission-plugins" {
		t.Error(err)
	}
}

// Whatever is in a folder, reading it ends, and what is read has the names of guards.
func FuzzFolder(f *testing.F) {
	f.Add(module)
	f.Add(`{"apiVersion":"v1","kind":"List","items":[` + module + `,{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"p"}}]}`)
	f.Add("apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\nmetadata: {name: a.static.k8s.io}\nspec: {matchConstraints: {resourceRules: []}}\n---\n# nothing\n---\n[]")
	plugins := []*world{
		newWorld(f, guards.Modules, "WasmModuleConfiguration", "wasmgate.dev/v1"),
		newWorld(f, "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyConfiguration", "apiserver.config.k8s.io/v1"),
	}
	for _, w := range plugins {
		w.write(filepath.Join(w.folder, "a.static.k8s.io.wasm"), "x")
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, w := range plugins {
			if err := os.WriteFile(filepath.Join(w.folder, "a.yaml"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			all, err := guards.New(t.Context(), w.Config)
			if err != nil {
				continue
			}
			for _, folder := range all.All() {
				for _, o := range folder.Current().Objects {
					if !o.Parameter && !strings.HasSuffix(o.GetName(), guards.Suffix) {
						t.Errorf("%q", o.GetName())
					}
				}
			}
		}
	})
}
