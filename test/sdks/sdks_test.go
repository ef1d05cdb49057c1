package sdks

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/wasmgate/wasmgate/plugins"
	"github.com/wasmgate/wasmgate/plugins/plugintest"
	"github.com/wasmgate/wasmgate/plugins/wasm"
)

var write = flag.Bool("cases.write", false, "write what the module in Go replies into the cases")

// hooks are asked by the kind of the request.
var hooks = map[string]plugins.Hook{"ConversionReview": plugins.Convert, "AdmissionReview": plugins.Admit, "VersionPriorityReview": plugins.Prioritize}

func TestTheModuleInGoAnswersTheCases_WP01(t *testing.T) {
	answers(t, plugintest.Build(t, "github.com/wasmgate/wasmgate/test/sdks/golang"), *write)
}

func TestTheModuleInRustAnswersTheCases_WP01(t *testing.T) {
	answers(t, plugintest.BuildRust(t, "test/sdks/rust"), false)
}

func TestTheModuleInAssemblyScriptAnswersTheCases_WP01(t *testing.T) {
	answers(t, plugintest.BuildAssemblyScript(t, "test/sdks/assemblyscript"), false)
}

// answers compares the replies of a module with those of the cases, and what it says of
// itself with describe.json. In each language it is configured with config.json.
func answers(t *testing.T, module []byte, write bool) {
	e, err := wasm.NewEngine(t.Context(), wasm.Config{Log: func(_, line string) { t.Log(line) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	m := loaded(t, e, module, read(t, "config.json"))
	description, err := m.Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	same(t, "describe.json", description, write)
	requests, err := filepath.Glob("cases/*.request.json")
	if err != nil || len(requests) == 0 {
		t.Fatalf("there are no cases, %v", err)
	}
	for _, name := range requests {
		name = strings.TrimSuffix(filepath.Base(name), ".request.json")
		t.Run(name, func(t *testing.T) {
			i, err := m.Instantiate(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer i.Close()
			request := read(t, name+".request.json")
			var of struct{ Kind string }
			if err := json.Unmarshal(request, &of); err != nil {
				t.Fatal(err)
			}
			reply, err := i.CallSeeing(t.Context(), hooks[of.Kind], request, 1, find)
			if err != nil {
				t.Fatal(err)
			}
			same(t, name+".reply.json", reply, write)
		})
	}
	t.Run("broken requests", func(t *testing.T) { broken(t, m) })
	t.Run("a configuration is refused", func(t *testing.T) {
		_, err := loaded(t, e, module, []byte(`{"suffix":"refused"}`)).Instantiate(t.Context())
		if err == nil || !strings.Contains(err.Error(), "such a suffix is refused") {
			t.Error(err)
		}
	})
}

func loaded(t *testing.T, e *wasm.Engine, module, config []byte) *wasm.Module {
	t.Helper()
	m, err := e.Load(t.Context(), wasm.Source{Name: "sdks", Bytes: module, Config: config, Limits: plugins.Limits{Timeout: 20 * time.Second}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return m
}

// find stands for the cache of a gateway.
func find(_ context.Context, o plugins.Object) ([]byte, error) {
	switch o.String() {
	case "/configmaps/policies/red":
		return []byte(`{"kind":"ConfigMap","data":{"lead":"Ann \u2602"}}`), nil
	case "/configmaps/policies/secret":
		return nil, errors.New("it was not granted")
	}
	return nil, plugins.ErrNoObject
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("cases", name))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// same compares JSON with that of a file, numbers as they are written.
func same(t *testing.T, name string, got []byte, write bool) {
	t.Helper()
	is := decoded(t, got)
	if write {
		text, err := json.MarshalIndent(is, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join("cases", name), append(text, '\n'), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if want := decoded(t, read(t, name)); !reflect.DeepEqual(is, want) {
		t.Errorf("%s: got\n%v\nwant\n%v", name, is, want)
	}
}

// decoded decodes JSON. Of a patch it decodes what is in it.
func decoded(t *testing.T, text []byte) map[string]any {
	t.Helper()
	var out map[string]any
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&out); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	response, _ := out["response"].(map[string]any)
	encoded, ok := response["patch"].(string)
	if !ok {
		return out
	}
	patch, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		t.Fatal(err)
	}
	var operations any
	d = json.NewDecoder(bytes.NewReader(patch))
	d.UseNumber()
	if err := d.Decode(&operations); err != nil {
		t.Fatalf("%v\n%s", err, patch)
	}
	response["patch"] = operations
	return out
}

// The SDK for Rust and the example have tests of their own, which run on this machine.
func TestTheTestsInRust_WP01(t *testing.T) {
	env, dir := plugintest.Cargo(t), t.TempDir()
	plugintest.Sources(t, dir, "sdk/rust", "examples/rust")
	for _, folder := range []string{"sdk/rust", "examples/rust"} {
		cmd := exec.CommandContext(t.Context(), "sh", "-c", `exec cargo test --target-dir "$0"`, filepath.Join(dir, "target"))
		cmd.Dir, cmd.Env = filepath.Join(dir, folder), env
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("cargo test in %s: %v\n%s", folder, err, out)
		}
	}
}

// The SDK for AssemblyScript has checks, which are a module: it takes its configuration if
// all of them hold.
func TestTheChecksInAssemblyScript_WP01(t *testing.T) {
	module := plugintest.BuildAssemblyScript(t, "sdk/assemblyscript/tests")
	e, err := wasm.NewEngine(t.Context(), wasm.Config{Log: func(_, line string) { t.Log(line) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	i, err := loaded(t, e, module, []byte(`{}`)).Instantiate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	i.Close()
}
